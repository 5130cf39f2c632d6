"""Long common passages are found wherever they stand; texts that share none are not taken for near-duplicates."""

import random
import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.models import User
from documents import actions, passages, queries
from documents.models import DocumentVersion
from documents.passages import REACH, SHARED, WINDOW, marks_of
from tests.factories import make_lead
from tests.signing_in import client_of

HAN = [chr(code) for code in range(0x4E00, 0x5200)]


def words(seed: int, count: int) -> str:
    """English-like prose: one character in six is white space."""
    chance = random.Random(seed)
    return " ".join("".join(chance.choices(string.ascii_letters, k=5)) for _word in range(count // 6 + 1))[:count]


def han(seed: int, count: int) -> str:
    return "".join(random.Random(seed).choices(HAN, k=count))


def shared(one: str, other: str) -> int:
    return len({mark.value for mark in marks_of(one)} & {mark.value for mark in marks_of(other)})


@given(
    seed=st.integers(0, 2**32),
    before=st.integers(0, 40_000),
    behind=st.integers(0, 9_000),
    chinese=st.booleans(),
    longer=st.integers(0, 3_000),
)
@settings(max_examples=40, deadline=None)
def test_a_common_passage_of_5000_characters_is_found(
    seed: int, before: int, behind: int, chinese: bool, longer: int
) -> None:
    text = han if chinese else words
    passage = text(seed, 5_000 + longer)
    one = text(seed + 1, before) + passage + text(seed + 2, behind)
    other = text(seed + 3, behind) + passage + text(seed + 4, before)
    assert shared(one, other) >= SHARED


@given(seed=st.integers(0, 2**32), chinese=st.booleans())
@settings(max_examples=15, deadline=None)
def test_texts_without_a_common_passage_share_nothing(seed: int, chinese: bool) -> None:
    text = han if chinese else words
    one, other = text(seed, 60_000), text(seed + 1, 60_000)
    sentence = text(seed + 2, WINDOW // 2)
    assert shared(one + sentence + one[:500], other + sentence + other[:500]) == 0


def test_white_space_and_case_do_not_count() -> None:
    text = words(1, 20_000)
    again = "\n\n".join(text.upper().split(" "))
    assert [mark.value for mark in marks_of(text)] == [mark.value for mark in marks_of(again)]


def test_a_mark_stands_where_its_passage_begins() -> None:
    text = "\u3000 " + words(2, 30_000)
    for mark in marks_of(text)[:5]:
        window = text[mark.position :]
        letters = "".join(window.split())[:WINDOW]
        assert shared(letters, text) == 1


def test_the_marks_are_few_and_the_same_each_time() -> None:
    text = words(3, 1_000_000)
    marks = marks_of(text)
    assert marks == marks_of(text)
    assert 600 < len(marks) < 1_400
    assert [mark.position for mark in marks] == sorted(mark.position for mark in marks)
    assert len(marks_of(words(4, 8_000))) >= 3
    assert marks_of("short") == []


@pytest.mark.parametrize("text", ["a" * 1_200_000, "好" * 400_000, " \n" * 600_000, "ab" * 10_000])
def test_repetition_is_no_trouble(text: str) -> None:
    assert len(marks_of(text)) <= 2


def test_few_and_many_hashes_give_the_same_places() -> None:
    """The short way (only small hashes are compared) is held to the plain one."""
    chance = np.random.default_rng(5)
    for _round in range(60):
        hashes = chance.integers(0, 2**64, size=int(chance.integers(REACH + 1, 40_000)), dtype=np.uint64)
        assert np.array_equal(passages._winnowed(hashes), passages._smallest_of_many(hashes))


# In the database


def paste(text: str, title: str, by: User) -> DocumentVersion:
    return actions.paste_document(text=text, title=title, by=by)


def near_of(version: DocumentVersion) -> list[int]:
    return [
        near["document"]
        for remark in version.remarks
        if remark["rule"] == "near_duplicate"
        for near in remark["documents"]
    ]


@pytest.mark.django_db
def test_a_near_duplicate_is_flagged_with_the_documents_it_resembles_and_taken() -> None:
    lead = make_lead()
    passage = words(10, 5_000)
    first = paste(words(11, 30_000) + passage, "First", lead)
    second = paste(words(12, 8_000) + passage + words(13, 9_000), "Second", lead)
    third = paste(words(14, 30_000), "Third", lead)
    assert near_of(first) == near_of(third) == []
    assert near_of(second) == [first.document_id]
    [remark] = [remark for remark in second.remarks if remark["rule"] == "near_duplicate"]
    assert 10 <= remark["documents"][0]["percent"] <= 45


@pytest.mark.django_db
def test_almost_the_same_text_is_said_to_be_almost_all_of_it() -> None:
    lead = make_lead()
    text = words(20, 60_000)
    first = paste(text, "First", lead)
    second = paste(text[:30_000] + " changed " + text[30_000:], "Second", lead)
    assert near_of(second) == [first.document_id]
    assert second.remarks[-1]["documents"][0]["percent"] >= 90
    page = client_of(lead).get(f"/documents/{second.document_id}/").content.decode()
    assert f'href="/documents/{first.document_id}/">Open D-{first.document_id}</a>' in page


@pytest.mark.django_db
def test_the_earlier_texts_of_the_same_document_do_not_count() -> None:
    lead = make_lead()
    text = words(30, 40_000)
    first = paste(text, "First", lead)
    revised = actions.revise_document(document=first.document, text=text + " more", reason="more", by=lead)
    assert near_of(revised) == []
    assert queries.documents_sharing([mark.value for mark in marks_of(text)])[first.document_id][0] > 10


@pytest.mark.django_db
def test_what_is_made_of_stored_texts_is_not_flagged_for_it() -> None:
    lead = make_lead()
    one, two = paste(words(40, 20_000), "One", lead), paste(words(41, 20_000), "Two", lead)
    both = actions.join_documents(documents=[one.document, two.document], title="Both", by=lead)
    assert near_of(both) == []
    # ... but it counts for what comes later.
    later = paste(words(40, 20_000) + words(42, 5_000), "Later", lead)
    assert set(near_of(later)) == {one.document_id, both.document_id}


@pytest.mark.django_db
def test_a_short_text_needs_most_of_itself_in_common() -> None:
    lead = make_lead()
    short = words(50, 1_200)
    first = paste(short, "Short", lead)
    assert near_of(paste(short + " and a word", "Longer", lead)) == [first.document_id]
