"""Lifecycles as data: the states of a record and the moves between them.

Every record with a `state` field has one Lifecycle. `core.history.advance` is the only code that follows it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy


class Role(TextChoices):
    ANNOTATOR = "annotator", _("Annotator")
    EXPERT = "expert", _("Expert")
    LEAD = "lead", _("Lead")


class Theme(TextChoices):
    SYSTEM = "", _("as the system")
    LIGHT = "light", _("light")
    DARK = "dark", _("dark")


class Scope(TextChoices):
    READ = "read", pgettext_lazy("scope of a token", "read")
    WRITE = "write", pgettext_lazy("scope of a token", "write")


@dataclass(frozen=True)
class Move:
    """One legal change of state: `name` is the action's word, `sources` where it may start, `target` where it ends."""

    name: str
    sources: frozenset[str]
    target: str


class Lifecycle:
    """The whole table of one record's states. A move that is not in it does not exist."""

    def __init__(
        self,
        states: type[TextChoices],
        moves: Iterable[tuple[str, Iterable[str] | str, str]],
    ) -> None:
        self.states = states
        self.moves: dict[str, Move] = {}
        for name, sources, target in moves:
            if name in self.moves:
                raise ValueError(f"move {name} is listed twice")
            start = frozenset([sources]) if isinstance(sources, str) else frozenset(sources)
            unknown = {str(state) for state in (*start, target)} - set(states.values)
            if unknown:
                raise ValueError(f"move {name} names unknown states {sorted(unknown)}")
            self.moves[name] = Move(name, frozenset(str(state) for state in start), str(target))

    def allows(self, state: str, move: str) -> bool:
        return state in self.moves[move].sources

    def moves_from(self, state: str) -> list[Move]:
        return [move for move in self.moves.values() if state in move.sources]
