"""Where things stand in the plots: numbers for SVG, as text that no language changes. The words are the templates'."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from leading.pace import Forecast, Point

WIDTH, HEIGHT = 420, 150
LEFT, RIGHT, TOP, BOTTOM = 38, 414, 10, 126
# So far beyond the forecast's date the plot goes at most: an open end would press the rest together.
ROOM = 0.6
# Closer than this, the words below the axis would stand on each other.
APART = 58


@dataclass(frozen=True)
class Tick:
    at: str
    anchor: str = "middle"
    value: int = 0
    day: date | None = None


@dataclass(frozen=True)
class Curve:
    """The forecast's plot: what was accepted, the dashed line to the target, and between the earliest and the latest
    day the likely area."""

    line: str
    ahead: str
    area: str
    here: tuple[str, str]
    rows: list[Tick]
    columns: list[Tick]


def curve_of(expected: Forecast) -> Curve | None:
    """None while nothing is accepted."""
    if not expected.curve:
        return None
    first, now = expected.curve[0].day - timedelta(days=1), expected.curve[-1]
    scale = _Scale(first, _end(expected, first, now.day), max(expected.target, now.accepted, 1))
    points = [Point(first, 0), *expected.curve]
    return Curve(
        line=" ".join(f"{scale.x(point.day)},{scale.y(point.accepted)}" for point in points),
        ahead=_ahead(expected, scale, now),
        area=_area(expected, scale, now),
        here=(scale.x(now.day), scale.y(now.accepted)),
        rows=[Tick(scale.y(value), value=value) for value in _round_values(scale.top)],
        columns=_columns(expected, scale, first, now.day),
    )


def _end(expected: Forecast, first: date, now: date) -> date:
    if expected.finish is None:
        return max(now, first + timedelta(days=7))
    farthest = expected.finish + (expected.finish - first) * ROOM
    return min(expected.latest or farthest, farthest)


@dataclass(frozen=True)
class _Scale:
    first: date
    last: date
    top: int

    def x(self, day: date) -> str:
        return self.along((day - self.first).days)

    def along(self, days: float) -> str:
        return f"{LEFT + (RIGHT - LEFT) * min(1.0, days / max(1, (self.last - self.first).days)):.1f}"

    def y(self, value: float) -> str:
        return f"{BOTTOM - (BOTTOM - TOP) * min(1.0, value / self.top):.1f}"


def _ahead(expected: Forecast, scale: _Scale, now: Point) -> str:
    if expected.finish is None:
        return ""
    return f"{scale.x(now.day)},{scale.y(now.accepted)} {scale.x(expected.finish)},{scale.y(expected.target)}"


def _area(expected: Forecast, scale: _Scale, now: Point) -> str:
    """From today to the target on the earliest day, and on the latest, or to where the plot ends before it."""
    if expected.finish is None or expected.earliest is None:
        return ""
    start = f"{scale.x(now.day)},{scale.y(now.accepted)}"
    early = f"{scale.x(expected.earliest)},{scale.y(expected.target)}"
    if expected.latest is not None and expected.latest <= scale.last:
        return f"{start} {early} {scale.x(expected.latest)},{scale.y(expected.target)}"
    corner, level = f"{scale.x(scale.last)},{scale.y(expected.target)}", float(now.accepted)
    if expected.latest is not None:
        share = (scale.last - now.day) / (expected.latest - now.day)
        level += (expected.target - now.accepted) * share
    return f"{start} {early} {corner} {scale.x(scale.last)},{scale.y(level)}"


def _round_values(top: int) -> list[int]:
    """Nought, the top, and round numbers between them."""
    step = 1
    while top / step > 4:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    between = [value for value in range(step, top, step) if top - value > step / 2]
    return [0, *between, top]


def _columns(expected: Forecast, scale: _Scale, first: date, now: date) -> list[Tick]:
    """The beginning, today, the forecast, the plot's end: those that find room, the forecast first."""
    wished = [expected.finish, now, first, scale.last]
    ticks: list[Tick] = []
    for day in wished:
        if day is None or day > scale.last:
            continue
        at = scale.x(day)
        if all(abs(float(at) - float(tick.at)) >= APART for tick in ticks):
            anchor = "start" if day == scale.first else "end" if float(at) > RIGHT - 24 else "middle"
            ticks.append(Tick(at, anchor=anchor, day=day))
    return ticks


def bars(counts: Sequence[int], largest: int, height: int = 20) -> str:
    """A path of bars, one unit wide each, in a field of `height`."""
    parts = []
    for at, count in enumerate(counts):
        if count:
            tall = max(1.0, count * height / max(1, largest))
            parts.append(f"M{at}.1 {height}v-{tall:.1f}h.8V{height}z")
    return "".join(parts)
