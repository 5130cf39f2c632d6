"""How long the server takes for what somebody hears while typing. Run by `make bench`; the figures are printed."""

import random
import time
from collections.abc import Callable

import pytest

from annotation.checking import check_wording
from annotation.differences import line_difference, text_difference
from annotation.editing import as_typed
from annotation.models import Candidate
from annotation.occurring import Haystack
from annotation.workflow import CandidateState
from tests.annotation.scenes import candidate_at
from tests.annotation.test_differences import long_texts
from tests.factories import make_version

pytestmark = [pytest.mark.bench, pytest.mark.django_db]


def milliseconds(run: Callable[[], object], times: int = 7) -> float:
    """The least by this process's own clock: what others do on the machine counts as little as can be."""
    spent = []
    for _time in range(times):
        begun = time.process_time()
        run()
        spent.append(1000 * (time.process_time() - begun))
    return min(spent)


@pytest.mark.parametrize("place", range(4))
def test_ten_thousand_characters_are_told_apart_in_a_tenth_of_a_second(place: int) -> None:
    before, after = long_texts()[place]
    spent = milliseconds(lambda: text_difference(before, after))
    print(f"difference of 10,000 characters, kind {place}: {spent:.0f} ms")  # noqa: T201
    assert spent < 100


def test_five_hundred_elements_are_told_apart_in_a_tenth_of_a_second() -> None:
    lines = [f"Part {number} of the log" for number in range(500)]
    shuffled = random.Random(1).sample(lines, 500)
    mended = [f"{line}, mended" for line in lines]
    for after in (shuffled, mended, lines[::-1]):
        spent = milliseconds(lambda after=after: line_difference(lines, after))  # type: ignore[misc]
        print(f"difference of 500 elements: {spent:.0f} ms")  # noqa: T201
        assert spent < 100


def long_document() -> str:
    """Some 256k tokens: 1.2 million characters of English."""
    chance = random.Random(3)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _word in range(5_000)]
    return " ".join(f"{chance.choice(words)} Part {n}" if n % 50 == 7 else chance.choice(words) for n in range(195_000))


def test_a_hundred_elements_are_checked_against_256k_tokens_in_fifty_milliseconds() -> None:
    text = long_document()
    candidate, _annotator = candidate_at(CandidateState.TASK_A, task_code="T2.1", version=make_version(text))
    rows = Candidate.objects.select_related("draft", "sample__document", "sample__document_version")
    opened = rows.get(pk=candidate.pk)
    answer = [f"Part {50 * number + 7}" for number in range(100)]
    assert check_wording(opened, as_typed(opened, answer=answer)).places[3].occurrence.count == 1
    count = iter(range(1_000))
    warm = milliseconds(lambda: check_wording(opened, as_typed(opened, answer=[*answer, f"Part {next(count)}"])))
    haystack, given = Haystack(text), iter(range(1_000_000))
    first = milliseconds(lambda: haystack.find([f"Part {next(given)}" for _line in range(100)]))
    begin = milliseconds(lambda: Haystack(text))
    print(f"{len(text)} characters: read {begin:.0f} ms, 100 elements {first:.0f} ms, a keystroke {warm:.1f} ms")  # noqa: T201
    assert warm < 50
    assert begin + first < 150
