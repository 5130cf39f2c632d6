"""The models of the panels: edited, paused, resumed, tried."""

from collections.abc import Collection
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import history
from core.jobs import hurry
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from generation.models import LanguageModel, ModelTrial
from generation.models.panels import PAUSED_BY_A_LEAD
from generation.panels import faults_of
from generation.queries import without_price
from generation.tasks import send_ready, send_trial

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
    "structured",
    "usd_per_million_input",
    "usd_per_million_output",
    "usd_per_million_cached",
    "price_read_on",
    "note",
    "active",
)


def can_edit_model(user: User, model: LanguageModel) -> bool:
    return user.is_lead


def edit_model(*, model: LanguageModel, version: int, by: User, **changes: Any) -> LanguageModel:
    """Change how a model is reached, asked and paid. What would be refused later is refused now, at its field."""
    _leads_only(by)
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
        check_model(held)
        held.version += 1
        held.save()
        changed = {
            name: [_plain(before[name]), _plain(value)] for name, value in changes.items() if before[name] != value
        }
        history.record("edit_model", held, by=by, changed=changed)
    return held


def check_model(model: LanguageModel, *, exclude: Collection[str] = ("name",)) -> None:
    """Invalid with what would be refused, or paid for nothing, at each field."""
    errors: dict[str, Any] = {}
    try:
        model.clean_fields(exclude=exclude)
    except ValidationError as wrong:
        errors.update({name: list(words) for name, words in wrong.message_dict.items()})
    else:
        errors.update(faults_of(model))
    if errors:
        raise Invalid(errors)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) or hasattr(value, "isoformat") else value


def can_pause_model(user: User, model: LanguageModel) -> bool:
    return user.is_lead and model.paused_at is None


def pause_model(*, model: LanguageModel, by: User, reason: str = "") -> LanguageModel:
    """Nothing is sent to it until it is resumed. Its queued calls stay queued, and wait; what is out comes back."""
    _leads_only(by)
    with transaction.atomic():
        paused = LanguageModel.objects.filter(pk=model.pk, paused_at=None)
        words = reason.strip() or PAUSED_BY_A_LEAD
        if not paused.update(paused_at=timezone.now(), paused_because=words[:300]):
            raise Conflict(_("The model is paused already."), rule="paused")
        history.record("pause_model", model, by=by, reason=reason)
    model.refresh_from_db()
    return model


def can_resume_model(user: User, model: LanguageModel) -> bool:
    return user.is_lead and model.paused_at is not None


def resume_model(*, model: LanguageModel, by: User) -> LanguageModel:
    """The key or the account is in order again: what waits for the model is sent."""
    _leads_only(by)
    with transaction.atomic():
        paused = LanguageModel.objects.filter(pk=model.pk).exclude(paused_at=None)
        if not paused.update(paused_at=None, paused_because=""):
            raise Conflict(_("The model is not paused."), rule="not_paused")
        history.record("resume_model", model, by=by)
        hurry(send_ready)
    model.refresh_from_db()
    return model


def can_try_model(user: User, model: LanguageModel) -> bool:
    return user.is_lead


def try_model(*, model: LanguageModel, by: User) -> ModelTrial:
    """Ask a model for one word, to see whether address, key and id are in order; also a paused one. Sent by the
    worker, once; what it costs counts as spent."""
    if not can_try_model(by, model):
        raise NotAllowed(_("Only a lead tries a model."))
    if without_price([model]):
        raise RuleBroken(_("This model has no price, so nothing is sent to it."), rule="unknown_price")
    with transaction.atomic():
        LanguageModel.objects.select_for_update().get(pk=model.pk)
        if ModelTrial.objects.filter(model=model, ended_at=None).exists():
            raise Conflict(_("The model is being tried already."), rule="trial_under_way")
        trial = ModelTrial.objects.create(model=model, asked_by=by)
        history.record("try_model", model, by=by, trial=trial.pk)
        hurry(send_trial, trial.pk)
    return trial


def _leads_only(by: User) -> None:
    if not by.is_lead:
        raise NotAllowed(_("Only a lead changes the models."))
