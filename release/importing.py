"""A release's files taken into an empty system, so that its samples are released again to the same bytes.

Documents, samples, prompts and labels are made anew from what the files say; the files themselves are not kept. No
decision is invented: the people of the provenance become accounts under their pseudonym that nobody can sign in to,
states are reached by moves of their own (`import_from_release`), and what the release told of a sample's making is kept
beside it, word for word.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Participation, Sample, Standardization
from annotation.workflow import Job, Strategy
from benchmark.framing import NotAPrompt, nonthinking_prompt, split_prompt, thinking_prompt
from benchmark.lengths import Lengths
from benchmark.record import Record, from_object
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core import history
from core.models import BenchmarkSettings, User, new_pseudonym
from core.refusals import Refused, RuleBroken
from core.workflow import Role
from documents.intake import prepare
from documents.models import Document, DocumentVersion
from documents.storing import Facts, checked_facts
from documents.workflow import Origin
from documents.writing import Next, write_versions
from release import formats
from release.figures import Targets
from release.models import DifficultyLabel, ImportedSample, Release, ReleaseImport
from release.queries import cell_targets
from release.verifying import verify

MOVE = "import_from_release"
# Samples written at a time.
BATCH = 100
TASK_CODES = {task.name: task.code for task in SECONDARY_TASKS}
# Who is told of, and as what the account is made: the first that fits.
ROLES = (
    (Role.LEAD, ("document_imported_by", "planned_by", "label_asked_by")),
    (Role.EXPERT, ("audited_by",)),
)


def import_release(folder: Path, *, by: User | None) -> ReleaseImport:
    """Take the release in `folder` over: all of it or nothing.

    RuleBroken `not_empty` when this system holds documents, samples or releases; `not_sound` when the folder does not
    verify (`faults` lists what is wrong where); `line_unfit` with the line when a sample cannot be made here.
    """
    refuse_filled_system()
    faults = [str(fault) for fault in verify(folder)]
    if faults:
        words = _("This is not a sound release, and nothing was imported: %(first)s") % {"first": faults[0]}
        raise RuleBroken(words, rule="not_sound", faults=faults)
    raw = (folder / formats.MANIFEST_FILE).read_bytes()
    with transaction.atomic():
        refuse_filled_system()
        return _Import(folder, json.loads(raw), hashlib.sha256(raw).hexdigest(), by).run()


def refuse_filled_system() -> None:
    held = {
        _("documents"): Document.objects.count(),
        _("samples"): Sample.objects.count(),
        _("releases"): Release.objects.count(),
    }
    if any(held.values()):
        words = _("A release is imported into an empty system only. This one holds: %(held)s. Nothing was imported.")
        named = ", ".join(f"{count} {name}" for name, count in held.items() if count)
        raise RuleBroken(words % {"held": named}, rule="not_empty")


@dataclass(frozen=True)
class _Line:
    number: int
    record: Record
    provenance: dict[str, Any]

    def moment(self, name: str) -> datetime | None:
        said = self.provenance["dates"].get(name)
        return datetime.strptime(said, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) if said else None

    def refusal(self, words: str) -> RuleBroken:
        where = _("%(file)s, line %(line)d (%(id)s)") % {
            "file": formats.JSONL_FILE,
            "line": self.number,
            "id": self.record.id,
        }
        return RuleBroken(f"{where}: {words}", rule="line_unfit", line=self.number)


@dataclass
class _Import:
    """One import under way. `documents` holds a version for each text, never the text."""

    folder: Path
    manifest: dict[str, Any]
    sha256: str
    by: User | None
    people: dict[str, User] = field(default_factory=dict)
    documents: dict[tuple[Any, ...], DocumentVersion] = field(default_factory=dict)
    pairs: dict[tuple[int, str], int] = field(default_factory=dict)

    def run(self) -> ReleaseImport:
        made = ReleaseImport.objects.create(
            version=self.manifest["version"], manifest=self.manifest, manifest_sha256=self.sha256, imported_by=self.by
        )
        lengths = self._settle_figures()
        self._add_people()
        lines = self._lines()
        while batch := list(islice(self._with_documents(lines, lengths), BATCH)):
            self._write(made, batch)
        history.record(
            "import_release",
            made,
            by=self.by,
            **self._origin,
            samples=len(self.pairs),
            documents=len(self.documents),
            people=len(self.people),
        )
        return made

    @property
    def _origin(self) -> dict[str, Any]:
        return {"version": self.manifest["version"], "manifest_sha256": self.sha256}

    @property
    def _reason(self) -> str:
        return f"{self.manifest['version']}, SHA-256 {self.sha256}"

    def _settle_figures(self) -> Lengths:
        """The release was made under these figures: its buckets and targets hold only with them."""
        lengths = formats.lengths_from_json(self.manifest["lengths"])
        figures = BenchmarkSettings.load()
        figures.targets, figures.unit = list(lengths.targets), lengths.unit
        figures.tolerance_percent = lengths.tolerance_percent
        targets = Targets.from_json(self.manifest["targets"])
        figures.samples_per_cell = targets.per_cell
        figures.save()
        cell_targets().all().delete()
        for cell, target in targets.exceptions.items():
            cell_targets().create(
                task_code=TASK_CODES[cell.task], language=cell.language, bucket=cell.bucket, target=target
            )
        history.record(MOVE, figures, by=self.by, **self._origin)
        return lengths

    # People

    def _add_people(self) -> None:
        found: dict[str, str] = {}
        with (self.folder / formats.PROVENANCE_FILE).open("rb") as file:
            for line in file:
                for place, pseudonym in _people(json.loads(line), ""):
                    found[pseudonym] = max(found.get(pseudonym, ""), _role(place), key=_RANK.index)
        self.people = {one.pseudonym: one for one in User.objects.filter(pseudonym__in=found)}
        for pseudonym in sorted(set(found) - set(self.people)):
            self.people[pseudonym] = self._add_person(pseudonym, found[pseudonym])

    def _add_person(self, pseudonym: str, role: str) -> User:
        """An account that stands for somebody elsewhere: nobody can sign in to it."""
        person = User.objects.create(
            username=pseudonym, pseudonym=pseudonym, role=role, is_active=False, password=make_password(None)
        )
        history.record(MOVE, person, by=self.by, **self._origin)
        return person

    def _person(self, pseudonym: str | None) -> User | None:
        return self.people[pseudonym] if pseudonym else None

    def _somebody(self, pseudonym: str | None) -> User:
        """Where a person must stand and the release names none: an account of their own, the same for all."""
        if pseudonym is None and "" not in self.people:
            self.people[""] = self._add_person(new_pseudonym(), Role.ANNOTATOR)
        return self.people[pseudonym or ""]

    # Reading

    def _lines(self) -> Iterator[_Line]:
        """Every sample. The files are measured once more while they are read: they must be those that were verified."""
        listed = {row["name"]: row["sha256"] for row in self.manifest["files"]}
        names = (formats.JSONL_FILE, formats.PROVENANCE_FILE)
        digests = [hashlib.sha256() for _name in names]
        with ExitStack() as stack:
            files = [stack.enter_context((self.folder / name).open("rb")) for name in names]
            for number, raw in enumerate(zip(*files, strict=True), 1):
                for digest, line in zip(digests, raw, strict=True):
                    digest.update(line)
                yield _Line(number, from_object(json.loads(raw[0])), json.loads(raw[1]))
        for name, digest in zip(names, digests, strict=True):
            if digest.hexdigest() != listed[name]:
                words = _("%(file)s changed while it was read. Nothing was imported.")
                raise RuleBroken(words % {"file": name}, rule="not_sound", faults=[])

    def _with_documents(self, lines: Iterator[_Line], lengths: Lengths) -> Iterator[tuple[_Line, DocumentVersion]]:
        for line in lines:
            version = self._version(line, lengths)
            first = self.pairs.setdefault((version.document_id, line.record.secondary_task), line.number)
            if first != line.number:
                words = _("The document carries this task on line %(line)d already.")
                raise line.refusal(words % {"line": first})
            if len(line.record.id) > _ID_LENGTH:
                raise line.refusal(_("The id is longer than %(limit)d characters.") % {"limit": _ID_LENGTH})
            # The text is written by now: the lines of a batch are held without it.
            yield _Line(line.number, _without_text(line.record), line.provenance), version

    # Documents

    def _version(self, line: _Line, lengths: Lengths) -> DocumentVersion:
        """The text once, however many samples it carries; the same text with other facts is another document."""
        source = line.provenance["source"]
        key = tuple(sorted((name, str(value)) for name, value in source.items()))
        if key not in self.documents:
            try:
                self.documents[key] = self._add_document(line, source, lengths)
            except Refused as refusal:
                raise line.refusal(str(refusal)) from refusal
        return self.documents[key]

    def _add_document(self, line: _Line, source: dict[str, Any], lengths: Lengths) -> DocumentVersion:
        people = line.provenance["people"]
        facts = checked_facts(
            Facts(
                title=source["title"],
                language=line.record.language,
                domain=source["domain"],
                format=source["format"],
                multi=source["several_documents"],
                licence=source["licence"],
                source_url=source["url"],
            )
        )
        document = Document.objects.create(
            **facts.__dict__,
            imported_at=line.moment("document_imported") or timezone.now(),
            imported_by=self._person(people["document_imported_by"]),
        )
        prepared = prepare(line.record.context, lengths=lengths, language=facts.language)
        origin = Origin(source["origin"])
        (version,) = write_versions(
            [Next(document, source["version"], prepared, origin, self._reason, "utf-8", self._origin)], self.by
        )
        document.latest = version
        document.save(update_fields=["latest"])
        decided: dict[str, Any] = {}
        if people["document_cleared_by"] and line.moment("document_cleared"):
            decided = {
                "decided_by": self._person(people["document_cleared_by"]),
                "decided_at": line.moment("document_cleared"),
            }
        return history.advance(version, MOVE, by=self.by, reason=self._reason, also=decided, **self._origin)

    # Samples

    def _write(self, made: ReleaseImport, batch: list[tuple[_Line, DocumentVersion]]) -> None:
        lines = [line for line, _version in batch]
        samples = Sample.objects.bulk_create(self._sample(line, version) for line, version in batch)
        numbers = {sample.public_id: line.number for sample, line in zip(samples, lines, strict=True)}
        history.advance_all(
            samples,
            MOVE,
            by=self.by,
            reason=self._reason,
            data=lambda sample: {**self._origin, "line": numbers[sample.public_id]},
        )
        standardizations = Standardization.objects.bulk_create(
            self._standardization(line, sample) for line, sample in zip(lines, samples, strict=True)
        )
        DifficultyLabel.objects.bulk_create(
            self._label(line, sample, prompts)
            for line, sample, prompts in zip(lines, samples, standardizations, strict=True)
        )
        Participation.objects.bulk_create(
            Participation(sample=sample, person=self.people[pseudonym], job=job)
            for line, sample in zip(lines, samples, strict=True)
            for pseudonym, job in _jobs(line.provenance).items()
        )
        ImportedSample.objects.bulk_create(
            ImportedSample(release_import=made, sample=sample, provenance=line.provenance)
            for line, sample in zip(lines, samples, strict=True)
        )

    def _sample(self, line: _Line, version: DocumentVersion) -> Sample:
        people = line.provenance["people"]
        return Sample(
            public_id=line.record.id,
            document_id=version.document_id,
            document_version=version,
            task_code=TASK_CODES[line.record.secondary_task],
            strategy=Strategy(line.provenance["strategy"]),
            created_at=line.moment("planned") or timezone.now(),
            created_by=self._person(people["planned_by"]),
            annotator=self._person(people["verified_by"]),
            round=line.provenance["rounds"],
        )

    def _standardization(self, line: _Line, sample: Sample) -> Standardization:
        record, language = line.record, Language(line.record.language)
        try:
            parts = split_prompt(language, record.question_nonthinking, False)
        except NotAPrompt as fault:
            raise line.refusal(str(fault)) from fault
        if (nonthinking_prompt(parts), thinking_prompt(parts)) != (
            record.question_nonthinking,
            record.question_thinking,
        ):
            raise line.refusal(_("The prompts cannot be made again from their parts."))
        person = self._somebody(line.provenance["people"]["standardized_by"])
        at = line.moment("standardized") or timezone.now()
        return Standardization(
            sample=sample,
            number=1,
            round=sample.round,
            document_version_id=sample.document_version_id,
            language=record.language,
            task_description=parts.task_description,
            elements=parts.elements,
            supplementary=parts.supplementary,
            example=list(parts.example),
            answer=list(record.answer),
            question_nonthinking=record.question_nonthinking,
            question_thinking=record.question_thinking,
            saved_at=at,
            saved_by=person,
            completed_at=at,
            completed_by=person,
        )

    def _label(self, line: _Line, sample: Sample, standardization: Standardization) -> DifficultyLabel:
        at = line.moment("labelled") or timezone.now()
        return DifficultyLabel(
            sample=sample,
            standardization=standardization,
            runs_per_model=line.provenance["difficulty"]["runs_per_model"],
            right=line.provenance["difficulty"]["right"],
            difficulty=line.record.difficulty,
            labelled_at=at,
            asked_at=at,
            asked_by=self._person(line.provenance["people"]["label_asked_by"]),
        )


_ID_LENGTH = Sample._meta.get_field("public_id").max_length or 0
_RANK = ["", Role.ANNOTATOR.value, Role.EXPERT.value, Role.LEAD.value]


def _without_text(record: Record) -> Record:
    return Record(**{**vars(record), "context": ""})


def _people(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every pseudonym of a provenance line, with the name it stands under."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if (name == "by" or name.endswith("_by")) and isinstance(inner, str):
                yield f"{place}.{name}", inner
            yield from _people(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _people(inner, place)


def _role(place: str) -> str:
    parent, name = place.rsplit(".", 1)
    if parent in {"adjudication", "quality"}:
        return Role.EXPERT.value
    if parent == formats.IMPORTED:
        return Role.LEAD.value
    return next((role.value for role, names in ROLES if name in names), Role.ANNOTATOR.value)


def _jobs(provenance: dict[str, Any]) -> dict[str, Job]:
    """What each person was to the sample; nobody was two things."""
    jobs: dict[str, Job] = {}
    if verified := provenance["people"]["verified_by"]:
        jobs[verified] = Job.VERIFIES
    for case in provenance["reviews"]:
        for review in case["reviews"]:
            jobs.setdefault(review["by"], Job.REVIEWS)
        if case["adjudication"] and case["adjudication"]["by"]:
            jobs.setdefault(case["adjudication"]["by"], Job.JUDGES)
    for audit in provenance["audits"]:
        if audit["audited_by"]:
            jobs.setdefault(audit["audited_by"], Job.JUDGES)
    return jobs
