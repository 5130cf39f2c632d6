"""What to make next: documents and tasks for the emptiest cells, proposed, then made as they were shown."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Sample
from annotation.planning import create_sample, task_named
from annotation.workflow import SampleState
from benchmark.taxonomy import Language
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, Refused, Words
from documents.models import Document
from documents.workflow import VersionState
from leading.people import require_lead
from leading.queries import Cell, CellKey, by_emptiness, cells

AT_MOST = 200
USUAL = 20


# Proposing -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wish:
    """How many samples, and of which cells; empty: of any language, bucket, task."""

    count: int = USUAL
    language: str = ""
    bucket: str = ""
    task_code: str = ""

    def holds(self, cell: Cell) -> bool:
        return (
            self.language in ("", cell.language)
            and self.bucket in ("", cell.bucket)
            and self.task_code in ("", cell.task.code)
        )


def wish_of(*, count: int = USUAL, language: str = "", bucket: str = "", secondary_task: str = "") -> Wish:
    """Raises Invalid for what the benchmark does not know."""
    errors: dict[str, Words | list[Words]] = {}
    if not 1 <= count <= AT_MOST:
        errors["count"] = _("From 1 to %(n)s.") % {"n": AT_MOST}
    if language and language not in [*Language]:
        errors["language"] = _("The languages are English and Chinese.")
    if bucket and bucket not in BenchmarkSettings.load().lengths.names():
        errors["bucket"] = _("This is no length bucket.")
    if errors:
        raise Invalid(errors)
    return Wish(count, language, bucket, task_named(secondary_task).code if secondary_task else "")


@dataclass
class Source:
    """An approved document of a cell's language and bucket. `uses` counts the samples it carries, with those that are
    proposed so far."""

    pk: int
    title: str
    language: str
    bucket: str
    domain: str
    format: str
    tokens: int
    uses: int = 0
    carries: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    @property
    def label(self) -> str:
        return f"D-{self.pk:04d}"


@dataclass(frozen=True)
class Proposal:
    """One pair. `uses` counts the samples that the document carried before this proposal; `tried`: the pair was
    exhausted before."""

    cell: Cell
    source: Source
    uses: int
    tried: bool

    @property
    def pair(self) -> str:
        return f"{self.source.pk}:{self.cell.task.code}"


@dataclass(frozen=True)
class Shortage:
    """Cells of one language and bucket that lack a document: `lacking` samples in `cells` cells have none to stand on,
    though there are `documents` approved ones (each carries a task once)."""

    language: str
    bucket: str
    cells: int
    lacking: int
    documents: int


@dataclass(frozen=True)
class Proposed:
    """`unplanned` is what the wished cells still lack; `beyond` of these there was no room for in this step."""

    wish: Wish
    proposals: list[Proposal]
    unplanned: int
    shortages: list[Shortage]

    @property
    def lacking(self) -> int:
        return sum(shortage.lacking for shortage in self.shortages)

    @property
    def beyond(self) -> int:
        return self.unplanned - len(self.proposals) - self.lacking


class _Shelf:
    """The approved documents of one language and bucket, and what was chosen of them so far, by domain and format: in
    the cells and on the whole shelf."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.domains, self.formats = Counter[str](), Counter[str]()
        self.in_cell: dict[str, tuple[Counter[str], Counter[str]]] = defaultdict(lambda: (Counter(), Counter()))

    def count(self, task: str, domain: str, form: str) -> None:
        domains, formats = self.in_cell[task]
        for counter, value in ((self.domains, domain), (self.formats, form), (domains, domain), (formats, form)):
            counter[value] += 1

    def best(self, task: str) -> Source | None:
        """A document that does not carry the task. First one for which the pair was not exhausted before, then the
        least used, then of the domain and the format that the cell, and then the shelf, has least of."""
        domains, formats = self.in_cell[task]
        free = (source for source in self.sources if task not in source.carries)
        return min(
            free,
            key=lambda source: (
                task in source.failed,
                source.uses,
                domains[source.domain],
                formats[source.format],
                self.domains[source.domain],
                self.formats[source.format],
                source.pk,
            ),
            default=None,
        )


def propose(wish: Wish) -> Proposed:
    """Pairs for the emptiest of the wished cells, one at a time, so that no cell is filled before its neighbours. Four
    queries, and no document text."""
    wanted = by_emptiness(cell for cell in cells() if wish.holds(cell) and cell.unplanned)
    shelves = _shelves()
    open_need = {cell.key: cell.unplanned for cell in wanted}
    proposals: list[Proposal] = []
    bare: set[CellKey] = set()
    # Round by round: every cell that lacks as much as the emptiest gets one before any gets its second.
    for need in range(max(open_need.values(), default=0), 0, -1):
        for cell in wanted:
            if open_need[cell.key] != need or cell.key in bare:
                continue
            if len(proposals) == wish.count:
                return Proposed(wish, proposals, _all(wanted), _shortages(wanted, open_need, shelves))
            shelf = shelves[cell.language, cell.bucket]
            source = shelf.best(cell.task.code)
            if source is None:
                bare.add(cell.key)
                continue
            proposals.append(_take(cell, source, shelf))
            open_need[cell.key] -= 1
    return Proposed(wish, proposals, _all(wanted), _shortages(wanted, open_need, shelves))


def _all(wanted: Iterable[Cell]) -> int:
    return sum(cell.unplanned for cell in wanted)


def _take(cell: Cell, source: Source, shelf: _Shelf) -> Proposal:
    proposal = Proposal(cell, source, source.uses, cell.task.code in source.failed)
    source.uses += 1
    source.carries.add(cell.task.code)
    shelf.count(cell.task.code, source.domain, source.format)
    return proposal


def _shelves() -> dict[tuple[str, str], _Shelf]:
    shelves: dict[tuple[str, str], _Shelf] = defaultdict(_Shelf)
    approved = Document.objects.filter(latest__state=VersionState.APPROVED).exclude(latest__bucket="").order_by("pk")
    columns = ("pk", "title", "language", "latest__bucket", "domain", "format", "latest__tokens")
    sources = {row[0]: Source(*row) for row in approved.values_list(*columns)}
    for source in sources.values():
        shelves[source.language, source.bucket].sources.append(source)
    used = Sample.objects.order_by().values_list(
        *("document", "task_code", "state", "document__language", "document_version__bucket"),
        *("document__domain", "document__format"),
    )
    for document, task, state, language, bucket, domain, form in used:
        carrier = sources.get(document)
        if state == SampleState.EXHAUSTED:
            if carrier:
                carrier.failed.add(task)
            continue
        shelves[language, bucket].count(task, domain, form)
        if carrier:
            carrier.uses += 1
            carrier.carries.add(task)
    return shelves


def _shortages(
    wanted: Sequence[Cell], open_need: dict[CellKey, int], shelves: dict[tuple[str, str], _Shelf]
) -> list[Shortage]:
    """What no document is left for, whether or not this step had room for it: the most lacking first."""
    lacking, held_by = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for cell in wanted:
        shelf = shelves[cell.language, cell.bucket]
        free = sum(1 for source in shelf.sources if cell.task.code not in source.carries)
        if open_need[cell.key] > free:
            lacking[cell.language, cell.bucket] += open_need[cell.key] - free
            held_by[cell.language, cell.bucket] += 1
    return [
        Shortage(language, bucket, held_by[language, bucket], count, len(shelves[language, bucket].sources))
        for (language, bucket), count in lacking.most_common()
    ]


# Making --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    document: int
    task_code: str


@dataclass(frozen=True)
class NotMade:
    pair: Pair
    why: str
    rule: str


@dataclass(frozen=True)
class Made:
    samples: list[Sample]
    left: list[NotMade]


def pair_of(document: int, task: str) -> Pair:
    return Pair(document, task_named(task).code)


def pairs_named(names: Iterable[str]) -> list[Pair]:
    """From `document:task`."""
    pairs = []
    for name in names:
        document, _colon, task = name.partition(":")
        if not (document.isascii() and document.isdecimal() and len(document) < 19):
            raise Invalid({"pairs": _("A pair is a document's number and a task.")})
        pairs.append(pair_of(int(document), task))
    return pairs


@transaction.atomic
def make_samples(*, pairs: Sequence[Pair], by: User) -> Made:
    """Plan these samples in one step. A pair that cannot be planned any more (somebody was faster, the document lost
    its approval) is left out and says why; sent again, every pair exists already and nothing is made."""
    require_lead(by)
    pairs = list(dict.fromkeys(pairs))
    if not pairs:
        raise Invalid({"pairs": _("Choose at least one pair.")})
    if len(pairs) > AT_MOST:
        raise Invalid({"pairs": _("At most %(n)s samples are planned in one step.") % {"n": AT_MOST}})
    # Whoever plans holds the benchmark's figures: two leads who fill the same cells do it one after the other.
    BenchmarkSettings.objects.select_for_update().get(pk=BenchmarkSettings.load().pk)
    documents = Document.objects.select_related("latest").in_bulk([pair.document for pair in pairs])
    planned = set(_live_pairs(documents))
    need = {cell.key: cell.unplanned for cell in cells()}
    samples, left = [], []
    for pair in pairs:
        document = documents.get(pair.document)
        if document is None:
            left.append(NotMade(pair, _("There is no such document."), "no_document"))
            continue
        bucket = document.latest.bucket if document.latest else ""
        cell = (pair.task_code, document.language, bucket)
        if need.get(cell, 1) <= 0 and (pair.document, pair.task_code) not in planned:
            left.append(NotMade(pair, _("Its cell has all that it needs by now, done or under way."), "cell_full"))
            continue
        try:
            samples.append(create_sample(document=document, task_code=pair.task_code, by=by))
        except Refused as refusal:
            left.append(NotMade(pair, str(refusal.message), refusal.rule))
        else:
            need[cell] = need.get(cell, 1) - 1
    return Made(samples, left)


def _live_pairs(documents: Iterable[int]) -> Iterable[tuple[int, str]]:
    live = Sample.objects.filter(document__in=documents).exclude(state=SampleState.EXHAUSTED)
    return live.order_by().values_list("document", "task_code")
