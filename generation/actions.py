"""Runs and models: what people and other stages may have done here."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from celery.canvas import Signature
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmark.taxonomy import SecondaryTask
from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from documents.models import DocumentVersion
from documents.workflow import VersionState
from generation.models import Call, LanguageModel, Run
from generation.panels import faults_of
from generation.planning import make_calls
from generation.prompts import PROMPT_VERSION, drafting_instructions, prompt_hash, question_prompt
from generation.queries import UNFINISHED, leaf_calls, panel, sent_elsewhere, without_price
from generation.tasks import send_run
from generation.workflow import CallState, Purpose, RunState

# --- starting --------------------------------------------------------------------------------------------------------


def start_drafting(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    by: User | None,
    first_number: int = 1,
    then: Signature | None = None,
) -> Run:
    """Three drafts from each drafting model. `first_number` above 1 asks the same models afresh."""
    prompt = drafting_instructions(language=document_version.document.language, task=task.code)
    return _start(Purpose.DRAFTING, document_version, task, by=by, then=then, prompt=prompt, first_number=first_number)


def start_challenge(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    question: str,
    options: Sequence[str],
    elements: str,
    answer: Sequence[str],
    by: User | None,
    then: Signature | None = None,
) -> Run:
    """The drafting models answer the question as it now reads; the answer stays here and is compared afterwards."""
    language = document_version.document.language
    prompt = question_prompt(language=language, question=question, options=options, elements=elements)
    return _start(Purpose.CHALLENGE, document_version, task, by=by, then=then, prompt=prompt, reference=list(answer))


def start_predictions(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    prompt: str,
    answer: Sequence[str],
    by: User | None,
    then: Signature | None = None,
) -> Run:
    """The prediction models answer the standardized non-thinking prompt."""
    return _start(Purpose.PREDICTION, document_version, task, by=by, then=then, prompt=prompt, reference=list(answer))


def start_difficulty(
    *,
    document_version: DocumentVersion,
    task: SecondaryTask,
    prompt: str,
    prompt_thinking: str,
    answer: Sequence[str],
    runs_per_model: int,
    by: User | None,
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


# --- stopping and sending again --------------------------------------------------------------------------------------


def can_cancel_run(user: User, run: Run) -> bool:
    return run.state in UNFINISHED and (user.is_lead or user.pk == run.created_by_id)


def cancel_run(*, run: Run, by: User) -> Run:
    """Nothing more is sent. Calls that are out come back and are kept; calls another run waits for stay queued."""
    _leads_or_starter(by, run)
    with transaction.atomic():
        history.advance(run, "cancel", by=by)
        for call in Call.objects.filter(runs=run, state=CallState.QUEUED):
            if not sent_elsewhere(call, run):
                _try_cancel(call, by=by)
    return run


def _try_cancel(call: Call, *, by: User) -> None:
    try:
        history.advance(call, "cancel", by=by)
    except Conflict:
        return  # it has just been sent
    Call.objects.filter(pk=call.pk).update(error_class="", error="", next_attempt_at=None)


def can_retry_run(user: User, run: Run) -> bool:
    return user.is_lead or user.pk == run.created_by_id


def retry_run(*, run: Run, by: User) -> Run:
    """Send the failed calls of a run again, and those that were cancelled. What is unknown waits for a lead's word on
    each call; what was answered is never asked again."""
    _leads_or_starter(by, run)
    with transaction.atomic():
        run.state = Run.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
        again = leaf_calls(run).filter(state__in=[CallState.FAILED, CallState.CANCELLED])
        calls = [call for call in again if not call.drafts.exists()]
        if not calls:
            raise RuleBroken(_("No call of this run has failed."), rule="nothing_failed")
        for call in calls:
            _requeue(call, by=by, reason="")
        _resume(run, by=by)
    return run


def can_resend_call(user: User, call: Call) -> bool:
    return user.is_lead and call.lifecycle.allows(call.state, "resend") and not hasattr(call, "repaired_by")


def resend_call(*, call: Call, by: User, reason: str) -> Call:
    """A lead sends one call again. An unknown call may have been billed already: the reason says why it is worth it."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead sends a call again."))
    if not reason.strip():
        raise RuleBroken(_("Say why this call is sent again."), rule="reason_missing")
    if Call.objects.filter(repairs=call).exists():
        raise RuleBroken(_("This call was followed by a repair; send the repair again."), rule="repaired")
    with transaction.atomic():
        _requeue(call, by=by, reason=reason)
        runs = list(Run.objects.filter(run_calls__call=call).order_by("-id"))
        finished = [run for run in runs if run.state == RunState.FINISHED]
        waiting = [run for run in runs if run.state in UNFINISHED]
        for run in finished or ([] if waiting else runs[:1]):
            _resume(run, by=by)
        for run in waiting:
            hurry(send_run, run.pk)
    return call


def _requeue(call: Call, *, by: User, reason: str) -> None:
    """The next attempt starts clean; what the last one was stays in the history, what it cost stays in the sum."""
    earlier = {"attempts": call.attempts, "error_class": call.error_class, "tokens_out": call.tokens_out}
    history.advance(call, "resend", by=by, reason=reason, **earlier)
    Call.objects.filter(pk=call.pk).update(
        attempts=0, error_class="", error="", faults=[], next_attempt_at=None, lease_until=None
    )


def _resume(run: Run, *, by: User) -> None:
    if run.state not in UNFINISHED:
        history.advance(run, "resume", by=by)
        Run.objects.filter(pk=run.pk).update(finished_at=None)
        run.finished_at = None
    hurry(send_run, run.pk)


def _leads_or_starter(by: User, run: Run) -> None:
    if not (by.is_lead or by.pk == run.created_by_id):
        raise NotAllowed(_("Only a lead, or who started the run, may do this."))


# --- models ----------------------------------------------------------------------------------------------------------

EDITABLE = (
    "tier",
    "drafting",
    "kind",
    "litellm_id",
    "api_base",
    "key_variable",
    "context_tokens",
    "truncate_input_to_tokens",
    "max_output_nonthinking",
    "max_output_thinking",
    "temperature",
    "usd_per_million_input",
    "usd_per_million_output",
    "price_read_on",
    "note",
    "active",
)


def can_edit_model(user: User, model: LanguageModel) -> bool:
    return user.is_lead


def edit_model(*, model: LanguageModel, version: int, by: User, **changes: Any) -> LanguageModel:
    """Change how a model is reached, asked and paid. What would be refused later is refused now, at its field."""
    if not can_edit_model(by, model):
        raise NotAllowed(_("Only a lead changes the models."))
    if unknown := set(changes) - set(EDITABLE):
        raise Invalid({name: _("This cannot be changed.") for name in sorted(unknown)})
    with transaction.atomic():
        held = LanguageModel.objects.select_for_update().get(pk=model.pk)
        if held.version != version:
            raise Conflict(
                _("Somebody else changed this model meanwhile. Compare before you save."), rule="stale_version"
            )
        before = {name: getattr(held, name) for name in changes}
        for name, value in changes.items():
            setattr(held, name, value)
        _check_model(held)
        held.version += 1
        held.save()
        changed = {
            name: [_plain(before[name]), _plain(value)] for name, value in changes.items() if before[name] != value
        }
        history.record("edit_model", held, by=by, changed=changed)
    return held


def _check_model(model: LanguageModel) -> None:
    errors: dict[str, Any] = {}
    try:
        model.clean_fields(exclude=["name"])
    except ValidationError as wrong:
        errors.update({name: list(words) for name, words in wrong.message_dict.items()})
    else:
        errors.update(faults_of(model))
    if errors:
        raise Invalid(errors)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) or hasattr(value, "isoformat") else value


def can_resume_model(user: User, model: LanguageModel) -> bool:
    return user.is_lead and model.paused_at is not None


def pause_model(*, model: LanguageModel, by: User, reason: str = "") -> LanguageModel:
    """Nothing is sent to it until it is resumed; its queued calls fail at once, and can be retried afterwards."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead changes the models."))
    with transaction.atomic():
        paused = LanguageModel.objects.filter(pk=model.pk, paused_at=None)
        words = reason.strip() or _("paused by a lead")
        if not paused.update(paused_at=timezone.now(), paused_because=words[:300]):
            raise Conflict(_("The model is paused already."), rule="paused")
        history.record("pause_model", model, by=by, reason=reason)
    model.refresh_from_db()
    return model


def resume_model(*, model: LanguageModel, by: User) -> LanguageModel:
    """The key or the account is in order again."""
    if not by.is_lead:
        raise NotAllowed(_("Only a lead changes the models."))
    with transaction.atomic():
        if (
            not LanguageModel.objects.filter(pk=model.pk)
            .exclude(paused_at=None)
            .update(paused_at=None, paused_because="")
        ):
            raise Conflict(_("The model is not paused."), rule="not_paused")
        history.record("resume_model", model, by=by)
    model.refresh_from_db()
    return model
