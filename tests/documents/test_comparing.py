"""What changed between two texts, and that it is said in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.comparing import MOST_CHANGES, Change, compare
from documents.comparing import _changed as changed


def test_a_word_is_shown_with_what_stands_around() -> None:
    comparison = compare("one\nthe whale swam\nthree\n", "one\nthe leviathan swam\nthree\n")
    assert comparison.changes == (Change(2, "the ", "whale", "leviathan", " swam\n"),)
    assert (comparison.total, comparison.lines_removed, comparison.lines_added) == (1, 1, 1)


def test_lines_added_and_removed() -> None:
    comparison = compare("a\nb\nc\n", "a\nc\nd\n")
    assert [(change.removed, change.added) for change in comparison.changes] == [("b\n", ""), ("", "d\n")]


def test_the_same_text_has_no_changes() -> None:
    assert compare("a\nb", "a\nb").total == 0


lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=30)


@given(lines, lines)
def test_the_changes_make_the_new_text_of_the_old_one(before: list[str], after: list[str]) -> None:
    made, at = [], 0
    for start, end, new_start, new_end in changed(before, after):
        assert at <= start <= end
        made += before[at:start] + after[new_start:new_end]
        at = end
    assert made + before[at:] == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n" * 600_000, "\n" * 599_000 + "a\n"),
        ("a\nb\n" * 150_000, "b\na\n" * 150_001),
        ("x" * 1_200_000, "x" * 600_000 + "y" + "x" * 600_000),
        ("".join(f"{n}\n" for n in range(150_000)), "".join(f"{n}\n" for n in range(150_000, 0, -1))),
    ],
    ids=["empty lines", "two lines", "one line", "reversed"],
)
def test_hostile_texts_are_compared_in_little_time(old: str, new: str) -> None:
    begun = time.process_time()
    comparison = compare(old, new)
    assert time.process_time() - begun < 5
    assert 0 < len(comparison.changes) <= MOST_CHANGES
    assert sum(len(change.removed) + len(change.added) for change in comparison.changes) < 4_000 * MOST_CHANGES
