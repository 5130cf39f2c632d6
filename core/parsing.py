"""The body of a request of a program. A body that cannot be taken apart is the sender's fault, and said."""

from json import JSONDecodeError
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from core.refusals import Invalid

LARGEST = 2**63


class JsonBody(JSONParser):
    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            body = super().parse(*args, **kwargs)
        except ParseError as error:
            raise ParseError(_fault_in_words(error.__context__)) from None
        except RecursionError:
            raise ParseError(_("The JSON is nested deeper than any request needs.")) from None
        place = _huge_number_in(body)
        if place is not None:
            raise Invalid({place or "detail": _("A whole number is larger than any that is stored (64 bits).")})
        return body


def _huge_number_in(value: Any, place: str = "") -> str | None:
    """Where it stands. No database has such a number: it is refused here, and not by each of them in its own way."""
    if isinstance(value, int) and not -LARGEST <= value < LARGEST:
        return place
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inside:
        found = _huge_number_in(item, f"{place}.{name}" if place else str(name))
        if found is not None:
            return found
    return None


def _fault_in_words(fault: BaseException | None) -> str:
    if isinstance(fault, JSONDecodeError):
        return _("Line %(line)s: not valid JSON at character %(at)s.") % {"line": fault.lineno, "at": fault.colno}
    return _("The body is not valid JSON in UTF-8.")
