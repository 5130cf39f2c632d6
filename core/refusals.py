"""How an action says no. The page shows it, the API answers it as a problem (RFC 9457), a command prints it.

`rule` is a stable name for programs, the message is for people: what, where, and what to do.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise

Words = str | Promise


class Refused(Exception):
    """An action did not happen. Nothing was changed."""

    status = 422
    rule = "refused"

    def __init__(self, message: Words, *, rule: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.rule = rule or type(self).rule
        self.details = details

    def __str__(self) -> str:
        return str(self.message)


class NotAllowed(Refused):
    """This person may not do this (403)."""

    status = 403
    rule = "not_allowed"


class Conflict(Refused):
    """The record moved, or somebody else was faster (409). `details` carries the state it is in now."""

    status = 409
    rule = "conflict"


class RuleBroken(Refused):
    """A rule of the pipeline forbids it (422); `rule` names which."""

    status = 422
    rule = "rule_broken"


class Invalid(Refused):
    """A field is wrong (400). `errors` maps a field's name to what is wrong in it."""

    status = 400
    rule = "invalid"

    def __init__(
        self,
        errors: Mapping[str, Words | list[Words]],
        message: Words = "",
        *,
        rule: str = "",
    ) -> None:
        self.errors: dict[str, list[Words]] = {
            field: list(words) if isinstance(words, list) else [words] for field, words in errors.items()
        }
        first = next(iter(self.errors.values()))[0] if self.errors else ""
        super().__init__(message or first, rule=rule)
