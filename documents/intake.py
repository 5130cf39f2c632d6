"""One text on its way in: measured, looked at, refused where it cannot be taken. Nothing here touches the database."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from benchmark.lengths import Lengths
from benchmark.taxonomy import Language
from core.refusals import RuleBroken
from documents.findings import PERSONAL, Finding
from documents.languages import Group
from documents.passages import Mark
from documents.pooling import Measured, measure

MIB = 1024 * 1024
MAX_BYTES = 16 * MIB


@dataclass(frozen=True)
class Remark:
    """Why a person should look twice. `count` and `position` (code points) where they say something."""

    rule: str
    count: int = 0
    position: int | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "count": self.count, "position": self.position, **self.more}


@dataclass(frozen=True)
class Measure:
    sha256: str
    chars: int
    bytes: int
    tokens: int
    bucket: str


@dataclass(frozen=True)
class Prepared:
    """A text ready to be stored."""

    text: str
    gzipped: bytes
    measure: Measure
    normalisation: dict[str, int]
    remarks: tuple[Remark, ...]
    language: Language
    encoding: str = "utf-8"
    findings: tuple[Finding, ...] = ()
    marks: tuple[Mark, ...] = ()


def too_large(size: int) -> RuleBroken:
    return RuleBroken(
        _("Too large: %(size)s bytes of text; at most %(limit)s (16 MiB) are taken.")
        % {"size": size, "limit": MAX_BYTES},
        rule="too_large",
    )


def refuse_unfit(text: str) -> None:
    """Refuse the empty, the too large, and lone surrogates (half a character)."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise RuleBroken(
            _("Character %(position)s is half of a surrogate pair, which no text may hold.")
            % {"position": error.start},
            rule="encoding",
            position=error.start,
        ) from None
    if not text or text.isspace():
        raise RuleBroken(_("The text is empty, or only white space."), rule="empty")
    if size > MAX_BYTES:
        raise too_large(size)


def prepare(
    text: str,
    *,
    lengths: Lengths,
    language: str = "",
    normalisation: dict[str, int] | None = None,
    encoding: str = "utf-8",
    measured: Measured | None = None,
) -> Prepared:
    """A normalised text with all that is known of it. Refuses what `refuse_unfit` refuses, unless it was measured."""
    if measured is None:
        refuse_unfit(text)
        measured = measure(text)
    chosen, remarks = _language(measured, language)
    return Prepared(
        text=text,
        gzipped=measured.gzipped,
        measure=Measure(
            sha256=measured.sha256,
            chars=measured.chars,
            bytes=measured.bytes,
            tokens=measured.tokens,
            bucket=lengths.bucket_of(measured.tokens) or "",
        ),
        normalisation=normalisation or {},
        remarks=(*remarks_on(measured), *remarks),
        language=chosen,
        encoding=encoding,
        findings=measured.findings,
        marks=measured.marks,
    )


def _language(measured: Measured, named: str) -> tuple[Language, list[Remark]]:
    found = measured.characters.language
    chosen = Language(named) if named else found.language
    if not found.sure:
        return chosen, [Remark("language_unsure")]
    if chosen != found.language:
        return chosen, [Remark("language_differs", more={"found": found.language.value})]
    return chosen, []


def remarks_on(measured: Measured) -> list[Remark]:
    characters = measured.characters
    remarks = [
        Remark(rule, characters.counts[group], characters.first[group])
        for rule, group in (("bidi", Group.BIDI), ("invisible", Group.INVISIBLE))
        if characters.counts[group]
    ]
    personal = Counter(finding.kind.value for finding in measured.findings if finding.kind in PERSONAL)
    if personal:
        remarks.append(Remark("personal_data", personal.total(), more={"kinds": dict(personal)}))
    return remarks
