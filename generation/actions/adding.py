"""A model is added: any that a known provider has, or one on a server of one's own with OpenAI's interface."""

from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Invalid, NotAllowed
from core.text import clean_text
from generation.actions.models import EDITABLE, check_model
from generation.models import LanguageModel


def can_add_model(user: User) -> bool:
    return user.is_lead


def add_model(*, by: User, name: str, **given: Any) -> LanguageModel:
    """A model of the panel in use, behind the others. What would be refused later is refused now, at its field."""
    if not can_add_model(by):
        raise NotAllowed(_("Only a lead changes the models."))
    if unknown := set(given) - set(EDITABLE):
        raise Invalid({field: _("This cannot be changed.") for field in sorted(unknown)})
    model = LanguageModel(name=clean_text(name).strip(), panel=settings.LBP_PANEL, **given)
    check_model(model, exclude=())
    if LanguageModel.objects.filter(name__iexact=model.name).exists():
        raise _taken()
    last = LanguageModel.objects.aggregate(last=Max("position"))["last"]
    model.position = 0 if last is None else last + 1
    try:
        with transaction.atomic():
            model.save()
            history.record("add_model", model, by=by, name=model.name, litellm_id=model.litellm_id)
    except IntegrityError:
        raise _taken() from None
    return model


def _taken() -> Invalid:
    return Invalid({"name": _("There is a model of this name already.")})
