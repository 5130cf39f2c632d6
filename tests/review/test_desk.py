import pytest

from benchmark.prompts import segments
from review.desk import compare, desk_for, places_of, short_names
from review.judging import Content
from review.views.adjudicating import proposed
from tests.factories import make_annotator, make_case
from tests.review.words import submit


def test_an_element_is_found_as_a_whole_word_in_code_points() -> None:
    text = "😀 Tern and Terns, then Tern again. Tern! A last Tern, one more Tern."
    places, more = places_of("Tern", text)
    assert [text[place.start : place.end] for place in places] == ["Tern"] * 3
    assert places[0].start == 2
    assert more == 2


def test_a_place_shows_whole_words_of_its_line_around_the_element() -> None:
    text = "A line before.\nThe brig that everybody knew as the Heron came in from the distant south with salt."
    (place,), _more = places_of("Heron", text)
    assert (place.before, place.text, place.after) == ("knew as the ", "Heron", " came in from the")


def test_chinese_is_found_without_word_bounds() -> None:
    places, more = places_of("悟空", "却说孙悟空与唐三藏同行。")
    assert [(place.start, place.before, place.after) for place in places] == [(3, "却说孙", "与唐三藏同行。")]
    assert more == 0


@pytest.mark.parametrize("element", ["A", "4", " "])
def test_a_single_letter_stands_everywhere_and_links_nowhere(element: str) -> None:
    assert places_of(element, "A 4 A 4") == ((), 0)


def test_models_have_short_names_of_their_own() -> None:
    assert short_names(["demo/Gemma", "GPT-5", "gg", "Pine"]) == ["G", "P", "3", "I"]


@pytest.mark.django_db
@pytest.mark.parametrize("supplementary", ["", "A. salt\n\nB. grain"])
def test_the_prompt_is_shown_whole_with_its_example_folded(supplementary: str) -> None:
    case = make_case()
    case.standardization.supplementary = supplementary
    desk = desk_for(case, Content([], [], [], []), places=False)
    shown = "".join(segment.text for segment in desk.asked) + "\n\n" + desk.example
    assert shown == "".join(segment.text for segment in segments(case.standardization.parts, thinking=False))
    assert desk.example.startswith("Output example:")


@pytest.mark.django_db
def test_what_differs_comes_first_then_what_both_doubt() -> None:
    case = make_case(answers=[(["Gull", "Swan"], False)])
    incorrect, correct = {"mark": "incorrect"}, {"mark": "correct"}
    submit(case, make_annotator(), marks=[correct, incorrect, incorrect], additions=["Petrel", "Gull"])
    submit(case, make_annotator(), marks=[correct, incorrect, correct])
    desk = desk_for(case, Content([], [], [], []), places=False)
    decided = [{"element": "Heron", "mark": "incorrect"}]
    rows = compare(desk, list(case.reviews.order_by("seat")), decided)
    assert [(row.row.element, row.differs, row.in_doubt) for row in rows] == [
        ("Tern", True, True),
        ("Petrel", True, True),
        ("Heron", False, True),
        ("Marigold", False, False),
        ("Gull", False, False),
        ("Swan", False, False),
    ]
    assert [row.number for row in rows] == [3, 6, 2, 1, 4, 5]
    assert [row.row.element for row in rows if row.decided.mark] == ["Heron"]
    assert proposed(rows) == ["Marigold", "Tern"]
