"""Runs begin: what is asked is frozen, its calls are made, nothing is sent before all of it is committed."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from celery.canvas import Signature
from django.db import transaction
from django.utils.translation import gettext as _

from benchmark.taxonomy import SecondaryTask
from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import Invalid, RuleBroken
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.budgeting import budget_fault
from generation.models import Run
from generation.planning import make_calls
from generation.prompts import PROMPT_VERSION, drafting_instructions, prompt_hash, question_prompt
from generation.queries import panel, without_price
from generation.tasks import send_run
from generation.workflow import Purpose


def start_drafting(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    by: User | None,
    first_number: int = 1,
    budget_usd: Decimal | None = None,
    then: Signature | None = None,
) -> Run:
    """Three drafts from each drafting model. `first_number` above 1 asks the same models afresh."""
    prompt = drafting_instructions(language=document_version.document.language, task=task.code)
    frozen = {"prompt": prompt, "first_number": first_number, "budget_usd": budget_usd}
    return _start(Purpose.DRAFTING, document_version, task, by=by, then=then, **frozen)


def start_challenge(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    question: str,
    options: Sequence[str],
    elements: str,
    answer: Sequence[str],
    by: User | None,
    budget_usd: Decimal | None = None,
    then: Signature | None = None,
) -> Run:
    """The drafting models answer the question as it now reads; the answer stays here and is compared afterwards."""
    language = document_version.document.language
    prompt = question_prompt(language=language, question=question, options=options, elements=elements)
    frozen = {"prompt": prompt, "reference": list(answer), "budget_usd": budget_usd}
    return _start(Purpose.CHALLENGE, document_version, task, by=by, then=then, **frozen)


def start_predictions(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    prompt: str,
    answer: Sequence[str],
    by: User | None,
    budget_usd: Decimal | None = None,
    then: Signature | None = None,
) -> Run:
    """The prediction models answer the standardized non-thinking prompt."""
    frozen = {"prompt": prompt, "reference": list(answer), "budget_usd": budget_usd}
    return _start(Purpose.PREDICTION, document_version, task, by=by, then=then, **frozen)


def start_difficulty(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    prompt: str,
    prompt_thinking: str,
    answer: Sequence[str],
    runs_per_model: int,
    by: User | None,
    budget_usd: Decimal | None = None,
    then: Signature | None = None,
) -> Run:
    """All three tiers answer, each model `runs_per_model` times."""
    return _start(
        Purpose.DIFFICULTY,
        document_version,
        task,
        by=by,
        then=then,
        prompt=prompt,
        prompt_thinking=prompt_thinking,
        reference=list(answer),
        runs_per_model=runs_per_model,
        budget_usd=budget_usd,
    )


def _start(
    purpose: Purpose,
    version: DocumentVersion,
    task: SecondaryTask,
    *,
    by: User | None,
    then: Signature | None,
    **frozen: Any,
) -> Run:
    _check_panel(purpose)
    _check_budget(frozen.get("budget_usd"))
    with transaction.atomic():
        state = DocumentVersion.objects.select_for_update().values_list("state", flat=True).get(pk=version.pk)
        if state != VersionState.APPROVED:
            raise RuleBroken(
                _("The document is not approved, so nothing of it may be sent to a model."),
                rule="document_not_approved",
            )
        run = Run.objects.create(
            purpose=purpose,
            document_version=version,
            language=version.document.language,
            task_code=task.code,
            prompt_version=PROMPT_VERSION,
            prompt_sha256=prompt_hash(frozen["prompt"]),
            created_by=by,
            **frozen,
        )
        make_calls(run, by=by)
        history.record("start_run", run, by=by, purpose=str(purpose), document_version=version.pk, task=task.code)
        hurry(send_run, run.pk, then)
    return run


def _check_panel(purpose: Purpose) -> None:
    models = panel(purpose)
    if not models:
        raise RuleBroken(_("There is no model in use for this purpose."), rule="no_models")
    if unpriced := without_price(models):
        names = ", ".join(model.name for model in unpriced)
        raise RuleBroken(
            _("These models have no price, so the run was not started: %(names)s.") % {"names": names},
            rule="unknown_price",
            models=[model.name for model in unpriced],
        )


def _check_budget(budget_usd: Decimal | None) -> None:
    if fault := budget_fault(budget_usd):
        raise Invalid({"budget_usd": fault})
