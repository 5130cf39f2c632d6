"""The shell: headers, language, lost log-ins, refusals, errors."""

import json
from typing import Any
from unittest.mock import patch

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import translation

from core.context_processors import NAVIGATION, navigation_of
from core.middleware import POLICY, zone_of
from core.models import User
from core.workflow import Role
from tests.factories import make_annotator, make_expert, make_lead, make_person

pytestmark = [pytest.mark.urls("tests.core.urls"), pytest.mark.django_db]
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://testserver/samples/1/verify/?x=1"}
JSON = {"HX-Request": "true", "Accept": "application/json"}


# Headers -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/guidelines/", 200),
        ("/healthz", 200),
        ("/nothing", 404),
        ("/refuse/rule/", 422),
        ("/crash/", 500),
        ("/api/v1/things/", 200),
        ("/static/css/nothing.css", 404),
        ("/account/login/", 302),
    ],
)
def test_every_response_has_the_strict_policy(page: Client, effects: list[str], path: str, status: int) -> None:
    answer = page.get(path)
    assert answer.status_code == status
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/guidelines/", "/preferences/", "/nothing", "/account/password/change/", "/account/2fa/"]
)
def test_no_page_holds_a_script_a_style_or_a_handler_of_its_own(page: Client, path: str) -> None:
    html = page.get(path).content.decode()
    assert "<style" not in html
    assert " style=" not in html
    assert " onclick=" not in html
    assert all(tag.startswith(" src=") for tag in html.split("<script")[1:])


def test_pages_of_signed_in_people_are_not_stored(page: Client) -> None:
    assert "no-store" in page.get("/preferences/").headers["Cache-Control"]


# Language and zone ---------------------------------------------------------------------------------------
def test_the_language_a_person_chose_wins_over_the_browsers(page: Client, annotator: User) -> None:
    asked = {"Accept-Language": "en"}
    assert page.get("/guidelines/", headers=asked).headers["Content-Language"] == "en"
    User.objects.filter(pk=annotator.pk).update(language="zh-hans")
    answer = page.get("/guidelines/", headers=asked)
    assert answer.headers["Content-Language"] == "zh-hans"
    assert '<html lang="zh-Hans"' in answer.content.decode()


def test_one_persons_language_does_not_leak_into_the_next_request(page: Client, annotator: User) -> None:
    User.objects.filter(pk=annotator.pk).update(language="zh-hans")
    page.get("/guidelines/")
    assert Client().get("/account/login/").headers["Content-Language"] == "en"


def test_the_language_switch_keeps_the_choice_and_stays_on_the_page(page: Client, annotator: User) -> None:
    answer = page.post(reverse("core:set_language"), {"language": "zh-hans", "next": "/guidelines/?a=1"})
    annotator.refresh_from_db()
    assert (answer.headers["Location"], annotator.language) == ("/guidelines/?a=1", "zh-hans")


def test_before_signing_in_the_browser_remembers_language_and_theme(client: Client) -> None:
    client.post(reverse("core:set_language"), {"language": "zh-hans", "next": "/account/login/"})
    client.post(reverse("core:set_theme"), {"theme": "dark", "next": "/account/login/"})
    html = client.get("/account/login/").content.decode()
    assert '<html lang="zh-Hans" data-theme="dark"' in html


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
@pytest.mark.parametrize("name", ["set_language", "set_theme"])
def test_the_switches_lead_to_no_other_site(page: Client, name: str, target: str) -> None:
    answer = page.post(reverse(f"core:{name}"), {"language": "en", "theme": "dark", "next": target})
    assert answer.headers["Location"] == "/"


def test_an_unknown_language_or_theme_changes_nothing(page: Client, annotator: User) -> None:
    page.post(reverse("core:set_language"), {"language": "xx"})
    page.post(reverse("core:set_theme"), {"theme": "pink"})
    annotator.refresh_from_db()
    assert (annotator.language, annotator.theme) == ("", "")


def test_times_are_shown_in_the_persons_zone(page: Client, annotator: User) -> None:
    annotator.time_zone = "Asia/Shanghai"
    request: Any = type("Request", (), {"user": annotator})()
    assert str(zone_of(request)) == "Asia/Shanghai"
    annotator.time_zone = "Nowhere/Atlantis"
    assert str(zone_of(request)) == "UTC"


# A lost log-in ----------------------------------------------------------------------------------------------
def test_a_fragment_without_a_log_in_leads_the_page_to_the_log_in_and_back(client: Client) -> None:
    answer = client.get("/preferences/", headers=HTMX)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["HX-Redirect"] == "/account/login/?next=/samples/1/verify/%3Fx%3D1"


def test_a_page_without_a_log_in_is_led_there_as_usual(client: Client) -> None:
    assert client.get("/preferences/").headers["Location"] == "/account/login/?next=/preferences/"


@pytest.mark.parametrize(
    ("came_from", "back"),
    [
        ("http://testserver/documents/1/?version=2", "http%3A//testserver/documents/1/%3Fversion%3D2"),
        ("https://elsewhere.example/documents/1/", "/"),
        ("", "/"),
    ],
)
def test_a_form_sent_after_the_log_in_expired_leads_back_to_its_page(client: Client, came_from: str, back: str) -> None:
    answer = client.post("/documents/versions/1/decide/", headers={"Referer": came_from})
    assert answer.headers["Location"] == f"/account/login/?next={back}"


def test_the_way_back_is_never_another_site(client: Client) -> None:
    answer = client.get("/preferences/", headers={**HTMX, "HX-Current-URL": "https://evil.example/x"})
    assert answer.headers["HX-Redirect"] == "/account/login/?next=/"


# Refusals -----------------------------------------------------------------------------------------------------
def test_a_refusal_is_a_page_with_message_rule_and_way_back(page: Client, effects: list[str]) -> None:
    answer = page.post(
        "/refuse/rule/", {"text": "a long typed reason"}, headers={"Referer": "http://testserver/samples/1/"}
    )
    html = answer.content.decode()
    assert answer.status_code == 422
    for part in (
        "Tick all seven items.",
        "checklist_incomplete",
        'href="http://testserver/samples/1/"',
        "a long typed reason",
    ):
        assert part in html


def test_a_refusal_of_a_fragment_goes_to_the_message_bar(page: Client, effects: list[str]) -> None:
    answer = page.post("/refuse/conflict/", headers=HTMX)
    assert (answer.status_code, answer.headers["HX-Retarget"], answer.headers["HX-Reswap"]) == (
        409,
        "#refusal",
        "innerHTML",
    )
    assert "Somebody was faster." in answer.content.decode()
    assert "<html" not in answer.content.decode()


def test_a_script_gets_the_refusal_as_json_with_the_errors_by_field(page: Client, effects: list[str]) -> None:
    conflict = page.post("/refuse/conflict/", headers=JSON).json()
    assert conflict == {"status": 409, "rule": "stale_version", "detail": "Somebody was faster.", "state": "in_audit"}
    invalid = page.post("/refuse/invalid/", headers=JSON).json()
    assert invalid["errors"] == {"question": ["Write a question."], "answer": ["Too short.", "Not in the document."]}


def test_a_refusal_speaks_the_persons_language(page: Client, annotator: User, effects: list[str]) -> None:
    User.objects.filter(pk=annotator.pk).update(language="zh-hans")
    assert "未执行" in page.post("/refuse/not_allowed/").content.decode()


def test_typed_html_comes_back_as_text_and_passwords_do_not_come_back(page: Client, effects: list[str]) -> None:
    typed = {"text": "<img src=x onerror=alert(1)> and more", "new_password": "my secret pass phrase"}
    html = page.post("/refuse/rule/", typed).content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt; and more" in html
    assert "my secret" not in html


def test_a_message_travels_with_a_fragment_and_does_not_wait_for_the_next_page(
    page: Client, effects: list[str]
) -> None:
    answer = page.post("/act/", {"text": "one"}, headers=HTMX)
    said = json.loads(answer.headers["HX-Trigger"])["lbp:messages"]["messages"]
    assert said == [{"text": "Saved.", "state": "pass"}]
    assert "Saved." not in page.get("/guidelines/").content.decode()


def test_a_message_survives_a_redirect(page: Client, effects: list[str]) -> None:
    page.post("/act/", {"text": "one"})
    assert "Saved." in page.get("/guidelines/").content.decode()


# A stale page ---------------------------------------------------------------------------------------------------
@pytest.fixture
def strict(annotator: User) -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(annotator)
    return client


def test_a_stale_form_is_refused_and_the_typed_text_comes_back(strict: Client, effects: list[str]) -> None:
    answer = strict.post("/act/", {"text": "what I had written"})
    assert (answer.status_code, effects) == (403, [])
    assert "what I had written" in answer.content.decode()


def test_a_stale_fragment_is_refused_in_place_and_gets_the_token_of_now(
    strict: Client, annotator: User, effects: list[str]
) -> None:
    answer = strict.post("/act/", {"text": "what I had written"}, headers=HTMX)
    assert (answer.status_code, answer.headers["HX-Retarget"], effects) == (403, "#refusal", [])
    fresh = json.loads(answer.headers["HX-Trigger"])["lbp:token"]
    assert fresh["person"] == str(annotator.pk)
    again = strict.post("/act/", {"text": "one"}, headers={**HTMX, "X-CSRFToken": fresh["token"]})
    assert (again.status_code, effects) == (200, ["one"])


# Errors -----------------------------------------------------------------------------------------------------------
def test_the_500_page_needs_no_database_and_not_who_asks(page: Client, effects: list[str]) -> None:
    page.get("/preferences/")
    with patch("core.models.User.objects.get", side_effect=AssertionError("the database is gone")):
        answer = page.get("/crash/")
    assert answer.status_code == 500
    assert "Something went wrong on the server" in answer.content.decode()


@pytest.mark.parametrize(("path", "status"), [("/nothing", 404), ("/crash/", 500)])
def test_an_error_of_a_fragment_is_a_fragment(page: Client, effects: list[str], path: str, status: int) -> None:
    answer = page.get(path, headers=HTMX)
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (status, "#refusal")
    assert "<html" not in answer.content.decode()


@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 500])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_each_error_page_stands_alone_in_both_languages(status: int, language: str) -> None:
    with translation.override(language):
        html = render_to_string(f"errors/{status}.html")
    heading = html.split("<h1>")[1].split("</h1>")[0]
    assert heading.isascii() == (language == "en")


def test_the_address_of_a_form_says_so_to_who_opens_it(page: Client) -> None:
    answer = page.get(reverse("core:set_theme"))
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "This address takes a form" in answer.content.decode()


# Navigation -------------------------------------------------------------------------------------------------------
def test_the_navigation_shows_a_role_what_is_theirs() -> None:
    def sections(role: str) -> set[str]:
        return {entry.section for entry in NAVIGATION if role in entry.roles}

    common = {"work", "documents", "samples", "reviews", "guidelines"}
    assert sections(Role.ANNOTATOR) == common
    assert sections(Role.EXPERT) == common | {"quality"}
    assert sections(Role.LEAD) == common | {"quality", "runs", "models", "progress", "releases", "people", "trail"}


def test_a_page_that_does_not_exist_is_not_offered(annotator: User) -> None:
    assert all(entry.url for entry in navigation_of(annotator))
    assert [entry.section for entry in navigation_of(None)] == []


@pytest.mark.parametrize("make", [make_annotator, make_expert, make_lead])
def test_the_bar_marks_where_one_is(client: Client, make: Any) -> None:
    client.force_login(make())
    html = client.get("/guidelines/").content.decode()
    assert html.count('aria-current="page"') == 1
    assert '<a href="/guidelines/" aria-current="page">' in html


def test_shortcuts_are_off_for_who_switched_them_off(client: Client) -> None:
    client.force_login(make_person(shortcuts=False))
    assert 'data-shortcuts="off"' in client.get("/guidelines/").content.decode()
