"""How often a program may ask."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client, override_settings

from core import throttling
from core.authentication import issue_token
from core.models import User
from core.workflow import Scope
from tests.factories import make_annotator

pytestmark = pytest.mark.django_db
PATH = "/api/v1/documents/"


@pytest.fixture(autouse=True)
def _counted_anew(monkeypatch: pytest.MonkeyPatch) -> Any:
    """At a moment with forty seconds of its minute left, with two requests to a minute."""
    cache.clear()
    monkeypatch.setattr(throttling, "clock", lambda: 1_000_000 * 60 + 20.0)
    with override_settings(LBP_API_REQUESTS_PER_MINUTE=2):
        yield
    cache.clear()


def bearer(person: User) -> dict[str, str]:
    _token, text = issue_token(person=person, name="a program", scope=Scope.READ, days=1, by=person)
    return {"Authorization": f"Bearer {text}"}


def test_what_is_too_much_is_a_problem_that_says_when_to_come_back(client: Client) -> None:
    headers = bearer(make_annotator())
    assert [client.get(PATH, headers=headers).status_code for _time in range(2)] == [200, 200]
    answer = client.get(PATH, headers=headers)
    assert (answer.status_code, answer.headers["Content-Type"]) == (429, "application/problem+json")
    assert answer.headers["Retry-After"] == "40"
    assert answer.json()["rule"] == "too_many_requests"
    assert "2 requests" in answer.json()["detail"]
    in_chinese = client.get(PATH, headers={**headers, "Accept-Language": "zh-hans"}).json()["detail"]
    assert in_chinese == "一分钟内请求超过2次。请在40秒后重试。"


def test_each_token_and_each_person_is_counted_by_itself(client: Client) -> None:
    person = make_annotator()
    for headers in (bearer(person), bearer(person)):
        assert [client.get(PATH, headers=headers).status_code for _time in range(3)] == [200, 200, 429]
    client.force_login(person)
    assert [client.get(PATH).status_code for _time in range(3)] == [200, 200, 429]
    assert client.get("/documents/").status_code == 200


def test_the_next_minute_begins_at_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    headers = bearer(make_annotator())
    for _time in range(3):
        client.get(PATH, headers=headers)
    monkeypatch.setattr(throttling, "clock", lambda: 1_000_001 * 60.0)
    assert client.get(PATH, headers=headers).status_code == 200


def test_a_cache_that_does_not_answer_stops_nobody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*args: Any, **kwargs: Any) -> bool:
        raise ConnectionError

    monkeypatch.setattr(throttling.cache, "add", down)
    headers = bearer(make_annotator())
    assert [client.get(PATH, headers=headers).status_code for _time in range(3)] == [200, 200, 200]


def test_what_was_turned_away_keeps_no_idempotency_key(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    person = make_annotator()
    _token, text = issue_token(person=person, name="a program", scope=Scope.WRITE, days=1, by=person)
    headers = {"Authorization": f"Bearer {text}", "Idempotency-Key": "one"}
    path = "/api/v1/samples/next/"
    client.get(PATH, headers=headers)
    client.get(PATH, headers=headers)
    assert client.post(path, headers=headers).status_code == 429
    monkeypatch.setattr(throttling, "clock", lambda: 1_000_001 * 60.0)
    assert client.post(path, headers=headers).status_code == 404


def test_without_a_limit_nothing_is_counted(client: Client) -> None:
    headers = bearer(make_annotator())
    with override_settings(LBP_API_REQUESTS_PER_MINUTE=0):
        assert [client.get(PATH, headers=headers).status_code for _time in range(4)] == [200] * 4
