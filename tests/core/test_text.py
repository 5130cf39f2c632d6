"""Text from outside becomes storable on both databases, and nothing else is lost."""

from hypothesis import given
from hypothesis import strategies as st

from core.text import clean_text, clean_value, is_clean

anything = st.text(alphabet=st.characters(exclude_categories=()))


def test_line_ends_become_lf_and_controls_go() -> None:
    assert clean_text("a\r\nb\rc\x00d\x1be\tf\x7f") == "a\nb\ncde\tf"


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert clean_text("a\ud83db") == "a\ufffdb"


def test_values_are_cleaned_all_the_way_down_and_keep_their_kind() -> None:
    assert clean_value({"a\x00": ["b\x00", ("c\r", 1, None)]}) == {"a": ["b", ("c\n", 1, None)]}


@given(anything)
def test_clean_text_is_storable_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert is_clean(cleaned)
    assert "\x00" not in cleaned
    assert clean_text(cleaned) == cleaned


@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc"))))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text
