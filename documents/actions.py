"""What can be done with a document, and by whom.

* Leads bring documents in, correct what is recorded about them, and make new texts of them: trimmed, joined, revised.
* Compliance is cleared by a person, whatever their role: annotator, expert or lead. It is no stage work on a sample,
  so the rule that leads do none does not touch it, and a lead who brought a text in may clear it: what counts is that
  a person looked, and who it was. To take a decision back (withdraw an approval, approve what was rejected) is for
  experts and leads.

`by=None` is the system: a command on the machine itself.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, NotAllowed, Refused, RuleBroken
from core.text import clean_text
from documents import intake, queries
from documents.cutting import joined, trimmed
from documents.intake import Prepared
from documents.models import Document, DocumentText, DocumentVersion
from documents.normalising import normalise
from documents.tokenizing import TOKENIZER_NAME
from documents.unpacking import Piece
from documents.workflow import Flag, Origin, VersionState

MAX_NOTE = 10_000
CORRECTABLE = ("title", "language", "domain", "format", "multi", "licence", "source_url")


# Who may ----------------------------------------------------------------------------------------------------------


def can_import_document(user: User | None) -> bool:
    return user is None or user.is_lead


def can_correct_document(user: User | None, document: Document) -> bool:
    return user is None or user.is_lead


def can_revise_document(user: User | None, document: Document) -> bool:
    """Experts too: they order a document's reconstruction, and whoever carries it out acts in their name."""
    return user is None or user.is_lead or user.does_stage_work


def can_trim_document(user: User | None, document: Document) -> bool:
    return user is None or user.is_lead


def can_join_documents(user: User | None) -> bool:
    return user is None or user.is_lead


def can_approve_version(user: User, version: DocumentVersion) -> bool:
    return user.is_active and (version.state == VersionState.PENDING or not user.is_annotator)


def can_reject_version(user: User, version: DocumentVersion) -> bool:
    return can_approve_version(user, version)


def _refuse_unless(allowed: bool) -> None:
    if not allowed:
        raise NotAllowed(_("This is not for your role to do."))


# Bringing in ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Facts:
    """What is recorded about a document beside its text. An empty language is found from the script."""

    title: str = ""
    language: str = ""
    domain: str = ""
    format: str = ""
    multi: bool = False
    licence: str = ""
    source_url: str = ""

    def over(self, **others: Any) -> "Facts":
        """These facts, with `others` where they say something: a line of JSONL wins over the batch it came in."""
        return Facts(**{**self.__dict__, **{name: value for name, value in others.items() if value != ""}})


@dataclass(frozen=True)
class Report:
    """What became of one file of a batch. `status`: accepted, flagged (taken, look twice) or refused."""

    path: str
    status: str
    reason: str = ""
    rule: str = ""
    position: int | None = None
    version: DocumentVersion | None = None
    normalisation: tuple[str, ...] = ()
    duplicate_of: int | None = None


def import_document(
    *,
    data: bytes,
    file_name: str,
    by: User | None,
    language: str = "",
    title: str = "",
    domain: str = "",
    format: str = "",
    multi: bool = False,
    licence: str = "",
    source_url: str = "",
    encoding: str = "",
) -> DocumentVersion:
    """One file becomes one document, waiting for compliance.

    Raises RuleBroken `empty`, `too_large`, `encoding`, `type_mismatch`, `unsupported_format` or `duplicate`.
    """
    _refuse_unless(can_import_document(by))
    facts = Facts(title, language, domain, format, multi, licence, source_url)
    return _import_file(data, file_name, facts, encoding, by)


def paste_document(
    *,
    text: str,
    title: str,
    by: User | None,
    language: str = "",
    domain: str = "",
    format: str = "",
    multi: bool = False,
    licence: str = "",
    source_url: str = "",
) -> DocumentVersion:
    """A typed or pasted text, or one sent as JSON, becomes one document, waiting for compliance."""
    _refuse_unless(can_import_document(by))
    facts = Facts(title, language, domain, format, multi, licence, source_url)
    return _import_text(text, facts, by, origin=Origin.PASTE)


def import_pieces(
    *, pieces: Iterable[Piece], by: User | None, facts: Facts | None = None, encoding: str = ""
) -> Iterator[Report]:
    """Every piece by itself: what is refused is reported with its reason and place, and the others go in."""
    _refuse_unless(can_import_document(by))
    for piece in pieces:
        yield _take_in(piece, facts or Facts(), encoding, by)


def _take_in(piece: Piece, facts: Facts, encoding: str, by: User | None) -> Report:
    try:
        if piece.refusal is not None:
            raise piece.refusal
        if piece.text is not None:
            version = _import_text(piece.text, facts.over(**piece.facts), by, origin=Origin.IMPORT, path=piece.path)
        else:
            version = _import_file(piece.data or b"", piece.path, facts, encoding, by)
    except Refused as refusal:
        return Report(
            piece.path,
            "refused",
            reason=str(refusal.message),
            rule=refusal.rule,
            position=refusal.details.get("position"),
            duplicate_of=refusal.details.get("document"),
        )
    words = [intake.remark_in_words(remark) for remark in version.remarks]
    if not version.bucket:
        distance = intake.distance_in_words(version.tokens, BenchmarkSettings.load().lengths)
        words.append(_("no bucket: %(distance)s") % {"distance": distance})
    return Report(
        piece.path,
        "flagged" if words else "accepted",
        reason="; ".join(words),
        version=version,
        normalisation=tuple(intake.normalisation_in_words(version.normalisation)),
    )


def _import_file(data: bytes, file_name: str, facts: Facts, encoding: str, by: User | None) -> DocumentVersion:
    text, found, counts = intake.read_file(data, file_name=file_name, encoding=encoding)
    name = PurePosixPath(file_name.replace("\\", "/")).stem
    facts = facts.over(title=facts.title or name, format=facts.format or intake.format_of(file_name))
    return _store_document(text, facts, by, origin=Origin.IMPORT, counts=counts, encoding=found)


def _import_text(text: str, facts: Facts, by: User | None, *, origin: Origin, path: str = "") -> DocumentVersion:
    normalised = normalise(text)
    title = facts.title or PurePosixPath(path.replace("\\", "/")).name or _beginning(normalised.text)
    return _store_document(normalised.text, facts.over(title=title), by, origin=origin, counts=normalised.counts)


def _beginning(text: str) -> str:
    return next((line.strip()[:80] for line in text.splitlines() if line.strip()), "")


def _store_document(
    text: str,
    facts: Facts,
    by: User | None,
    *,
    origin: Origin,
    counts: dict[str, int] | None = None,
    encoding: str = "utf-8",
    reason: str = "",
    **data: Any,
) -> DocumentVersion:
    intake.refuse_unfit(text)
    facts = _checked(facts)
    prepared = intake.prepare(
        text,
        lengths=BenchmarkSettings.load().lengths,
        language=facts.language,
        normalisation=counts,
        encoding=encoding,
    )
    _refuse_duplicate(prepared.measure.sha256)
    try:
        with transaction.atomic():
            document = Document.objects.create(
                **{**facts.__dict__, "language": prepared.language.value}, imported_by=by
            )
            version = _store_version(document, prepared, by, origin=origin, reason=reason, encoding=encoding, **data)
    except IntegrityError:
        # Somebody stored the same text between the look and the write.
        _refuse_duplicate(prepared.measure.sha256)
        raise
    return version


def _checked(facts: Facts) -> Facts:
    cleaned = {name: _one_line(value) for name, value in facts.__dict__.items() if isinstance(value, str)}
    cleaned["title"] = cleaned["title"][:300]
    cleaned["language"] = _language(cleaned["language"])
    errors: dict[str, Any] = {}
    if not cleaned["title"]:
        errors["title"] = _("Give it a title.")
    for name, limit in {"domain": 60, "format": 60, "licence": 300, "source_url": 2000}.items():
        if len(cleaned[name]) > limit:
            errors[name] = _("At most %(limit)s characters.") % {"limit": limit}
    if errors:
        raise Invalid(errors)
    return Facts(multi=bool(facts.multi), **cleaned)


def _one_line(value: str) -> str:
    return " ".join(clean_text(value).split())


LANGUAGE_NAMES = {
    **{language.value.lower(): language.value for language in Language},
    "en": Language.ENGLISH.value,
    "zh": Language.CHINESE.value,
    "zh-hans": Language.CHINESE.value,
    "": "",
}


def _language(name: str) -> str:
    try:
        return LANGUAGE_NAMES[name.lower()]
    except KeyError:
        raise Invalid({"language": _("The language is English or Chinese.")}) from None


def _refuse_duplicate(sha256: str, *, except_for: Document | None = None) -> None:
    first = queries.versions_with([sha256]).get(sha256)
    if first is None or first.document == except_for:
        return
    raise RuleBroken(
        _("The same text is there already: “%(title)s” (document %(number)s).")
        % {"title": first.document.title, "number": first.document_id},
        rule="duplicate",
        document=first.document_id,
    )


def _store_version(
    document: Document,
    prepared: Prepared,
    by: User | None,
    *,
    origin: Origin,
    reason: str = "",
    encoding: str = "utf-8",
    **data: Any,
) -> DocumentVersion:
    """The next version of the document, its text beside it, and the line in the audit trail."""
    latest = document.latest
    version = DocumentVersion.objects.create(
        document=document,
        number=latest.number + 1 if latest else 1,
        origin=origin,
        **prepared.measure.__dict__,
        tokenizer=TOKENIZER_NAME,
        normalisation=prepared.normalisation,
        remarks=[remark.as_json() for remark in prepared.remarks],
        made_by=by,
        made_reason=reason,
    )
    DocumentText.objects.create(version=version, text=prepared.text, gzipped=prepared.gzipped)
    moved = Document.objects.filter(pk=document.pk, latest=latest).update(latest=version)
    if not moved:
        raise _newer_version()
    document.latest = version
    history.record(
        f"make_version_by_{origin}",
        version,
        by=by,
        reason=reason,
        document=document.pk,
        sha256=version.sha256,
        tokens=version.tokens,
        bucket=version.bucket,
        encoding=encoding,
        **data,
    )
    return version


def _newer_version() -> Conflict:
    return Conflict(_("The document has a newer text by now. Reload to see it."), rule="stale_version")


# Compliance -------------------------------------------------------------------------------------------------------


def approve_version(*, version: DocumentVersion, by: User, note: str = "") -> DocumentVersion:
    """Clear this text for use. Only this version: another text of the document needs a look of its own."""
    _refuse_unless(can_approve_version(by, version))
    return _decide(version, "approve", by, flags=[], note=_checked_note(note))


def reject_version(*, version: DocumentVersion, flags: Sequence[str], note: str, by: User) -> DocumentVersion:
    """Refuse this text with at least one flag and a note. On an approved version this withdraws the approval: nothing
    more of it reaches a model, calls that wait included (`generation` asks again before it sends)."""
    _refuse_unless(can_reject_version(by, version))
    errors: dict[str, Any] = {}
    chosen = [flag for flag in Flag.values if flag in set(flags)]
    if not chosen or set(flags) - set(Flag.values):
        errors["flags"] = _("Choose at least one: privacy, copyright or other.")
    note = _checked_note(note)
    if not note:
        errors["note"] = _("Say why: the note is kept with the decision.")
    if errors:
        raise Invalid(errors)
    return _decide(version, "reject", by, flags=chosen, note=note)


def _checked_note(note: str) -> str:
    note = clean_text(note).strip()
    if len(note) > MAX_NOTE:
        raise Invalid({"note": _("At most %(limit)s characters.") % {"limit": MAX_NOTE}})
    return note


@transaction.atomic
def _decide(version: DocumentVersion, move: str, by: User, *, flags: list[str], note: str) -> DocumentVersion:
    history.advance(version, move, by=by, reason=note, flags=flags, sha256=version.sha256)
    version.flags, version.note = flags, note
    version.decided_by, version.decided_at = by, timezone.now()
    version.save(update_fields=["flags", "note", "decided_by", "decided_at"])
    return version


# Changing ---------------------------------------------------------------------------------------------------------


def revise_document(
    *, document: Document, text: str, reason: str, by: User | None, based_on: int | None = None
) -> DocumentVersion:
    """A new text, which waits for compliance. `based_on` is the number of the version that was edited."""
    _refuse_unless(can_revise_document(by, document))
    latest = _latest(document, based_on)
    reason = _checked_note(reason)
    if not reason:
        raise Invalid({"reason": _("Say why the text changes.")})
    normalised = normalise(text)
    return _next_version(latest, normalised.text, by, Origin.REVISION, reason, normalised.counts)


def trim_document(
    *, document: Document, by: User | None, tokens: int | None = None, bucket: str = "", reason: str = ""
) -> DocumentVersion:
    """Cut the text behind the last paragraph that fits: into `tokens`, or into the target of `bucket`."""
    _refuse_unless(can_trim_document(by, document))
    latest = _latest(document)
    limit = _limit(latest, tokens, bucket)
    text = trimmed(queries.text_of(latest), limit)
    if text is None:
        raise RuleBroken(_("Not one whole paragraph fits into %(n)s tokens.") % {"n": limit}, rule="no_paragraph_fits")
    return _next_version(latest, text, by, Origin.TRIM, _checked_note(reason), {}, at_most=limit)


def _limit(latest: DocumentVersion, tokens: int | None, bucket: str) -> int:
    lengths = BenchmarkSettings.load().lengths
    field = "tokens"
    if bucket:
        field = "bucket"
        if bucket not in lengths.names():
            raise Invalid({"bucket": _("There is no such bucket. There are: %s.") % ", ".join(lengths.names())})
        tokens = lengths.unit * int(bucket.removesuffix("k"))
    if tokens is None or tokens < 1:
        raise Invalid({"tokens": _("Say to how many tokens, or into which bucket.")})
    if tokens >= latest.tokens:
        raise Invalid({field: _("The text has only %(n)s tokens: there is nothing to trim.") % {"n": latest.tokens}})
    return tokens


def join_documents(*, documents: Sequence[Document], title: str, by: User | None, reason: str = "") -> DocumentVersion:
    """Several documents in one, each under a visible heading with its title. The parts stay as they are."""
    _refuse_unless(can_join_documents(by))
    if len({document.pk for document in documents}) < 2 or len(documents) != len({d.pk for d in documents}):
        raise Invalid({"documents": _("Choose at least two documents, each once.")})
    if len({document.language for document in documents}) > 1:
        raise Invalid({"documents": _("Only documents in one language can be joined.")})
    latest = [_latest(document) for document in documents]
    text = joined([(version.document.title, queries.text_of(version)) for version in latest])
    facts = Facts(
        title=title,
        language=documents[0].language,
        domain=_shared([document.domain for document in documents]),
        format=_shared([document.format for document in documents]),
        multi=True,
        licence=_each_once([document.licence for document in documents])[:300],
        source_url=_shared([document.source_url for document in documents]),
    )
    parts = [version.pk for version in latest]
    return _store_document(text, facts, by, origin=Origin.JOIN, reason=_checked_note(reason), parts=parts)


def _shared(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else ""


def _each_once(values: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(value for value in values if value))


def _latest(document: Document, based_on: int | None = None) -> DocumentVersion:
    latest = DocumentVersion.objects.select_related("document").filter(document=document).order_by("-number").first()
    if latest is None:
        raise RuleBroken(_("This document has no text."), rule="no_text")
    if based_on is not None and based_on != latest.number:
        raise _newer_version()
    return latest


def _next_version(
    latest: DocumentVersion,
    text: str,
    by: User | None,
    origin: Origin,
    reason: str,
    counts: dict[str, int],
    **data: Any,
) -> DocumentVersion:
    document = latest.document
    prepared = intake.prepare(
        text, lengths=BenchmarkSettings.load().lengths, language=document.language, normalisation=counts
    )
    if prepared.measure.sha256 == latest.sha256:
        raise RuleBroken(_("The text is the same as before."), rule="unchanged")
    _refuse_duplicate(prepared.measure.sha256, except_for=document)
    document.latest = latest
    try:
        with transaction.atomic():
            return _store_version(document, prepared, by, origin=origin, reason=reason, made_from=latest.pk, **data)
    except IntegrityError:
        raise _newer_version() from None


def correct_document(*, document: Document, version: int, by: User | None, **facts: Any) -> Document:
    """Correct what is recorded: any of title, language, domain, format, multi, licence, source_url.

    `version` is the document's own (`Document.version`), as the form showed it.
    """
    _refuse_unless(can_correct_document(by, document))
    unknown = set(facts) - set(CORRECTABLE)
    if unknown:
        raise Invalid({name: _("This cannot be corrected.") for name in sorted(unknown)})
    before = {name: getattr(document, name) for name in CORRECTABLE}
    after = _checked(Facts(**{**before, **facts})).__dict__
    if not after["language"]:
        raise Invalid({"language": _("The language is English or Chinese.")})
    changed = {name: [before[name], after[name]] for name in CORRECTABLE if before[name] != after[name]}
    if not changed:
        return document
    with transaction.atomic():
        fresh = {name: value for name, (_before, value) in changed.items()}
        if not Document.objects.filter(pk=document.pk, version=version).update(**fresh, version=version + 1):
            raise Conflict(_("Somebody corrected this document meanwhile. Reload to see how."), rule="stale_version")
        history.record("correct_document", document, by=by, changed=changed)
    document.refresh_from_db()
    return document


def correct_language(*, document: Document, language: str, by: User | None) -> Document:
    return correct_document(document=document, version=document.version, language=language, by=by)


def rebucket_documents(*, by: User | None, keep: Collection[int] = ()) -> int:
    """Sort versions into the buckets that hold now, after a lead changed targets or tolerance.

    Versions in `keep`, those that samples were made for, stay where they are. Returns how many versions moved.
    """
    _refuse_unless(can_import_document(by))
    lengths = BenchmarkSettings.load().lengths
    moved = 0
    with transaction.atomic():
        versions = DocumentVersion.objects.exclude(pk__in=keep).only("id", "tokens", "bucket", "document_id")
        for version in versions.order_by("id").iterator():
            bucket = lengths.bucket_of(version.tokens) or ""
            if bucket != version.bucket:
                history.record("rebucket", version, by=by, changed={"bucket": [version.bucket, bucket]})
                DocumentVersion.objects.filter(pk=version.pk).update(bucket=bucket)
                moved += 1
    return moved
