"""Why an accepted sample cannot be released, sample by sample; and how the ready ones fill the cells."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmark.findings import Finding, gettext_noop
from benchmark.framing import Parts
from benchmark.lengths import Lengths
from benchmark.metrics import Embedder
from benchmark.record import check_record
from release.collecting import Collected
from release.figures import NEVER_EMPTY, Filled, Targets, balance, listed_values, unmet


class Group(TextChoices):
    """What a release demands of every sample, in the order in which it is shown."""

    FIELDS = "fields", _("All fields present, of the listed values")
    BUCKET = "bucket", _("Token count inside the bucket")
    ANSWER = "answer", _("Answer scores 1.0 under its metric")
    PROMPTS = "prompts", _("Fixed prompt text byte-exact, right language")
    EXAMPLE = "example", _("Example differs from the answer")
    UNIQUE = "unique", _("Ids unique; no two samples with the same context and question")
    DOCUMENT = "document", _("Document approved")
    LABEL = "label", _("Difficulty label current")


GROUP_OF_CHECK = {
    "bucket": Group.BUCKET,
    "fixed_text": Group.PROMPTS,
    "prompts_differ": Group.PROMPTS,
    "parts_differ": Group.PROMPTS,
    "prompt_language": Group.PROMPTS,
    "id_twice": Group.UNIQUE,
    "same_question": Group.UNIQUE,
    "document_not_approved": Group.DOCUMENT,
    "no_label": Group.LABEL,
    "label_waits": Group.LABEL,
}


@dataclass(frozen=True)
class Reason:
    """One thing that keeps a sample out. `template` is English with `%(name)s` places, marked for translation."""

    check: str
    field: str
    template: str
    params: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def message(self) -> str:
        return gettext(self.template) % self.params

    @property
    def group(self) -> Group:
        if self.check in GROUP_OF_CHECK:
            return GROUP_OF_CHECK[self.check]
        if self.check.startswith("example"):
            return Group.EXAMPLE
        if self.field == "answer":
            return Group.ANSWER
        return Group.PROMPTS if self.field.startswith("question") else Group.FIELDS

    def to_json(self) -> dict[str, Any]:
        return {"check": self.check, "field": self.field, "template": self.template, "params": self.params}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Reason":
        return cls(row["check"], row["field"], row["template"], row["params"])


@dataclass(frozen=True)
class Verdict:
    """One accepted sample: ready when nothing speaks against it."""

    collected: Collected
    reasons: tuple[Reason, ...]

    @property
    def is_ready(self) -> bool:
        return not self.reasons

    @property
    def groups(self) -> list[Group]:
        return [group for group in Group if any(reason.group == group for reason in self.reasons)]


@dataclass(frozen=True)
class Counted:
    """One demand, and how many accepted samples do not meet it."""

    group: Group
    failing: int


@dataclass(frozen=True)
class Report:
    verdicts: tuple[Verdict, ...]
    lengths: Lengths

    @property
    def ready(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.is_ready]

    @property
    def left_out(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if not verdict.is_ready]

    def groups(self) -> list[Counted]:
        counter = Counter(group for verdict in self.verdicts for group in verdict.groups)
        return [Counted(group, counter[group]) for group in Group]

    def balance(self, targets: Targets) -> list[Filled]:
        return balance((verdict.collected.cell for verdict in self.ready), targets, self.lengths)

    def difficulties(self) -> dict[str, int]:
        counter = Counter(verdict.collected.difficulty for verdict in self.ready)
        return {name: counter[name] for name in listed_values(self.lengths)["difficulty"]}

    def without_samples(self) -> dict[str, list[str]]:
        """Listed values that no ready sample has, by dimension: the public evaluator's summary fails on these."""
        found = {}
        for name in NEVER_EMPTY:
            used = {getattr(verdict.collected.record, name) for verdict in self.ready}
            if absent := [value for value in listed_values(self.lengths)[name] if value not in used]:
                found[name] = absent
        return found


def judge(collected: Sequence[Collected], lengths: Lengths, *, embedder: Embedder | None = None) -> Report:
    """Judge every sample. Of ready samples with the same context and question the first one stays.

    Without `embedder` no model is loaded: a summary's example is then compared by its words alone.
    """
    verdicts, ids, questions = [], set[str](), set[tuple[str, str]]()
    for one in collected:
        reasons = list(_reasons(one, lengths, embedder))
        if not reasons:
            reasons = list(_repetition(one, ids, questions))
        verdicts.append(Verdict(one, tuple(reasons)))
    return Report(tuple(verdicts), lengths)


def _reasons(one: Collected, lengths: Lengths, embedder: Embedder | None) -> Iterator[Reason]:
    version, made = one.sample.document_version, one.standardization
    if not version.is_approved:
        yield Reason("document_not_approved", "context", gettext_noop("The document's version is not approved."))
    if made is None or one.record is None:
        yield Reason(
            "no_prompts", "", gettext_noop("There is no completed standardization of the sample as it is now.")
        )
        return
    yield from _label_reasons(one)
    if made.language != one.sample.document.language:
        template = gettext_noop("The prompts are in %(prompts)s, the document is in %(document)s.")
        params = {"prompts": made.language, "document": one.sample.document.language}
        yield Reason("prompt_language", "question_nonthinking", template, params)
        return
    found = check_record(one.record, parts=_parts(one), tokens=version.tokens, lengths=lengths, embedder=embedder)
    # A missing label was named above, in better words than an empty value's.
    yield from (_reason(finding) for finding in found if finding.is_error and finding.field != "difficulty")


def _parts(one: Collected) -> Parts:
    assert one.standardization is not None
    return one.standardization.parts


def _reason(finding: Finding) -> Reason:
    params = {name: value if isinstance(value, int | float) else str(value) for name, value in finding.params.items()}
    return Reason(finding.check, finding.field, finding.template, params)


def _label_reasons(one: Collected) -> Iterator[Reason]:
    if one.label is None:
        yield Reason(
            "no_label", "difficulty", gettext_noop("No difficulty label of prompts and answer as they are now.")
        )
    elif not one.label.difficulty and one.label.missing:
        template = gettext_noop("The difficulty label waits for answers of: %(models)s.")
        yield Reason("label_waits", "difficulty", template, {"models": ", ".join(one.label.missing)})
    elif not one.label.difficulty:
        yield Reason("label_waits", "difficulty", gettext_noop("The difficulty run has not finished."))


def _repetition(one: Collected, ids: set[str], questions: set[tuple[str, str]]) -> Iterator[Reason]:
    assert one.record is not None
    question = (one.sample.document_version.sha256, one.record.question_nonthinking)
    if one.record.id in ids:
        yield Reason("id_twice", "id", gettext_noop("Another sample has the same id."))
    if question in questions:
        template = gettext_noop("Another sample has the same context and question.")
        yield Reason("same_question", "question_nonthinking", template)
    ids.add(one.record.id)
    questions.add(question)


def cells_below(cells: Iterable[Filled]) -> list[dict[str, Any]]:
    """The unmet targets, for programs."""
    return [
        {
            "secondary_task": filled.cell.task,
            "language": filled.cell.language,
            "token_length": filled.cell.bucket,
            "samples": filled.samples,
            "target": filled.target,
        }
        for filled in unmet(cells)
    ]
