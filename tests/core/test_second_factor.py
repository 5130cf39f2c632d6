"""Where the operator asks for it, experts and leads set up an authenticator before anything else."""

import re
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from core.authentication import issue_token
from core.models import Event, User
from core.refusals import Conflict, Invalid, NotAllowed
from core.workflow import Scope
from leading import actions
from tests.factories import make_annotator, make_expert, make_lead
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db
LOGIN, SET_UP = "/account/login/", "/account/2fa/totp/activate/"
PASSWORD = "a long pass phrase"


@pytest.fixture(autouse=True)
def _required(settings: Any) -> None:
    settings.LBP_REQUIRE_TOTP = True


def code_of(secret: str) -> str:
    """What an authenticator app shows now."""
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


def by_the_page(person: User) -> Client:
    client = Client()
    client.post(LOGIN, {"login": person.username, "password": PASSWORD})
    return client


def set_up_page(client: Client) -> str:
    """Who sets one up types the password once more: a window left open must not give the account away."""
    asked = client.get(SET_UP).headers["Location"]
    assert "Set up an authenticator app here" in client.get(asked).content.decode()
    assert client.post(asked, {"password": PASSWORD, "next": SET_UP}).headers["Location"] == SET_UP
    return client.get(SET_UP).content.decode()


@pytest.mark.parametrize("make", [make_expert, make_lead])
def test_a_person_of_that_role_is_led_to_set_it_up_before_any_page(make: Any) -> None:
    client = by_the_page(make())
    for path in ("/", "/guidelines/", "/preferences/", "/documents/"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["Location"]) == (302, SET_UP)
    fragment = client.get("/notifications/", headers={"HX-Request": "true"})
    assert (fragment.status_code, fragment.headers["HX-Redirect"]) == (204, SET_UP)
    assert "Set up an authenticator app here" in set_up_page(client)


def test_after_setting_it_up_everything_opens_and_recovery_codes_are_shown() -> None:
    expert = make_expert()
    client = by_the_page(expert)
    secret = re.search(r'value="([A-Z2-7]{32})"', set_up_page(client))
    assert secret is not None
    answer = client.post(SET_UP, {"code": code_of(secret[1])})
    assert "recovery-codes" in answer.headers["Location"]
    codes = Authenticator.objects.get(user=expert, type=Authenticator.Type.RECOVERY_CODES).wrap().get_unused_codes()
    shown = client.get(answer.headers["Location"]).content.decode()
    assert [code for code in codes if code not in shown] == []
    assert client.get("/").status_code == 200

    again = by_the_page(expert)
    assert "_auth_user_id" not in again.session  # the password alone signs nobody in
    again.post("/account/2fa/authenticate/", {"code": codes[0]})
    assert again.get("/").status_code == 200
    third = by_the_page(expert)
    third.post("/account/2fa/authenticate/", {"code": codes[0]})
    assert "_auth_user_id" not in third.session  # each recovery code opens once


def test_annotators_may_have_one_and_need_none() -> None:
    assert by_the_page(make_annotator()).get("/").status_code == 200


def test_nobody_needs_one_where_the_operator_does_not_ask(settings: Any) -> None:
    settings.LBP_REQUIRE_TOTP = False
    assert by_the_page(make_lead()).get("/").status_code == 200


def test_signing_out_and_the_languages_stay_open() -> None:
    client = by_the_page(make_lead())
    assert client.post(reverse("core:set_language"), {"language": "zh-hans", "next": SET_UP}).status_code == 302
    assert "验证器" in client.get(SET_UP, follow=True).content.decode()
    client.post("/account/logout/")
    assert "_auth_user_id" not in client.session


def test_a_session_at_the_api_is_refused_with_a_problem_and_a_token_goes_on() -> None:
    lead = make_lead()
    client = by_the_page(lead)
    refused = client.get("/api/v1/people/")
    assert (refused.status_code, refused.json()["rule"]) == (403, "second_factor_required")
    assert refused.headers["Content-Type"].startswith("application/problem+json")
    _token, text = issue_token(person=lead, name="a program", scope=Scope.READ, days=1, by=lead)
    assert Client().get("/api/v1/people/", headers={"Authorization": f"Bearer {text}"}).status_code == 200
    # A word that is no token does not make the session good.
    for sent in ("Bearer nonsense", "Bearer", "Basic x"):
        assert client.get("/api/v1/people/", headers={"Authorization": sent}).status_code in {401, 403}


def test_a_lead_removes_a_lost_authenticator_and_the_trail_says_so() -> None:
    expert, lead = make_expert(), make_lead()
    TOTP.activate(expert, "JBSWY3DPEHPK3PXP")
    TOTP.activate(lead, "JBSWY3DPEHPK3PXP")
    at_work, client = client_of(expert), client_of(lead)
    assert at_work.get("/").status_code == 200
    answer = client.post(reverse("leading:person_authenticator", args=[expert.pk]))
    assert answer.status_code == 302
    assert at_work.get("/").headers["Location"].startswith(LOGIN)
    assert not Authenticator.objects.filter(user=expert).exists()
    event = Event.objects.get(action="core.remove_authenticator")
    assert (event.by, event.subject_id) == (lead, expert.pk)
    assert by_the_page(expert).get("/").headers["Location"] == SET_UP
    with pytest.raises(Conflict):
        actions.remove_authenticator(person=expert, by=lead)
    with pytest.raises(Invalid):
        actions.remove_authenticator(person=lead, by=lead)
    with pytest.raises(NotAllowed):
        actions.remove_authenticator(person=lead, by=expert)


def test_it_is_removed_by_the_api_and_by_the_operator_too() -> None:
    expert, lead, out = make_expert(), make_lead(), StringIO()
    program = APIClient()
    program.force_authenticate(lead)
    TOTP.activate(expert, "JBSWY3DPEHPK3PXP")
    _token, text = issue_token(person=lead, name="a program", scope=Scope.WRITE, days=1, by=lead)
    answer = Client().post(
        f"/api/v1/people/{expert.pk}/remove_authenticator/", headers={"Authorization": f"Bearer {text}"}
    )
    assert answer.status_code == 200
    TOTP.activate(lead, "JBSWY3DPEHPK3PXP")
    call_command("remove_authenticator", lead.username, stdout=out)
    assert not Authenticator.objects.filter(user=lead).exists()
    with pytest.raises(CommandError):
        call_command("remove_authenticator", lead.username)
    with pytest.raises(CommandError, match="nobody"):
        call_command("remove_authenticator", "no-one")


def test_a_reset_link_does_not_get_round_the_second_factor() -> None:
    expert, lead = make_expert("mei"), make_lead()
    TOTP.activate(expert, "JBSWY3DPEHPK3PXP")
    _link, token = actions.make_reset_link(person=expert, by=lead)
    given = {"password": "another pass phrase", "again": "another pass phrase"}
    client = Client()
    client.post(reverse("leading:reset_open", args=[token]), given)
    client.post(LOGIN, {"login": "mei", "password": "another pass phrase"})
    assert "_auth_user_id" not in client.session
