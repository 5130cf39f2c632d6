import pytest

from review import actions
from review.agreement import agreement_of, fleiss_kappa
from review.comparing import compared
from tests.factories import make_annotator, make_case, make_expert, make_standardized_sample
from tests.review.words import ISSUE, submit

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


# Two raters --------------------------------------------------------------------------------------------------------


def test_kappa_and_alpha_are_those_of_worked_examples() -> None:
    """Cohen's kappa of the proposals that two readers took or refused (20 both, 5, 10, 15 neither): 0.4. Alpha of the
    examples A (binary) and B (nominal) of Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011."""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert agreement_of(pairs).kappa == pytest.approx(0.4)
    for one, other, alpha in (("0100000010", "1110010000", 0.095), ("aabbdcccedda", "babbbcccedd" + "d", 0.692)):
        assert agreement_of(list(zip(one, other, strict=True))).alpha == pytest.approx(alpha, abs=0.0005)


def test_what_is_not_defined_is_said_in_words_and_never_nan() -> None:
    assert agreement_of([]).undefined == "nothing to compare yet"
    alike = agreement_of([("correct", "correct")] * 5)
    assert (alike.raw, alike.kappa, alike.alpha, alike.interval) == (1.0, None, None, (1.0, 1.0))
    assert "every mark is the same" in alike.undefined


def test_skewed_marks_are_noted_beside_a_kappa_near_zero() -> None:
    """T-36."""
    skewed = agreement_of([("correct", "correct")] * 98 + [("correct", "incorrect"), ("incorrect", "correct")])
    assert skewed.raw == pytest.approx(0.98)
    assert skewed.kappa == pytest.approx(-0.0101, abs=0.001)
    assert skewed.skewed
    assert skewed.interval is not None
    assert skewed.interval[0] < 0.98 < skewed.interval[1]
    assert not agreement_of([("a", "a"), ("b", "b")] * 5).skewed


@pytest.mark.django_db
def test_the_experts_decision_is_never_counted_in() -> None:
    """T-32."""
    agreed, split = make_case(), make_case(make_standardized_sample(state="in_review", task_code="T2.2"))
    for _seat in range(2):
        submit(agreed, make_annotator())
    submit(split, make_annotator(), marks=[{"mark": "incorrect"}, {"mark": "correct"}, {"mark": "correct"}])
    submit(split, make_annotator())
    undecided = make_case()
    submit(undecided, make_annotator(), **ISSUE)
    before = compared()
    (whole,) = before
    assert (whole.cases, whole.both_clean, whole.by_sample.raw) == (2, 1, 0.5)
    assert (whole.by_element.units, whole.by_element.raw) == (8, 7 / 8)
    assert [(row.key, row.by_sample.raw) for row in compared("task")] == [("T1.2", 1.0), ("T2.2", 0.0)]
    split.refresh_from_db()
    doubted = [{"element": split.standardization.answer[0], "mark": "correct"}]
    actions.adjudicate_case(case=split, outcome="no_issue", marks=doubted, by=make_expert())
    assert compared() == before
    assert [row.cases for by in ("language", "bucket") for row in compared(by)] == [2, 2]
    assert len(compared("pair")) == 2
