import pytest

from review.agreement import fleiss_kappa

# The worked example that textbooks use: 10 subjects, 14 raters, 5 categories.
TEXTBOOK = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_fleiss_kappa_of_the_textbook_example() -> None:
    assert fleiss_kappa(TEXTBOOK) == pytest.approx(0.2099, abs=5e-5)


def test_fleiss_kappa_of_two_subjects_by_hand() -> None:
    # P = (1 + 1/3) / 2 = 2/3; shares 5/6 and 1/6: Pe = 26/36; kappa = (2/3 - 13/18) / (5/18) = -1/5
    assert fleiss_kappa([[3, 0], [2, 1]]) == pytest.approx(-0.2)


def test_full_agreement_over_two_categories_is_one() -> None:
    assert fleiss_kappa([[3, 0, 0], [0, 0, 3]]) == pytest.approx(1.0)


@pytest.mark.parametrize("counts", [[], [[3, 0], [3, 0]], [[1, 0], [0, 1]]])
def test_fleiss_kappa_is_undefined_without_subjects_without_variety_and_with_one_rater(counts: list[list[int]]) -> None:
    assert fleiss_kappa(counts) is None


def test_unequal_numbers_of_ratings_are_refused() -> None:
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([[3, 0], [2, 0]])
