"""The body of a request of a program. A body that cannot be taken apart is the sender's fault, and said."""

from json import JSONDecodeError
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class JsonBody(JSONParser):
    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().parse(*args, **kwargs)
        except ParseError as error:
            raise ParseError(_fault_in_words(error.__context__)) from None
        except RecursionError:
            raise ParseError(_("The JSON is nested deeper than any request needs.")) from None


def _fault_in_words(fault: BaseException | None) -> str:
    if isinstance(fault, JSONDecodeError):
        return _("Line %(line)s: not valid JSON at character %(at)s.") % {"line": fault.lineno, "at": fault.colno}
    return _("The body is not valid JSON in UTF-8.")
