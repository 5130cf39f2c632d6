"""How fast releases are written and how much memory that takes; how fast they are verified, sent and imported.

LBP_BENCH_MB=600        megabytes of samples to export
LBP_BENCH_SAMPLES=1500  samples of the whole benchmark that is released, imported and released again
LBP_BENCH_RUNS=50       exports while clients change reviews
LBP_BENCH_CLIENTS=20    these clients
"""

import gc
import hashlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import SECONDARY_TASKS, Language
from core.models import BenchmarkSettings
from documents.models import Document, DocumentText, DocumentVersion
from documents.workflow import VersionState
from leading.demo_texts import chronicle_paragraphs
from leading.invariants import violations
from leading.simulating import Simulation
from release import actions, building, formats
from release.bundling import zip_stream
from release.exporting import write_files
from release.models import Release, ReleaseItem
from release.verifying import verify
from release.workflow import ReleaseState
from review.models import AnswerReview
from tests.factories import make_annotator, make_case, make_lead, make_review, make_standardized_sample
from tests.release.parts import label, make_ready_sample, measured_version, released
from tests.release.test_importing import digests, empty_system

pytestmark = pytest.mark.bench
MB = 1_000_000
SIZE = int(os.environ.get("LBP_BENCH_MB", "600")) * MB
SAMPLES = int(os.environ.get("LBP_BENCH_SAMPLES", "1500"))
RUNS = int(os.environ.get("LBP_BENCH_RUNS", "50"))
CLIENTS = int(os.environ.get("LBP_BENCH_CLIENTS", "20"))
# Seconds for 600 MB.
ALLOWED = {"sqlite": 4.0, "postgresql": 7.0}
ALLOWED_GROWTH_MB = 100
TEXT_BYTES = 400_000


def tell(words: str) -> None:
    print(words)  # noqa: T201 -- the figures of the bench


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The most memory that the process held while something ran, beyond what it held before."""

    def __init__(self) -> None:
        self.growth, self._begin, self._done = 0, 0, threading.Event()

    def __enter__(self) -> "Peak":
        gc.collect()
        self._begin = resident()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.01):
            self.growth = max(self.growth, resident() - self._begin)

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def mb(self) -> float:
        return self.growth / MB


def many_texts(total: int) -> Iterator[str]:
    """Different texts of prose, half English and half Chinese, of so many bytes together."""
    chance = random.Random(7)
    english = [" ".join(chance.choices(WORDS, k=60)) + "." for _paragraph in range(3000)]
    chinese = chronicle_paragraphs(seed=7)
    written = 0
    while written < total:
        for paragraphs in (english, chinese):
            parts, size = [str(written)], 0
            while size < TEXT_BYTES:
                parts.append(chance.choice(paragraphs))
                size += len(parts[-1].encode())
            text = "\n\n".join(parts)
            written += len(text.encode())
            yield text


WORDS = [
    "harbour",
    "log",
    "of",
    "the",
    "Marigold",
    "paid",
    "late",
    "fee",
    "twelve",
    "crowns",
    "while",
    "Heron",
    "nine",
    "and",
    "Tern",
    "four",
    "rain",
    "fell",
    "again",
    "over",
    "northern",
    "quay",
    "master",
    "wrote",
    "that",
    "no",
    "ship",
    "had",
    "left",
    "before",
    "tide",
    "turned",
    "“quoted”",
    "cargo",
    "salt",
    "silk",
    "rice",
    "tea",
    "iron",
]


def frozen_release(total: int) -> Release:
    """A release of samples that each have a document of their own: the worst case, nothing can be kept in memory."""
    ready = make_ready_sample()
    made = released("pattern")
    pattern = made.items.get()
    release = Release.objects.create(
        version="large", state=ReleaseState.BUILDING, manifest={**made.manifest, "version": "large", "files": []}
    )
    task = SECONDARY_TASKS[0]
    count = 0
    for count, text in enumerate(many_texts(total), 1):
        raw = text.encode()
        document = Document.objects.create(title=str(count), language=Language.ENGLISH)
        version = DocumentVersion.objects.create(
            document=document,
            state=VersionState.APPROVED,
            sha256=hashlib.sha256(raw).hexdigest(),
            chars=len(text),
            bytes=len(raw),
            tokens=1,
            tokenizer="none",
        )
        DocumentText.objects.create(version=version, text=text, gzipped=b"")
        sample = Sample.objects.create(
            document=document, document_version=version, task_code=task.code, state=SampleState.PLANNED
        )
        ReleaseItem.objects.create(
            release=release,
            position=count,
            sample=sample,
            document_version=version,
            fields={**pattern.fields, "id": sample.public_id},
            provenance={**pattern.provenance, "id": sample.public_id},
        )
    Release.objects.filter(pk=release.pk).update(total=count)
    release.refresh_from_db()
    assert ready
    return release


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("small_lengths")
def test_600_mb_are_written_in_seconds_with_flat_memory(tmp_path: Path) -> None:
    release = frozen_release(SIZE)
    write_files(Release.objects.get(version="pattern"), tmp_path / "warm")
    with Peak() as peak:
        begun = time.perf_counter()
        write_files(release, tmp_path / "out")
        seconds = time.perf_counter() - begun
    size = (tmp_path / "out" / formats.JSONL_FILE).stat().st_size
    tell(
        f"\n{connection.vendor}: {release.total} samples, {size / MB:.0f} MB of JSONL, all files in {seconds:.2f} s"
        f" ({size / MB / seconds:.0f} MB/s), memory +{peak.mb:.0f} MB"
    )
    with Peak() as sending:
        begun = time.perf_counter()
        first, sent = 0.0, 0
        for block in zip_stream(tmp_path / "out", inside="x", at=timezone.now()):
            first = first or time.perf_counter() - begun
            sent += len(block)
        took = time.perf_counter() - begun
    tell(f"ZIP: {sent / MB:.0f} MB in {took:.1f} s, first byte {first * 1000:.0f} ms, memory +{sending.mb:.0f} MB")
    assert peak.mb < ALLOWED_GROWTH_MB
    assert sending.mb < ALLOWED_GROWTH_MB
    assert first < 0.2
    assert seconds <= ALLOWED[connection.vendor] * max(1.0, size / (600 * MB))


# One snapshot ---------------------------------------------------------------------------------------------------------


@contextmanager
def working(clients: int, work: Callable[[int], None]) -> Iterator[list[int]]:
    """So many clients at work all the while; yields how often each has finished."""
    done, stop = [0] * clients, threading.Event()

    def client(number: int) -> None:
        try:
            while not stop.is_set():
                work(number)
                done[number] += 1
        finally:
            connections.close_all()

    with ThreadPoolExecutor(clients) as pool:
        futures = [pool.submit(client, number) for number in range(clients)]
        try:
            yield done
        finally:
            stop.set()
    for future in futures:
        future.result()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("small_lengths")
def test_each_export_is_one_snapshot_while_clients_change_reviews(tmp_path: Path) -> None:
    """Each client has two samples under review and accepts both in one transaction, then gives them back: a release
    holds both or none. What it says of a sample's reviews is of the same moment."""
    lead = make_lead()
    pairs = [[_in_review(number), _in_review(number)] for number in range(CLIENTS)]

    def work(number: int) -> None:
        with transaction.atomic():
            for sample in pairs[number]:
                _turn(sample, SampleState.ACCEPTED, "accepted")
        with transaction.atomic():
            for sample in pairs[number]:
                _turn(sample, SampleState.IN_REVIEW, "open")

    make_ready_sample()
    seen: set[int] = set()
    with working(CLIENTS, work) as done:
        for run in range(RUNS):
            release = building.build(actions.make_release(version=f"r{run}", by=lead, allow_incomplete=True))
            assert release.state == ReleaseState.FROZEN, release.error
            held = set(release.items.values_list("sample", flat=True))
            for pair in pairs:
                assert len({sample.pk in held for sample in pair}) == 1, "half of a transaction is in the release"
            told = release.items.values_list("provenance", flat=True)
            assert all(len(one["reviews"]) == 1 and one["reviews"][0]["outcome"] == "accepted" for one in told)
            seen.add(len(held))
    tell(f"\n{RUNS} exports, {sum(done)} changes by {CLIENTS} clients, {len(seen)} different snapshots")
    assert sum(done) > 0


def _in_review(number: int) -> Sample:
    sample = make_standardized_sample(state=SampleState.IN_REVIEW, version=measured_version())
    case = make_case(sample, state="open")
    for seat in (1, 2):
        make_review(case, make_annotator(), seat=seat, submitted=True)
    label(sample)
    return sample


def _turn(sample: Sample, state: SampleState, case: str) -> None:
    Sample.objects.filter(pk=sample.pk).update(state=state)
    sample.cases.update(state=case)
    AnswerReview.objects.filter(case__sample=sample).update(version=random.randrange(1, 1000))


# The whole benchmark --------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_full_benchmark_is_released_imported_and_released_again_to_the_same_bytes(tmp_path: Path) -> None:
    begun = time.perf_counter()

    def said(words: str) -> None:
        tell(f"{time.perf_counter() - begun:7.1f} s  {words}")

    tell("")
    cells = len(SECONDARY_TASKS) * len(Language) * len(BenchmarkSettings.load().targets)
    made = Simulation(seed=7).fill(SAMPLES)
    said(f"{len(made)} samples by simulated people")
    release = actions.make_release(version="1.0", by=None, allow_incomplete=5 * cells > SAMPLES)
    assert building.build(release).state == ReleaseState.FROZEN, release.error
    assert release.total == SAMPLES
    write_files(release, tmp_path / "made")
    said(f"released: {sum(row['bytes'] for row in release.manifest['files']) / MB:.0f} MB")
    assert verify(tmp_path / "made") == []
    said("verified")
    empty_system()
    with Peak() as peak:
        actions.import_release(folder=tmp_path / "made", by=None)
    said(f"imported, memory +{peak.mb:.0f} MB")
    again = actions.make_release(version="1.0", by=None, allow_incomplete=5 * cells > SAMPLES)
    assert building.build(again).state == ReleaseState.FROZEN, again.error
    write_files(again, tmp_path / "again")
    said("released again")
    assert digests(tmp_path / "again") == digests(tmp_path / "made")
    assert verify(tmp_path / "again") == []
    assert list(violations()) == []
    said("verified, no violation of an invariant")
