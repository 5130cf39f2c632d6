"""The audit trail and the lifecycle."""

import pytest
from django.db import DatabaseError, transaction

from annotation.models import Sample
from annotation.workflow import SampleState
from core import history
from core.models import Event
from core.refusals import Conflict
from tests.factories import make_case, make_expert, make_lead, make_review, make_sample

pytestmark = pytest.mark.django_db


def test_advancing_writes_the_state_and_its_event_together() -> None:
    sample, expert = make_sample(state=SampleState.IN_AUDIT), make_expert()
    history.advance(sample, "reject", by=expert, reason="Item 4 is not quoted.")
    sample.refresh_from_db()
    event = history.history_of(sample).get()
    assert sample.state == SampleState.RETURNED
    assert (event.from_state, event.to_state, event.by, event.reason) == (
        "in_audit", "returned", expert, "Item 4 is not quoted.",
    )  # fmt: skip


def test_a_move_from_another_state_is_refused_with_the_state_of_now_and_changes_nothing() -> None:
    sample = make_sample(state=SampleState.IN_AUDIT)
    stale = Sample.objects.get(pk=sample.pk)
    history.advance(sample, "approve", by=make_expert())
    with pytest.raises(Conflict) as refused:
        history.advance(stale, "reject", by=make_expert())
    assert refused.value.details["state"] == SampleState.IN_STANDARDIZATION
    assert Event.objects.count() == 1


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_audit_trail_refuses_change_and_removal(change: str) -> None:
    history.record("look", make_lead(), by=None)
    events = Event.objects.all()
    rewrite = {"update": lambda: events.update(reason="rewritten"), "delete": events.delete}[change]
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        rewrite()
    assert Event.objects.get().reason == ""


def test_control_characters_never_reach_the_trail() -> None:
    event = history.record("look", make_lead(), by=None, reason="a\x00b\ud83d", note=["c\x00"])
    event.refresh_from_db()
    assert (event.reason, event.data) == ("ab\ufffd", {"note": ["c"]})


def test_the_factories_reach_the_review() -> None:
    case = make_case()
    review = make_review(case, make_expert(), submitted=True, found_issue=True)
    assert review.case.sample.state == SampleState.IN_REVIEW
