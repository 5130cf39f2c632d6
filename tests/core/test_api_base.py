"""What every operation of the API shares: who signs in, problem details, one effect per Idempotency-Key."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from core import actions
from core.models import ApiToken, Event, User
from core.refusals import NotAllowed
from core.workflow import Scope
from tests.factories import make_annotator, make_lead

pytestmark = [pytest.mark.urls("tests.core.urls"), pytest.mark.django_db]
THINGS = "/api/v1/things/"


def issue(person: User, scope: str = Scope.WRITE, days: int = 1) -> tuple[ApiToken, str]:
    return actions.issue_api_token(by=person, name="a script", scope=scope, days=days)


def send(client: Client, body: Any, *, token: str = "", key: str = "") -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if key:
        headers["Idempotency-Key"] = key
    return client.post(THINGS, body, content_type="application/json", headers=headers)


# Tokens ------------------------------------------------------------------------------------------------
def test_only_the_hash_of_a_token_is_kept(annotator: User) -> None:
    token, text = issue(annotator)
    assert text.startswith("lbp_")
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    stored = list(ApiToken.objects.values_list()) + list(Event.objects.values_list())
    assert text not in repr(stored)


def test_a_token_acts_as_its_owner(client: Client, annotator: User) -> None:
    _token, text = issue(annotator, Scope.READ)
    answer = client.get(THINGS, headers={"Authorization": f"Bearer {text}"})
    assert answer.json() == {"person": annotator.username}


def test_a_read_token_does_not_write(client: Client, annotator: User, effects: list[str]) -> None:
    _token, text = issue(annotator, Scope.READ)
    answer = send(client, {"name": "a"}, token=text)
    assert (answer.status_code, answer.headers["Content-Type"], effects) == (403, "application/problem+json", [])
    assert "may only read" in answer.json()["detail"]


@pytest.mark.parametrize("how", ["expired", "revoked", "unknown", "inactive"])
def test_a_token_that_is_not_valid_signs_nobody_in(
    client: Client, annotator: User, effects: list[str], how: str
) -> None:
    token, text = issue(annotator)
    if how == "expired":
        ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "revoked":
        actions.revoke_api_token(token=token, by=annotator)
    elif how == "unknown":
        text += "x"
    else:
        User.objects.filter(pk=annotator.pk).update(is_active=False)
    answer = send(client, {"name": "a"}, token=text)
    assert (answer.status_code, answer.headers["WWW-Authenticate"], effects) == (401, "Bearer", [])


def test_without_a_token_the_api_answers_401_as_a_problem(client: Client) -> None:
    answer = client.get(THINGS)
    assert (answer.status_code, answer.json()["title"]) == (401, "Not signed in")


@pytest.mark.parametrize("asked", ["header", "person"])
def test_a_problem_speaks_the_language_of_the_request_or_else_of_the_token_s_person(
    client: Client, annotator: User, asked: str
) -> None:
    _token, text = issue(annotator)
    headers = {"Authorization": f"Bearer {text}"}
    if asked == "header":
        headers["Accept-Language"] = "zh-CN"
    else:
        User.objects.filter(pk=annotator.pk).update(language="zh-hans")
    body = {"name": "none"}
    problem = client.post(THINGS, body, content_type="application/json", headers=headers).json()
    assert (problem["status"], problem["title"]) == (404, "未找到")


def test_a_token_is_revoked_by_its_owner_or_a_lead_only(annotator: User) -> None:
    token, _text = issue(annotator)
    with pytest.raises(NotAllowed):
        actions.revoke_api_token(token=token, by=make_annotator())
    actions.revoke_api_token(token=token, by=make_lead())
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert list(Event.objects.values_list("action", flat=True)) == ["core.issue_token", "core.revoke_token"]


# Problem details ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("body", "status", "rule"),
    [
        ({"name": "rule"}, 422, "checklist_incomplete"),
        ({"name": "none"}, 404, "not_found"),
        ({}, 400, "invalid"),
        ({"name": "too long"}, 400, "invalid"),
    ],
)
def test_errors_are_problem_details(page: Client, effects: list[str], body: Any, status: int, rule: str) -> None:
    answer = send(page, body)
    problem = answer.json()
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.status_code, problem["status"], problem["rule"]) == (status, status, rule)
    assert problem["detail"]


def test_a_wrong_field_is_named_with_its_place(page: Client) -> None:
    problem = send(page, {"name": "a", "parts": [1, "x"]}).json()
    assert problem["errors"] == {"parts.1": ["A valid integer is required."]}


def test_a_body_that_is_no_json_is_a_problem(page: Client) -> None:
    answer = page.post(THINGS, "{", content_type="application/json")
    assert (answer.status_code, answer.json()["rule"]) == (400, "parse_error")
    assert answer.json()["detail"] == "Line 1: not valid JSON at character 2."
    chinese = page.post(THINGS, b'{"name": "\xff"}', content_type="application/json", headers={"Accept-Language": "zh"})
    assert (chinese.status_code, chinese.json()["detail"]) == (400, "请求正文不是 UTF-8 编码的有效 JSON。")


def test_an_unforeseen_error_is_a_500_and_keeps_no_key(page: Client, effects: list[str]) -> None:
    assert [send(page, {"name": "crash"}, key="k").status_code for _ in range(2)] == [500, 500]
    assert effects == ["crash", "crash"]


# Idempotency-Key -----------------------------------------------------------------------------------------
def test_a_repeated_key_has_one_effect_and_the_same_answer(page: Client, effects: list[str]) -> None:
    answers = [send(page, {"name": "a"}, key="k") for _ in range(3)]
    assert [answer.json() for answer in answers] == [{"number": 1, "name": "a"}] * 3
    assert [answer.status_code for answer in answers] == [201] * 3
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true", "true"]
    assert effects == ["a"]


def test_a_refusal_by_a_rule_is_replayed_as_the_problem_it_was(page: Client, effects: list[str]) -> None:
    answers = [send(page, {"name": "rule"}, key="k") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    assert answers[1].headers["Content-Type"] == "application/problem+json"
    assert effects == ["rule"]


def test_a_wrong_field_can_be_mended_under_the_same_key(page: Client, effects: list[str]) -> None:
    assert send(page, {"name": "too long"}, key="k").status_code == 400
    assert send(page, {"name": "a"}, key="k").status_code == 201


def test_a_key_of_another_body_is_refused(page: Client, effects: list[str]) -> None:
    send(page, {"name": "a"}, key="k")
    answer = send(page, {"name": "b"}, key="k")
    assert (answer.status_code, answer.json()["rule"], effects) == (422, "idempotency_key_reused", ["a"])


def test_without_a_key_each_request_acts(page: Client, effects: list[str]) -> None:
    for _ in range(2):
        send(page, {"name": "a"})
    assert effects == ["a", "a"]


@pytest.mark.parametrize(("method", "path", "status", "rule"), [
    ("get", "/api/v1/nothing/", 404, "not_found"),
    ("post", "/api/nothing", 404, "not_found"),
    ("put", "/api/v1/runs/", 405, "method_not_allowed"),
    ("delete", "/api/v1/budget/", 405, "method_not_allowed"),
])  # fmt: skip
def test_what_is_not_there_is_a_problem_too(client: Client, method: str, path: str, status: int, rule: str) -> None:
    client.force_login(make_lead())
    answer = getattr(client, method)(path)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["rule"] == rule


def test_every_list_refuses_a_filter_that_it_does_not_know(client: Client) -> None:
    """Ignored, it would answer with rows that were not asked for."""
    client.force_login(make_lead())
    schema = client.get("/api/v1/schema/?format=json").json()
    lists = [path for path, methods in schema["paths"].items() if "get" in methods and "{" not in path]
    lists = [path for path in lists if path not in {"/api/v1/schema/", "/api/v1/things/"}]
    assert len(lists) > 12
    for path in lists:
        answer = client.get(path, {"lenguage": "English"})
        assert (answer.status_code, answer.json().get("rule")) == (400, "unknown_filter"), path
        assert list(answer.json()["errors"]) == ["lenguage"]
        assert client.get(path).status_code == 200, path
    named = client.get("/api/v1/documents/", {"lenguage": "English"}).json()["detail"]
    assert "language" in named
    assert "page_size" in named
    assert client.get("/api/v1/documents/?language=English&page=1&page_size=5").status_code == 200
