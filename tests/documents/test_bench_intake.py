"""How fast texts are taken in, measured and held to its targets. Run by `make bench`; the machine should be idle.

The documents are lines of real ones (shared data), shuffled by seed; without those, lines of made-up words.
"""

import itertools
import os
import random
import string
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import File
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from documents import actions, batches
from documents.actions import Sent
from documents.models import Document, DocumentText, DocumentVersion
from documents.passages import marks_of
from documents.pooling import Measuring
from documents.tokenizing import count_tokens
from tests.conftest import SHARED_DATA
from tests.factories import make_lead

pytestmark = [pytest.mark.bench, pytest.mark.django_db(transaction=True)]

K_TOKENS = (8, 16, 32, 64, 128, 256)
# Characters for a token, so that a text lands near its target.
DENSITY = {"en": 4.2, "zh": 1.3}
MB = 1_000_000


def say(words: str) -> None:
    """Past pytest's capture: the figures are what this is for."""
    os.write(1, f"\n    {words}".encode())


def pools() -> list[tuple[str, list[str]]]:
    """Languages with lines to draw from."""
    found = [
        (language, path.read_text(encoding="utf-8").split("\n"))
        for language in ("en", "zh")
        for path in sorted((SHARED_DATA / "documents" / language).glob("*-256k.txt"))
    ]
    if found:
        return found
    say("no shared data: the documents are made of made-up words")
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(2, 9))) for _each in range(8_000)]
    han = [chr(code) for code in range(0x4E00, 0x5A00)]
    english = [" ".join(chance.choices(words, k=80)) for _each in range(4_000)]
    return [("en", english), ("zh", ["".join(chance.choices(han, k=80)) for _each in range(4_000)])]


def write_documents(folder: Path, count: int, seed: int) -> int:
    """`count` files of mixed lengths and languages. Returns their bytes."""
    chance, drawn, size = random.Random(seed), pools(), 0
    english = [pool for pool in drawn if pool[0] == "en"]
    for number in range(count):
        language, lines = chance.choice(english if number % 2 else drawn)
        wanted, chars, text = int(K_TOKENS[number % 6] * 1024 * DENSITY[language]), 0, []
        while chars < wanted:
            text.append(chance.choice(lines))
            chars += len(text[-1]) + 1
        data = "\n".join(text).encode()
        size += len(data)
        (folder / f"{number:05}.txt").write_bytes(data)
    return size


class Watch:
    """Seconds by the clock and of processors, and the most memory (MB) that this process and its children held."""

    def __enter__(self) -> "Watch":
        self.before = self.most = memory()
        self._begun, self._worked = time.monotonic(), processor_seconds()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.monotonic() - self._begun
        self.worked = processor_seconds() - self._worked
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        """To look for the children takes milliseconds of a processor, so it is done once in a while only."""
        look = itertools.count()
        while not self._done.wait(0.05):
            if next(look) % 20 == 0:
                processes = family()
            self.most = max(self.most, sum(map(_resident, processes)) / MB)

    @property
    def growth(self) -> float:
        return self.most - self.before

    def __str__(self) -> str:
        """On a busy machine the clock says little; the processors' seconds say what the work costs."""
        return (
            f"{self.seconds:.2f} s by the clock, {self.worked:.2f} s of processors, memory +{self.growth:.0f} MB, "
            f"load of the machine {os.getloadavg()[0]:.1f}"
        )


def family() -> set[int]:
    own = os.getpid()
    return {own} | {child for child, parent in _parents() if parent == own}


def memory() -> float:
    return sum(map(_resident, family())) / MB


def processor_seconds() -> float:
    return sum(map(_worked, family()))


def _worked(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _parents() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                yield int(name), int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def take_in(folder: Path, files: int, settings: Any, processes: int) -> Watch:
    """By a batch, as the worker does it; the processes are there before, as in a worker that has just been at work."""
    settings.LBP_INTAKE_PROCESSES = processes
    sent = [Sent(path.name, File(path.open("rb"))) for path in sorted(folder.iterdir())]
    batch = actions.start_batch(files=sent, by=make_lead())
    for one in sent:
        one.content.close()
    count_tokens("The tokenizer is loaded.")
    with Measuring() as measuring:
        measuring.warm_up()
        measuring.submit("warm").result()
        with Watch() as watch:
            batches.take_in(batch.pk)
    batch.refresh_from_db()
    assert (batch.state, batch.refused, batch.accepted + batch.flagged) == ("finished", 0, files)
    return watch


def held(seconds: float, target: float) -> None:
    load = os.getloadavg()[0]
    assert seconds <= target, f"{seconds:.1f} s, the target is {target} s (load of the machine: {load:.1f})"


@pytest.mark.parametrize(("processes", "target"), [(1, 8.0), (2, 5.0)])
def test_200_documents_are_taken_in_with_exact_counts(
    tmp_path: Path, settings: Any, processes: int, target: float
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    folder = tmp_path / "documents"
    folder.mkdir()
    size = write_documents(folder, 230, seed=7)
    watch = take_in(folder, 230, settings, processes)
    tokens = sum(DocumentVersion.objects.values_list("tokens", flat=True))
    say(f"{connection.vendor}, {processes} at once: 230 documents, {size / MB:.1f} MB, {tokens / 1e6:.1f} M tokens:")
    say(f"    {watch}")
    for version in DocumentVersion.objects.order_by("?")[:5]:
        text = DocumentText.objects.values_list("text", flat=True).get(version=version)
        assert version.tokens == count_tokens(text)
    assert watch.growth <= 150
    # Figures for 78 MB: what the documents have more or less is taken out.
    held(watch.seconds * 78 * MB / size, target)


def test_1500_documents_are_taken_in_within_a_minute_and_listed_in_no_time(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.LBP_MAX_UPLOAD = 2**31
    folder = tmp_path / "documents"
    folder.mkdir()
    size = write_documents(folder, 1_500, seed=11)
    watch = take_in(folder, 1_500, settings, processes=2)
    tokens = sum(DocumentVersion.objects.values_list("tokens", flat=True))
    say(f"{connection.vendor}, 2 at once: 1,500 documents, {size / MB:.0f} MB, {tokens / 1e6:.0f} M tokens:")
    say(f"    {watch}")
    list_page()
    assert watch.growth <= 150
    held(watch.seconds * 126e6 / tokens, 60.0)


def list_page() -> None:
    """/documents/ with 1,500 documents: few queries, no text, under 50 ms."""
    client = Client()
    client.force_login(make_lead())
    client.get("/documents/")
    with CaptureQueriesContext(connection) as captured:
        assert client.get("/documents/").status_code == 200
    assert len(captured) <= 11
    assert not any(DocumentText._meta.db_table in query["sql"] for query in captured)
    times = []
    for _each in range(9):
        begun = time.perf_counter()
        client.get("/documents/")
        times.append(time.perf_counter() - begun)
    middle = sorted(times)[4]
    say(f"list page with {Document.objects.count()} documents: {1000 * middle:.0f} ms, {len(captured)} queries")
    assert middle < 0.05


def test_marks_cost_less_than_15_ms_for_a_megabyte() -> None:
    for language, lines in itertools.islice(pools(), 0, 6, 2):
        text = "\n".join(lines)
        size = len(text.encode()) / MB
        times = []
        for _each in range(7):
            begun = time.perf_counter()
            marks_of(text)
            times.append(time.perf_counter() - begun)
        say(f"marks, {language}: {1000 * min(times) / size:.1f} ms/MB")
        assert min(times) / size < 0.015
