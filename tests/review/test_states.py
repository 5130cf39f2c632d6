"""Every action on a case, in every state, by everybody there is, through the API: what is not in the table is refused
and changes nothing (I-07)."""

from itertools import product
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotation.models import Claim, Sample
from annotation.workflow import Job, SampleState
from core.models import Event, User
from generation.models import Run
from generation.workflow import RunState
from review import actions
from review.models import AnswerReview, ReviewCase
from review.workflow import CaseState
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample
from tests.review.words import ISSUE, clean_marks, save, submit

pytestmark = [pytest.mark.once, pytest.mark.django_db]

ROLES = ("annotator", "expert", "lead", "verifier", "auditor", "first", "second", "nobody")
# state, action -> roles for whom it happens; everybody else is refused. `first` has submitted a review, `second` holds
# a draft, `nobody` is not signed in.
HAPPENS: dict[tuple[str, str], set[str]] = {
    ("awaiting_predictions", "send_again"): {"lead"},
    ("open", "review"): {"second"},
    ("open", "give_back"): {"second"},
    ("open", "free_seat"): {"lead"},
    ("free", "review"): {"annotator", "expert"},
    ("free", "assign"): {"lead"},
    ("disputed", "take"): {"expert", "auditor"},
    ("disputed", "adjudicate"): {"expert", "auditor"},
}
# A draft of a `decision` is kept for whoever has taken the case; here nobody has.
ACTIONS = ("review", "give_back", "free_seat", "assign", "send_again", "take", "decision", "adjudicate")
STATES = ("awaiting_predictions", "free", "open", "accepted", "disputed", "adjudicated")


class Scene:
    """A case in a state, and everybody there is. `free`: open with both seats free; `open`: both are taken."""

    def __init__(self, state: str) -> None:
        begins = state == "awaiting_predictions"
        sample = make_standardized_sample(state=SampleState.AWAITING_PREDICTIONS if begins else SampleState.IN_REVIEW)
        self.case = make_case(sample, state=CaseState.AWAITING_PREDICTIONS if begins else CaseState.OPEN)
        held = {part.job: part.person for part in sample.participations.all()}
        self.people: dict[str, User | None] = {
            "annotator": make_annotator(),
            "expert": make_expert(),
            "lead": make_lead(),
            "verifier": held[Job.VERIFIES],
            "auditor": held[Job.JUDGES],
            "first": make_annotator(),
            "second": make_annotator(),
            "nobody": None,
        }
        self.draft: AnswerReview | None = None
        getattr(self, state)()
        self.case.refresh_from_db()

    def person(self, role: str) -> User:
        person = self.people[role]
        assert person is not None
        return person

    def awaiting_predictions(self) -> None:
        run = self.case.prediction_run
        assert run is not None
        use = run.run_calls.first()
        assert use is not None
        type(use.call).objects.filter(pk=use.call_id).update(state="failed")
        Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED)

    def free(self) -> None:
        self.people |= {"first": None, "second": None}

    def open(self) -> None:
        submit(self.case, self.person("first"))
        self.draft = save(actions.take_seat(case=self.case, by=self.person("second")))

    def accepted(self) -> None:
        for role in ("first", "second"):
            submit(self.case, self.person(role))

    def disputed(self) -> None:
        submit(self.case, self.person("first"), **ISSUE)
        submit(self.case, self.person("second"))

    def adjudicated(self) -> None:
        self.disputed()
        self.case.refresh_from_db()
        actions.adjudicate_case(case=self.case, outcome="no_issue", by=make_expert())

    def body(self, action: str) -> dict[str, Any]:
        return {
            "review": {**clean_marks(self.case), "additions": ["Petrel"], "submit": True},
            "free_seat": {"review": self.draft.pk if self.draft else 1, "reason": "ill"},
            "decision": {"version": 0, "choice": "answer"},
            "adjudicate": {"outcome": "reconstruct", "step": "answer", "reason": "The last one."},
        }.get(action, {})


def everything() -> list[Any]:
    """What an action may change, whole."""
    return [
        list(rows.order_by("pk").values())
        for rows in (
            ReviewCase.objects.all(),
            AnswerReview.objects.all(),
            Claim.objects.all(),
            Sample.objects.all(),
            Event.objects.all(),
        )
    ]


@pytest.mark.parametrize("state", STATES)
def test_what_is_not_in_the_table_is_refused_and_changes_nothing(state: str) -> None:
    scene = Scene(state)
    for action, role in product(ACTIONS, ROLES):
        person = scene.people[role]
        if person is None and role != "nobody":
            continue
        client = Client()
        if person is not None:
            client.force_login(person)
        before = everything()
        with transaction.atomic():
            path = f"/api/v1/cases/{scene.case.pk}/{action}/"
            answer = client.post(path, scene.body(action), content_type="application/json")
            happened = answer.status_code < 300
            after = everything()
            transaction.set_rollback(True)
        told = (state, action, role, answer.status_code)
        assert happened == (role in HAPPENS.get((state, action), set())), (told, answer.content.decode()[:300])
        assert (after != before) == happened, told
        if not happened:
            assert answer.status_code in {401, 403, 404, 409, 422}, told
            assert answer.headers["Content-Type"].startswith("application/problem+json"), told
