"""Rows are the truth: what no message reached is taken up."""

from typing import Any

import pytest
from django.db import OperationalError

from generation import sending
from generation.workflow import Purpose, RunState
from leading import tasks
from tests.factories import make_call, make_model, make_run, make_version

pytestmark = pytest.mark.django_db


def test_a_queued_run_that_the_broker_lost_is_sent_to_the_worker_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(make_version(), purpose=Purpose.CHALLENGE, task_code="T1.2", state=RunState.QUEUED)
    make_call(run, make_model(), state="queued")
    sent: list[Any] = []
    monkeypatch.setattr("generation.tasks.hurry", lambda task, *args: sent.append(task.name))
    tasks.reconcile()
    assert sent == ["generation.send_ready"]
    assert sending.ready_run_ids() == [run.pk]


def test_a_stage_whose_database_call_fails_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: list[str] = []

    def fails() -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(tasks, "ROUND", (fails, lambda: reached.append("the next stage")))
    tasks.reconcile()
    assert reached == ["the next stage"]
