"""One thing a check has found, how it is worded, and the change that would mend it."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


def gettext_noop(text: str) -> str:
    """Mark a finding's wording for the message catalogue and hand it back unchanged."""
    return text


class Severity(StrEnum):
    """An error stops a form from being completed; a hint is only shown."""

    ERROR = "error"
    HINT = "hint"


@dataclass(frozen=True)
class Repair:
    """A change that mends a finding: the code points `start` to `end` (half-open) of `field` become `text`.

    `template` and `params` word what it does, as in `Finding`.
    """

    template: str
    field: str
    start: int
    end: int
    text: str
    params: dict[str, object] = dataclasses.field(default_factory=dict)

    def applied(self, to: str) -> str:
        return to[: self.start] + self.text + to[self.end :]


@dataclass(frozen=True)
class Finding:
    """What one check says about one field.

    `check` is a stable slug for programs. `template` is the English wording with `%(name)s` places, so that the web
    layer can show `gettext(finding.template) % finding.params`; a literal per cent sign in it is doubled. `start` and
    `end` are code points in the field's text (half-open), both None when the finding is about the whole field.
    """

    check: str
    severity: Severity
    field: str
    template: str
    params: dict[str, object] = dataclasses.field(default_factory=dict)
    start: int | None = None
    end: int | None = None
    repair: Repair | None = None

    @property
    def message(self) -> str:
        return self.template % self.params

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def with_repair(self, repair: Repair | None) -> "Finding":
        return dataclasses.replace(self, repair=repair)


def error(
    check: str,
    field: str,
    template: str,
    *,
    start: int | None = None,
    end: int | None = None,
    repair: Repair | None = None,
    **params: object,
) -> Finding:
    """An error finding; `template` is already marked with gettext_noop where it is written."""
    return Finding(check, Severity.ERROR, field, template, params, start, end, repair)


def hint(
    check: str,
    field: str,
    template: str,
    *,
    start: int | None = None,
    end: int | None = None,
    repair: Repair | None = None,
    **params: object,
) -> Finding:
    """The same as a hint."""
    return Finding(check, Severity.HINT, field, template, params, start, end, repair)


def errors(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_error]
