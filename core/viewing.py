"""What every page's view does: know who asks, and put an action's refusal where the person typed."""

from django.forms import BaseForm
from django.http import HttpRequest

from core.models import User
from core.refusals import Invalid, Refused


def person_of(request: HttpRequest) -> User:
    """Who is signed in. Every page but the entrance asks for a log-in, so somebody is."""
    assert isinstance(request.user, User)
    return request.user


def refuse_into(form: BaseForm, refusal: Refused, *, field: str | None = None) -> None:
    """A refusal at the fields it names; what names none of the form's fields goes to `field`, or above the form."""
    if isinstance(refusal, Invalid):
        for name, words in refusal.errors.items():
            form.add_error(name if name in form.fields else None, [str(word) for word in words])
    else:
        form.add_error(field, str(refusal.message))
