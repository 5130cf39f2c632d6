"""Buckets by exact token counts, and the ladder of tiers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.difficulty import Difficulty, ModelResult, Tier, judge
from benchmark.lengths import DEFAULT_LENGTHS, Distance, Lengths


@pytest.mark.parametrize(
    ("tokens", "bucket"),
    [
        (6553, None), (6554, "8k"), (9830, "8k"), (9831, None), (13107, None), (13108, "16k"), (19660, "16k"),
        (19661, None), (26215, "32k"), (39321, "32k"), (209716, "256k"), (209715, None), (314572, "256k"),
        (314573, None), (0, None),
    ],
)  # fmt: skip
def test_a_bucket_holds_both_its_ends(tokens: int, bucket: str | None) -> None:
    assert DEFAULT_LENGTHS.bucket_of(tokens) == bucket


def test_an_end_that_is_a_whole_number_belongs_to_the_bucket() -> None:
    lengths = Lengths(unit=1000)
    assert lengths.range_of("8k") == (6400, 9600)
    assert [lengths.bucket_of(tokens) for tokens in (6399, 6400, 9600, 9601)] == [None, "8k", "8k", None]


@given(st.integers(0, 400_000))
def test_range_bucket_and_distance_agree(tokens: int) -> None:
    bucket = DEFAULT_LENGTHS.bucket_of(tokens)
    for name in DEFAULT_LENGTHS.names():
        low, high = DEFAULT_LENGTHS.range_of(name)
        assert (bucket == name) == (low <= tokens <= high)
    for distance in DEFAULT_LENGTHS.nearest(tokens):
        assert DEFAULT_LENGTHS.bucket_of(tokens + distance.tokens) == distance.bucket


def test_a_document_between_buckets_is_told_the_way_to_both() -> None:
    assert DEFAULT_LENGTHS.nearest(40_000) == (Distance("32k", -679), Distance("64k", 12429))
    assert DEFAULT_LENGTHS.nearest(8192)[0] == Distance("8k", 0)
    assert DEFAULT_LENGTHS.nearest(1_000_000)[0] == Distance("256k", -685428)
    assert [distance.bucket for distance in DEFAULT_LENGTHS.nearest(10)] == ["8k", "16k"]


def test_a_wide_tolerance_gives_the_nearer_bucket() -> None:
    lengths = Lengths(tolerance_percent=60)
    assert lengths.bucket_of(11_000) == "8k"
    assert lengths.bucket_of(12_500) == "16k"


@pytest.mark.parametrize(
    "wrong", [{"targets": ()}, {"targets": (16, 8)}, {"targets": (0, 8)}, {"unit": 0}, {"tolerance_percent": 100}]
)
def test_lengths_refuse_nonsense(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\."):
        Lengths(**wrong)  # type: ignore[arg-type]


def test_an_unknown_bucket_has_no_range() -> None:
    with pytest.raises(KeyError):
        DEFAULT_LENGTHS.range_of("7k")


def tier(of: Tier, *answers: bool | None) -> list[ModelResult]:
    return [ModelResult(f"{of.value}{number}", of, (answer,)) for number, answer in enumerate(answers, 1)]


R, W = True, False
MOSTLY_RIGHT, FEW_RIGHT = (R, R, W, W, W), (R, W, W, W, W)


@pytest.mark.parametrize(
    ("high", "mid", "low", "label"),
    [
        (FEW_RIGHT, MOSTLY_RIGHT, MOSTLY_RIGHT, Difficulty.EXTREME),
        (MOSTLY_RIGHT, FEW_RIGHT, MOSTLY_RIGHT, Difficulty.HARD),
        (MOSTLY_RIGHT, MOSTLY_RIGHT, FEW_RIGHT, Difficulty.MODERATE),
        (MOSTLY_RIGHT, MOSTLY_RIGHT, MOSTLY_RIGHT, Difficulty.EASY),
        (FEW_RIGHT, FEW_RIGHT, FEW_RIGHT, Difficulty.EXTREME),
    ],
)
def test_the_first_tier_with_few_right_gives_the_label(
    high: tuple[bool, ...], mid: tuple[bool, ...], low: tuple[bool, ...], label: Difficulty
) -> None:
    judgement = judge([*tier(Tier.HIGH, *high), *tier(Tier.MID, *mid), *tier(Tier.LOW, *low)])
    assert judgement.difficulty is label
    assert judgement.missing == ()
    assert judgement.right == {Tier.HIGH: sum(high), Tier.MID: sum(mid), Tier.LOW: sum(low)}


def test_a_label_waits_for_the_models_of_its_tier() -> None:
    judgement = judge([*tier(Tier.HIGH, R, R, R, R, R), *tier(Tier.MID, W, None, W, W, None), *tier(Tier.LOW, R, R)])
    assert judgement.difficulty is None
    assert judgement.missing == ("mid2", "mid5")


def test_extreme_does_not_wait_for_lower_tiers() -> None:
    assert judge(tier(Tier.HIGH, W, W, W, W, R)).difficulty is Difficulty.EXTREME


def test_a_tier_without_models_is_missing() -> None:
    judgement = judge(tier(Tier.HIGH, R, R))
    assert judgement.difficulty is None
    assert judgement.missing == ("mid tier",)


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        ((R,), True), ((W, W, R), False), ((R, None, R), True), ((R, None, W), None), ((None,), None), ((), None),
        ((R, W), None),
    ],
)  # fmt: skip
def test_the_majority_of_runs_counts(runs: tuple[bool | None, ...], verdict: bool | None) -> None:
    assert ModelResult("m", Tier.LOW, runs).verdict is verdict
