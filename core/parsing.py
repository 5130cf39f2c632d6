"""The body of a request of a program. A body that cannot be taken apart is the sender's fault, and said."""

from json import JSONDecodeError
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

LARGEST = 2**63


class JsonBody(JSONParser):
    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            body = super().parse(*args, **kwargs)
        except ParseError as error:
            raise ParseError(_fault_in_words(error.__context__)) from None
        except RecursionError:
            raise ParseError(_("The JSON is nested deeper than any request needs.")) from None
        if _holds_a_huge_number(body):
            raise ParseError(_("A whole number is larger than any that is stored (64 bits)."))
        return body


def _holds_a_huge_number(value: Any) -> bool:
    """No database has such a number: it is refused here, and not by each of them in its own way."""
    if isinstance(value, int):
        return not -LARGEST <= value < LARGEST
    if isinstance(value, dict):
        return any(_holds_a_huge_number(item) for item in value.values())
    return isinstance(value, list) and any(_holds_a_huge_number(item) for item in value)


def _fault_in_words(fault: BaseException | None) -> str:
    if isinstance(fault, JSONDecodeError):
        return _("Line %(line)s: not valid JSON at character %(at)s.") % {"line": fault.lineno, "at": fault.colno}
    return _("The body is not valid JSON in UTF-8.")
