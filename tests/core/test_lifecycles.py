"""Every pair of states of every record: what the table does not list is refused, and changes nothing."""

from collections.abc import Callable, Iterator

import pytest
from django.apps import apps
from django.db import connection

from annotation.models import Candidate, Sample
from core import history
from core.models import Event, Stateful
from core.refusals import Conflict
from documents.models import DocumentVersion, ImportBatch
from generation.models import Call, Run
from generation.workflow import Purpose
from release.models import Release
from review.models import AnswerReview, ReviewCase
from tests.factories import (
    make_call,
    make_case,
    make_expert,
    make_model,
    make_review,
    make_run,
    make_sample,
    make_version,
)

STATEFUL: list[type[Stateful]] = [model for model in apps.get_models() if issubclass(model, Stateful)]


def _run() -> Run:
    return make_run(make_version(), purpose=Purpose.DRAFTING, task_code="T1.2")


MAKE: dict[type[Stateful], Callable[[], Stateful]] = {
    DocumentVersion: make_version,
    ImportBatch: lambda: ImportBatch.objects.create(digest="0" * 64),
    Run: _run,
    Call: lambda: make_call(_run(), make_model()),
    Sample: lambda: make_sample(candidates=0),
    Candidate: lambda: make_sample(candidates=1).candidates.get(),
    ReviewCase: make_case,
    AnswerReview: lambda: make_review(make_case(), make_expert()),
    Release: lambda: Release.objects.create(version="v1"),
}


def pairs() -> Iterator[tuple[type[Stateful], str, str]]:
    for model in STATEFUL:
        states = model.lifecycle.states.values
        yield from ((model, source, target) for source in states for target in states)


def name(value: object) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


def put(record: Stateful, state: str) -> None:
    """Set the state behind the lifecycle's back. A state's companions (who, when) do not matter here."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA ignore_check_constraints = ON")
        try:
            type(record)._default_manager.filter(pk=record.pk).update(**{"state": state})
        finally:
            cursor.execute("PRAGMA ignore_check_constraints = OFF")
    record.refresh_from_db()


def test_every_record_with_a_state_is_walked() -> None:
    assert set(MAKE) == set(STATEFUL)


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="states are forced past the check constraints of SQLite")
@pytest.mark.parametrize(("model", "source", "target"), list(pairs()), ids=name)
def test_a_pair_of_states_is_passed_by_its_listed_moves_only(model: type[Stateful], source: str, target: str) -> None:
    leading_there = [move for move in model.lifecycle.moves.values() if move.target == target]
    refused = [move for move in leading_there if source not in move.sources]
    if not refused:
        assert all(move in model.lifecycle.moves_from(source) for move in leading_there)
        return
    record = MAKE[model]()
    put(record, source)
    before = Event.objects.count()
    for move in refused:
        with pytest.raises(Conflict) as said:
            history.advance(record, move.name, by=None)
        assert (said.value.rule, said.value.details["state"]) == ("state_moved", source)
    record.refresh_from_db()
    assert (getattr(record, "state"), Event.objects.count()) == (source, before)  # noqa: B009 -- the field is a model's own


@pytest.mark.parametrize("model", STATEFUL, ids=name)
def test_every_state_is_reached_by_a_move_or_is_the_first(model: type[Stateful]) -> None:
    reached = {move.target for move in model.lifecycle.moves.values()}
    first = model._meta.get_field("state").get_default()
    assert reached | {first} == set(model.lifecycle.states.values)
