"""Sample's state x candidate's state x action x role, all of it, through the API, against the table written by hand.

What the table allows is done and leads where it says; everything else is refused and changes nothing at all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, models, transaction
from django.urls import get_resolver

from annotation.models import (
    AuditRemark,
    Candidate,
    CandidateEdit,
    Challenge,
    Claim,
    Overrule,
    Participation,
    Sample,
    Standardization,
    StepVerdict,
    Submission,
)
from annotation.workflow import CandidateState, SampleState
from core.models import Event
from generation.models import Run
from generation.panels import ensure_panel
from tests.annotation.state_table import (
    ACTIONS,
    ANNOTATORS,
    ANY,
    BEFORE_A_SUBMISSION,
    CANDIDATE_STATES,
    JUDGES,
    OF_BOTH,
    OF_CANDIDATES,
    ROLES,
    SAMPLE_STATES,
    TABLE,
    Scene,
    World,
    expected,
    make_scene,
    put,
)

pytestmark = [pytest.mark.once, pytest.mark.django_db]

SCENES = [(state, True) for state in SAMPLE_STATES] + [(state, False) for state in (*ANNOTATORS, *JUDGES)]
KEPT: tuple[type[models.Model], ...] = (
    *(Sample, Candidate, Claim, Participation, StepVerdict, CandidateEdit, Challenge, Overrule),
    *(Submission, AuditRemark, Standardization, Run, Event),
)
REFUSED = {403, 404, 409, 422}
# What every refused claim may do on its way: a claim that has lapsed is said to have lapsed (there is none here).
WRITING = ("INSERT", "UPDATE", "DELETE")


def snapshot() -> dict[str, list[Any]]:
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in KEPT}


@contextmanager
def counting_writes() -> Iterator[list[str]]:
    seen: list[str] = []

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().upper().startswith(WRITING):
            seen.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield seen


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens in here has not happened afterwards."""
    point = transaction.savepoint()
    try:
        yield
    finally:
        transaction.savepoint_rollback(point)
        transaction.savepoint_commit(point)


def test_the_table_knows_every_state_and_every_action_of_the_api() -> None:
    assert set(SAMPLE_STATES) == set(SampleState.values)
    assert set(CANDIDATE_STATES) == set(CandidateState.values)
    names = {str(name) for name in get_resolver("config.api_urls").reverse_dict if isinstance(name, str)}
    offered = {name.partition("-")[2].replace("-", "_") for name in names if name.startswith(("sample-", "candidate-"))}
    # Reading, and what moves no state: lists, one record, time, estimates, hints, many at once.
    others = {"list", "detail", "next", "estimate", "draft_many", "exchange", "audit", "time", "story", "story_story"}
    others |= {"check", "edits", "standardize_preview", "discard_many"}
    assert offered - others == set(ACTIONS)


@pytest.mark.parametrize("state", SAMPLE_STATES)
def test_only_what_the_table_says_happens(state: str) -> None:
    """Where the sample is at nobody's desk the candidate's state is not asked for: there the annotator walks all of
    them, the others one each. The bench walks everything, and what lies in nobody's hands."""
    assert walk_scene(state, held=True, everything=state == "in_verification") > 150


@pytest.mark.bench
@pytest.mark.parametrize(("state", "held"), SCENES)
def test_only_what_the_table_says_happens_for_everybody_everywhere(state: str, held: bool) -> None:
    assert walk_scene(state, held=held, everything=True) > 450


def walk_scene(state: str, *, held: bool, everything: bool) -> int:
    ensure_panel("demo")
    scene, walked = make_scene(state, held=held), 0
    for place, step in enumerate(CANDIDATE_STATES):
        with undone():
            put(scene, step)
            world = scene.read()
            before = snapshot()
            for action in ACTIONS:
                if step != CANDIDATE_STATES[0] and action not in (*OF_CANDIDATES, *OF_BOTH, "adopt_document"):
                    continue
                if action == "answer_remark" and state in BEFORE_A_SUBMISSION:
                    continue  # nobody has remarked anything yet
                of_sample = action not in OF_CANDIDATES
                for who in ROLES:
                    if everything or of_sample or who in (ROLES[0], ROLES[place]):
                        walk(scene, world, action, who, before)
                        walked += 1
            assert snapshot() == before
    return walked


def walk(scene: Scene, world: World, action: str, who: str, before: dict[str, list[Any]]) -> None:
    case = (world.sample, world.candidate, action, who)
    then = expected(action, who, world)
    with undone(), counting_writes() as writes:
        answer = scene.do(action, who, world)
        if then is None:
            assert answer.status_code in REFUSED, (case, answer.status_code, answer.content)
            if writes:  # what was written was taken back
                assert snapshot() == before, case
            return
        assert 200 <= answer.status_code < 300, (case, answer.status_code, answer.content)
        state = Sample.objects.values_list("state", flat=True).get(pk=scene.sample)
        step = Candidate.objects.values_list("state", flat=True).get(pk=scene.candidate)
        assert (state, step) == then, case


# Both or neither (I-08) ----------------------------------------------------------------------------------------------


class Broken(RuntimeError):
    """The machine stops here."""


@pytest.mark.parametrize("written", [False, True], ids=["before the line", "after the line"])
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]}-{row[2]}".replace(" ", "-"))
def test_a_change_and_its_line_of_the_trail_commit_together_or_not_at_all(
    row: tuple[str, ...], written: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_panel("demo")
    action, states, steps = row[0], row[1].split(), row[2]
    scene = make_scene(states[-1], held=action != "withdraw")
    put(scene, CANDIDATE_STATES[1] if steps == ANY else steps.split()[0])
    if action == "undo":
        assert scene.do("edit", ROLES[0], scene.read()).status_code == 200
    world = scene.read()
    who = next(role for role in ROLES if expected(action, role, world))
    before, lines = snapshot(), 0
    real = Event.save

    def save(self: Event, *args: Any, **kwargs: Any) -> None:
        nonlocal lines
        lines += 1
        if written:
            real(self, *args, **kwargs)
        raise Broken

    monkeypatch.setattr(Event, "save", save)
    scene.clients[who].raise_request_exception = False
    answer = scene.do(action, who, world)
    assert (answer.status_code == 500) == bool(lines), (action, answer.status_code)
    assert lines or action in WITHOUT_A_LINE, action
    if lines:
        assert snapshot() == before


# A claim that is prolonged, models that were asked already, a draft that decides nothing.
WITHOUT_A_LINE = {"claim", "challenge", "save_remarks"}
