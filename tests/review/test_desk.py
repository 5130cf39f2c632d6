import pytest

from review.desk import places_of, short_names


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
