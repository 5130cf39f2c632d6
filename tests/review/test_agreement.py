import re
from typing import Any

import pytest
from django.test import Client

from review import actions
from review.agreement import agreement_of, fleiss_kappa
from review.comparing import compared, in_order
from tests.factories import make_annotator, make_case, make_expert, make_lead, make_standardized_sample
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


@pytest.mark.parametrize(
    ("one", "other", "kappa", "alpha"),
    [
        (
            "iiciuiiiiiucuciccuiuuucicucuiiuciiiuucui",
            "iiccuuuiiiuccciucuiucuciccuuiiiciiiuucuc",
            0.623706,
            0.62683,
        ),
        ("mmumuuuummumuumuummummmmu", "umuuuuuummuuuuumuuummummu", 0.290221, 0.275862),
        (
            "cccicuuiiucucuuciuiuuiuiuicciiiiiucuccccciccuuiuuuciiuuiuiii",
            "cccicuuiiucicuucuuiuuiuiuicciiiiiucuccccciccuuiuuuciiuuiucii",
            0.924906,
            0.925516,
        ),
        ("aabbaab", "aabbaab", 1.0, 1.0),
    ],
)
def test_kappa_and_alpha_are_those_of_the_libraries(one: str, other: str, kappa: float, alpha: float) -> None:
    """As scikit-learn 1.9.1 and krippendorff 0.9.0 give them."""
    found = agreement_of(list(zip(one, other, strict=True)))
    assert found.kappa == pytest.approx(kappa, abs=1e-6)
    assert found.alpha == pytest.approx(alpha, abs=1e-6)


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
    assert (whole.by_element.units, whole.by_element.raw) == (6, 5 / 6)
    assert (whole.by_prediction.units, whole.by_prediction.raw) == (2, 1.0)
    assert [(row.key, row.by_sample.raw) for row in compared("task")] == [("T1.2", 1.0), ("T2.2", 0.0)]
    split.refresh_from_db()
    doubted = [{"element": split.standardization.answer[0], "mark": "correct"}]
    actions.adjudicate_case(case=split, outcome="no_issue", marks=doubted, by=make_expert())
    assert compared() == before
    assert [row.cases for by in ("language", "bucket") for row in compared(by)] == [2, 2]
    assert len(compared("pair")) == 2


def test_intervals_draw_whole_samples_and_are_the_same_each_time() -> None:
    """Marks of one sample hang together: drawn sample by sample they say less than drawn one by one."""
    pairs = [("a", "a"), ("b", "b"), ("a", "b"), ("b", "a")] * 10
    together = agreement_of(pairs, of=[place // 20 for place in range(40)])
    alone = agreement_of(pairs)
    assert (alone.raw, alone.kappa) == (together.raw, together.kappa) == (0.5, 0.0)
    assert alone == agreement_of(pairs)
    for found in (alone.interval, alone.kappa_interval, alone.alpha_interval):
        assert found is not None
        assert found[0] < found[1]
    assert together.interval == (0.5, 0.5), "both samples are alike"


def test_figures_go_by_their_value_in_the_order_of_a_table() -> None:
    assert sorted(["128k", "16k", "8k"], key=in_order) == ["8k", "16k", "128k"]
    assert sorted(["T10.1", "T2.2", "T2.1"], key=in_order) == ["T2.1", "T2.2", "T10.1"]


@pytest.mark.django_db
def test_the_page_shows_agreement_by_everything_in_words_and_only_to_leads(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    """T-36: the raw share beside kappa, and why kappa says little."""
    client.force_login(make_expert())
    assert client.get("/agreement/").status_code == 403
    lead, one, other = make_lead(), make_annotator(), make_expert()
    client.force_login(lead)
    assert "Figures appear" in client.get("/agreement/").text
    for place in range(8):
        case = make_case(make_standardized_sample(state="in_review", task_code="T2.2" if place % 2 else "T1.2"))
        submit(case, one, **(ISSUE if not place else {}))
        submit(case, other)
    with django_assert_max_num_queries(12):
        page = client.get("/agreement/")
    assert {table.name: len(table.groups) for table in page.context["tables"]} == {
        "all": 1, "task": 2, "language": 1, "bucket": 1, "pair": 1,
    }  # fmt: skip
    assert one.name in page.text
    assert other.name in page.text
    assert "not defined: every mark is the same" in page.text
    assert "one mark makes up 93 %" in page.text
    assert not re.search(r"\bnan\b", page.text, re.IGNORECASE)
