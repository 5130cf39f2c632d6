"""How simulated models go wrong: mistakes of the kind that an answer of each form invites."""

import re
from collections.abc import Sequence

from generation.demo.asking import ACCURACY, F1, NDCG, PAIRWISE, Asked
from generation.demo.chance import Chance
from generation.demo.kinds.figures import NO_ERROR, YES_NO

_NUMBER = re.compile(r"\d+")
_SHARE = re.compile(r"\d+\.\d\d%$")


def other_lines(asked: Asked, lines: Sequence[str]) -> list[str]:
    """What might stand in the answer and does not: labels of options, or terms that were asked about."""
    labels = [label for label, _ in asked.labelled]
    pool = labels if set(lines) <= set(labels) else list(asked.terms)
    return [one for one in pool if one not in lines]


def spoiled(chance: Chance, metric: str, lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """Lines that are not right any more, in the form the task asks for; unchanged when there is no way."""
    if metric == ACCURACY:
        return [chance.pick([one for one in (others or "ABCD") if one not in lines])]
    if metric == PAIRWISE:
        return _swapped(chance, lines)
    if metric == NDCG:
        return (
            chance.pick([_swapped, _without, _with_wrong_first])(chance, lines, others)
            if others
            else _swapped(chance, lines)
        )
    if metric == F1:
        return _other_set(chance, lines, others)
    return _other_figures(chance, lines, others)


def _swapped(chance: Chance, lines: Sequence[str], others: Sequence[str] = ()) -> list[str]:
    mixed = list(lines)
    if len(mixed) >= 2:
        place = chance.below(len(mixed) - 1)
        mixed[place], mixed[place + 1] = mixed[place + 1], mixed[place]
    return mixed


def _without(chance: Chance, lines: Sequence[str], others: Sequence[str] = ()) -> list[str]:
    if len(lines) <= 2:
        return _swapped(chance, lines)
    dropped = chance.below(len(lines))
    return [line for place, line in enumerate(lines) if place != dropped]


def _with_wrong_first(chance: Chance, lines: Sequence[str], others: Sequence[str]) -> list[str]:
    return [chance.pick(others), *lines]


def _other_set(chance: Chance, lines: Sequence[str], others: Sequence[str]) -> list[str]:
    if others and (len(lines) < 2 or chance.unit() < 0.5):
        return [*lines, chance.pick(others)]
    if len(lines) >= 2 and chance.unit() < 0.7:
        dropped = chance.below(len(lines))
        return [line for place, line in enumerate(lines) if place != dropped]
    return _one_changed(chance, lines)


def _other_figures(chance: Chance, lines: Sequence[str], others: Sequence[str]) -> list[str]:
    if all(_SHARE.search(line) for line in lines):
        return _shares_moved(chance, lines)
    if lines and lines[0] in NO_ERROR.values():
        return [chance.pick(others)] if others else list(lines)
    return _one_changed(chance, lines)


def _shares_moved(chance: Chance, lines: Sequence[str]) -> list[str]:
    """Two classes with each other's share: the sum stays 100.00 %."""
    pairs = [line.rsplit(" ", 1) for line in lines]
    for first in range(len(pairs) - 1):
        if pairs[first][1] != pairs[first + 1][1]:
            pairs[first][1], pairs[first + 1][1] = pairs[first + 1][1], pairs[first][1]
            break
    return [" ".join(pair) for pair in pairs]


def _one_changed(chance: Chance, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    changed = list(lines)
    place = chance.below(len(changed))
    line = changed[place]
    numbers = list(_NUMBER.finditer(line))
    if numbers:
        last = numbers[-1] if "%" not in line else numbers[0]
        for step in range(1, 50):
            value = int(last.group()) + step
            candidate = f"{line[: last.start()]}{value}{line[last.end() :]}"
            if candidate not in lines:
                changed[place] = candidate
                return changed
    for yes, no in YES_NO.values():
        if line.endswith((f" {yes}", f" {no}")):
            head, said = line.rsplit(" ", 1)
            changed[place] = f"{head} {no if said == yes else yes}"
            return changed
    return changed[:place] + changed[place + 1 :] if len(changed) > 1 else changed
