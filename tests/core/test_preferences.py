"""A person's own settings, tokens, and the ways in."""

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from core.models import ApiToken, IdempotencyKey, User
from tests.factories import make_annotator, make_person

pytestmark = pytest.mark.django_db
GOOD = {"language": "zh-hans", "theme": "dark", "time_zone": "Asia/Shanghai", "shortcuts": ""}


def test_preferences_are_saved(page: Client, annotator: User) -> None:
    answer = page.post(reverse("core:preferences"), GOOD)
    annotator.refresh_from_db()
    assert answer.status_code == 302
    saved = (annotator.language, annotator.theme, annotator.time_zone, annotator.shortcuts)
    assert saved == ("zh-hans", "dark", "Asia/Shanghai", False)


@pytest.mark.parametrize(("field", "value"), [("language", "xx"), ("theme", "pink"), ("time_zone", "Nowhere/Atlantis")])
def test_a_wrong_preference_is_told_at_its_field(page: Client, annotator: User, field: str, value: str) -> None:
    answer = page.post(reverse("core:preferences"), {**GOOD, field: value})
    annotator.refresh_from_db()
    assert (answer.status_code, annotator.theme) == (400, "")
    assert list(answer.context["form"].errors) == [field]
    assert 'aria-invalid="true"' in answer.content.decode()


def test_preferences_change_no_role(page: Client, annotator: User) -> None:
    page.post(reverse("core:preferences"), {**GOOD, "role": "lead", "is_superuser": "on"})
    annotator.refresh_from_db()
    assert (annotator.role, annotator.is_superuser) == ("annotator", False)


# Tokens ------------------------------------------------------------------------------------------------
FORM = {"token-name": "my script", "token-scope": "read", "token-days": "30"}


def test_a_token_is_shown_once(page: Client) -> None:
    answer = page.post(reverse("core:token_issue"), FORM)
    text = answer.context["issued_text"]
    assert (answer.status_code, text in answer.content.decode()) == (201, True)
    later = page.get(reverse("core:preferences")).content.decode()
    assert "my script" in later
    assert text not in later
    assert not IdempotencyKey.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("name", ""), ("scope", "admin"), ("days", "0"), ("days", "4000")])
def test_a_wrong_token_is_told_at_its_field_and_the_name_stays(page: Client, field: str, value: str) -> None:
    answer = page.post(reverse("core:token_issue"), {**FORM, f"token-{field}": value})
    assert (answer.status_code, ApiToken.objects.count()) == (400, 0)
    assert list(answer.context["token_form"].errors) == [field]
    if field != "name":
        assert "my script" in answer.content.decode()


def test_revoking_ends_a_token(page: Client, annotator: User) -> None:
    page.post(reverse("core:token_issue"), FORM)
    token = ApiToken.objects.get()
    page.post(reverse("core:token_revoke", args=[token.pk]))
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_nobody_sees_or_revokes_anothers_token(page: Client) -> None:
    other = Client()
    other.force_login(make_annotator())
    other.post(reverse("core:token_issue"), FORM)
    token = ApiToken.objects.get()
    assert page.post(reverse("core:token_revoke", args=[token.pk])).status_code == 404
    assert "my script" not in page.get(reverse("core:preferences")).content.decode()


# Ways in -------------------------------------------------------------------------------------------------
LOGIN = "/account/login/"


def sign_in(client: Client, login: str, password: str = "a long pass phrase", **more: str) -> object:
    return client.post(LOGIN, {"login": login, "password": password, **more})


@pytest.mark.parametrize("login", ["ada", "ada@example.org", "Ada@Example.org"])
def test_one_signs_in_by_user_name_or_email(client: Client, login: str) -> None:
    make_person(name="ada")
    sign_in(client, login)
    assert "_auth_user_id" in client.session


def test_a_wrong_password_keeps_the_name_and_says_so(client: Client) -> None:
    make_person(name="ada")
    answer = client.post(LOGIN, {"login": "ada", "password": "wrong"})
    html = answer.content.decode()
    assert "_auth_user_id" not in client.session
    assert 'value="ada"' in html
    assert 'role="alert"' in html
    assert "wrong" not in html.replace("went wrong", "")


@pytest.mark.parametrize(
    ("target", "location"), [("/guidelines/", "/guidelines/"), ("https://evil.example/", "/"), ("//evil.example", "/")]
)
def test_after_signing_in_one_is_where_one_wanted_to_be_on_this_site(
    client: Client, target: str, location: str
) -> None:
    make_person(name="ada")
    answer = client.post(LOGIN, {"login": "ada", "password": "a long pass phrase", "next": target})
    assert answer.headers["Location"] == location


def test_guessing_passwords_is_slowed(client: Client, settings: object) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/5m/key"}  # type: ignore[attr-defined]
    make_person(name="ada")
    for _ in range(4):
        client.post(LOGIN, {"login": "ada", "password": "wrong"})
    client.post(LOGIN, {"login": "ada", "password": "a long pass phrase"})
    assert "_auth_user_id" not in client.session


def test_there_is_no_open_sign_up_and_the_page_says_how_to_come_in(client: Client) -> None:
    answer = client.get("/account/signup/")
    assert "ask a lead" in answer.content.decode().lower()
    client.post(
        "/account/signup/",
        {"username": "eve", "email": "eve@example.org", "password1": "x" * 14, "password2": "x" * 14},
    )
    assert not User.objects.filter(username="eve").exists()


def test_a_forgotten_password_is_reset_by_mail(client: Client) -> None:
    make_person(name="ada")
    client.post("/account/password/reset/", {"email": "ada@example.org"})
    assert "/account/password/reset/key/" in mail.outbox[0].body


def test_whether_an_address_is_known_is_not_told(client: Client) -> None:
    make_person(name="ada")
    known = client.post("/account/password/reset/", {"email": "ada@example.org"})
    unknown = client.post("/account/password/reset/", {"email": "nobody@example.org"})
    assert (known.status_code, known.headers["Location"]) == (unknown.status_code, unknown.headers["Location"])


def test_signing_out_is_a_post(page: Client) -> None:
    page.get("/account/logout/")
    assert "_auth_user_id" in page.session
    page.post("/account/logout/")
    assert "_auth_user_id" not in page.session


def test_the_demo_password_is_announced_in_the_demo_only(client: Client, settings: object) -> None:
    settings.LBP_DEMO_PASSWORD = "longbench-demo"  # type: ignore[attr-defined]
    assert "longbench-demo" not in client.get(LOGIN).content.decode()
    settings.LBP_DEMO = True  # type: ignore[attr-defined]
    html = client.get(LOGIN).content.decode()
    assert "longbench-demo" in html
    assert "annotator6" in html


PAGES = ["password/change/", "email/", "2fa/", "logout/", "password/reset/", "2fa/totp/activate/", "reauthenticate/"]


@pytest.mark.parametrize("path", PAGES)
def test_account_pages_wear_the_products_look(page: Client, path: str) -> None:
    page.post(LOGIN, {})
    answer = page.get(f"/account/{path}", follow=True)
    html = answer.content.decode()
    assert answer.status_code == 200
    assert 'class="card"' in html
    assert "css/tokens.css" in html
