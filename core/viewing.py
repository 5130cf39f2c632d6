"""What every page's view does: know who asks, and put an action's refusal where the person typed."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _

from core.models import User
from core.refusals import Invalid, Refused

STALE = "stale_version"


def person_of(request: HttpRequest) -> User:
    """Who is signed in. Every page but the entrance asks for a log-in, so somebody is."""
    assert isinstance(request.user, User)
    return request.user


def csv_response(lines: Iterable[str], name: str) -> StreamingHttpResponse:
    """A file of core.spreadsheet to be saved under this name."""
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def refuse_into(form: BaseForm, refusal: Refused, *, field: str | None = None) -> None:
    """A refusal at the fields it names; what names none of the form's fields goes to `field`, or above the form."""
    if isinstance(refusal, Invalid):
        for name, words in refusal.errors.items():
            form.add_error(name if name in form.fields else None, [str(word) for word in words])
    else:
        form.add_error(field, str(refusal.message))


def stale_into(form: BaseForm, refusal: Refused, *, now: Mapping[str, Any]) -> None:
    """Somebody was faster: what the person typed stays, each field that differs says what is saved now, and saving
    once more counts from there. `now` maps the form's fields, `version` among them, to what is saved."""
    for name, saved in now.items():
        if name != "version" and form.cleaned_data.get(name) != saved:
            form.add_error(name, _("Saved now: %(value)s") % {"value": _shown(form, name, saved)})
    form.add_error(None, ValidationError(str(refusal.message), code=STALE))
    form.data = {name: form.data[name] for name in form.data} | {"version": str(now["version"])}


def _shown(form: BaseForm, name: str, saved: Any) -> str:
    if saved in (None, ""):
        return "–"
    if isinstance(saved, bool):
        return _("yes") if saved else _("no")
    if isinstance(saved, Decimal):
        return f"{saved.normalize():f}"
    return str(dict(getattr(form.fields[name], "choices", ())).get(saved, saved))


def status_of(form: BaseForm) -> int:
    """200 without a fault, 409 where somebody was faster, else 400."""
    if not form.errors:
        return 200
    return 409 if form.has_error(NON_FIELD_ERRORS, STALE) else 400
