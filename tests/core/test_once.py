"""One form, one effect."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from core import idempotency
from core.models import IdempotencyKey, User
from core.refusals import Conflict
from tests.factories import make_annotator

pytestmark = [pytest.mark.urls("tests.core.urls")]
HTMX = {"HX-Request": "true"}


def test_the_same_form_sent_again_gets_the_first_answer(page: Client, effects: list[str]) -> None:
    form = {"_once": "a", "text": "one"}
    first, second = page.post("/act/", form, headers=HTMX), page.post("/act/", form, headers=HTMX)
    assert (first.content, second.content, effects) == (b"effect 1", b"effect 1", ["one"])
    assert second.headers["Idempotency-Replayed"] == "true"


def test_the_redirect_is_replayed_too(page: Client, effects: list[str]) -> None:
    form = {"_once": "a", "text": "one"}
    assert [page.post("/act/", form).headers["Location"] for _ in range(2)] == ["/acted/"] * 2
    assert effects == ["one"]


def test_another_text_under_the_same_value_is_refused(page: Client, effects: list[str]) -> None:
    page.post("/act/", {"_once": "a", "text": "one"})
    answer = page.post("/act/", {"_once": "a", "text": "another text that was typed"})
    assert (answer.status_code, effects) == (422, ["one"])
    assert "another text that was typed" in answer.content.decode()


def test_a_form_without_the_value_acts_each_time(page: Client, effects: list[str]) -> None:
    for _ in range(2):
        page.post("/act/", {"text": "one"})
    assert effects == ["one", "one"]


def test_a_new_csrf_token_is_not_another_request(page: Client, effects: list[str]) -> None:
    for token in ("x", "y"):
        page.post("/act/", {"_once": "a", "text": "one", "csrfmiddlewaretoken": token})
    assert effects == ["one"]


def test_two_people_may_hold_the_same_value(page: Client, effects: list[str]) -> None:
    other = Client()
    other.force_login(make_annotator())
    for client in (page, other):
        client.post("/act/", {"_once": "a", "text": "one"})
    assert effects == ["one", "one"]


def test_after_a_crash_the_form_can_be_sent_again(page: Client, effects: list[str]) -> None:
    assert page.post("/crash/", {"_once": "a"}).status_code == 500
    assert not IdempotencyKey.objects.exists()
    assert page.post("/crash/", {"_once": "a"}).content == b"second attempt"
    assert effects == ["crash", "crash"]


@pytest.mark.parametrize(("which", "kept"), [("conflict", True), ("rule", True), ("invalid", False)])
def test_refusals_by_a_rule_are_kept_and_wrong_fields_can_be_mended(
    page: Client, effects: list[str], which: str, kept: bool
) -> None:
    for _ in range(2):
        page.post(f"/refuse/{which}/", {"_once": "a"})
    assert len(effects) == (1 if kept else 2)


def test_an_attempt_that_died_with_its_process_is_taken_for_abandoned(page: Client, effects: list[str]) -> None:
    form = {"_once": "a", "text": "one"}
    page.post("/act/", form)
    died = timezone.now() - idempotency.ABANDONED_AFTER - timedelta(seconds=1)
    IdempotencyKey.objects.update(finished_at=None, created_at=died)
    assert page.post("/act/", form).status_code == 302
    assert effects == ["one", "one"]


def test_a_late_answer_does_not_bring_an_abandoned_key_back(annotator: User) -> None:
    begun = idempotency.begin(person=annotator, key="a", mark="m")
    IdempotencyKey.objects.all().delete()
    again = idempotency.begin(person=annotator, key="a", mark="m")
    idempotency.finish(begun, HttpResponse("late"))
    assert IdempotencyKey.objects.get().finished_at is None
    idempotency.abandon(again)
    assert not IdempotencyKey.objects.exists()


def test_a_request_still_at_work_is_a_conflict_for_who_does_not_wait(annotator: User) -> None:
    idempotency.begin(person=annotator, key="a", mark="m")
    with pytest.raises(Conflict) as refused:
        idempotency.begin(person=annotator, key="a", mark="m")
    assert refused.value.rule == "request_in_progress"


@pytest.mark.django_db(transaction=True)
def test_twenty_parallel_posts_have_one_effect_and_one_answer(effects: list[str]) -> None:
    person = make_annotator()
    cookies = Client()
    cookies.force_login(person)

    def send(_number: int) -> tuple[int, bytes]:
        client = Client()
        client.cookies = cookies.cookies
        try:
            answer = client.post("/act/", {"_once": "a", "text": "one", "seconds": "0.3"}, headers=HTMX)
            return answer.status_code, answer.content
        finally:
            connections.close_all()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(send, range(20)))
    assert effects == ["one"]
    assert set(answers) == {(200, b"effect 1")}
