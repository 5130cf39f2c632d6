"""The sources held against the catalogues: nothing shown is untranslated, no placeholder is lost on the way."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Message

from config.translations import catalogues, extracting
from config.translations.catalogues import Key

PLACEHOLDER = re.compile(
    r"%%"
    r"|%\((?P<name>\w+)\)[#0 +-]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]"
    r"|%[#0+-]?\d*(?:\.\d+)?[diouxXeEfFgGcrsa](?![A-Za-z])"
    r"|\{(?P<field>[A-Za-z_]\w*)(?:![rsa])?(?::[^{}]*)?\}"
)


@dataclass(frozen=True)
class Fault:
    place: str
    words: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}: {self.words!r}"


@dataclass(frozen=True)
class Report:
    """`faults` fail the check; `notes` are for whoever tidies."""

    faults: list[Fault]
    notes: list[Fault]


def check(root: Path) -> Report:
    translated = _translated(root)
    shown = _first_places(root)
    faults = [
        Fault(source.place, source.words, f"no translation ({source.owner})")
        for key, source in shown.items()
        if key not in translated
    ]
    notes: list[Fault] = []
    for key, entries in translated.items():
        for name, message in entries:
            place = f"{name}/locale, line {message.lineno}"
            faults.extend(Fault(place, key[1], text) for text in _placeholder_faults(message))
            if key not in shown and name != "benchmark":
                notes.append(Fault(place, key[1], "not shown any more"))
        wordings = {tuple(catalogues.translations_of(message)) for _, message in entries}
        if len(wordings) > 1:
            names = ", ".join(name for name, _ in entries)
            notes.append(Fault(names, key[1], "translated in different ways, the first app wins"))
    return Report(faults, notes)


def update(root: Path) -> dict[str, int]:
    """Add what has no entry anywhere, untranslated, to the catalogue of the app that shows it; how many by app."""
    known = {key for book in catalogues.books(root) for key in book.entries()}
    missing: dict[str, list[extracting.Source]] = defaultdict(list)
    for key, source in _first_places(root).items():
        if key not in known:
            missing[source.owner].append(source)
    for owner, found in missing.items():
        book = catalogues.book_of(root, owner)
        for source in found:
            words = (source.words, source.plural) if source.plural else source.words
            book.catalog.add(words, context=source.context, locations=[(source.path, source.line)])
        catalogues.write(book)
    return {owner: len(found) for owner, found in missing.items()}


def _first_places(root: Path) -> dict[Key, extracting.Source]:
    first: dict[Key, extracting.Source] = {}
    for source in extracting.sources(root):
        first.setdefault(source.key, source)
    return first


def _translated(root: Path) -> dict[Key, list[tuple[str, Message]]]:
    found: dict[Key, list[tuple[str, Message]]] = defaultdict(list)
    for book in catalogues.books(root):
        for key, message in book.entries().items():
            if catalogues.translations_of(message):
                found[key].append((book.name, message))
    return found


def _placeholder_faults(message: Message) -> list[str]:
    """A form may leave out nothing that every English form has, and may name nothing that none has."""
    english = [placeholders(str(form)) for form in (message.id if isinstance(message.id, tuple) else (message.id,))]
    needed, known = set.intersection(*english), set.union(*english)
    faults = []
    for form in catalogues.translations_of(message):
        given = placeholders(form)
        if needed - given:
            faults.append(f"the translation lacks {', '.join(sorted(needed - given))}")
        if given - known:
            faults.append(f"the translation has unknown {', '.join(sorted(given - known))}")
    return faults


def placeholders(text: str) -> set[str]:
    """`%(name)s`, `{name}` and positional `%s`, the last numbered, so that a lost one is seen."""
    found: set[str] = set()
    positional = 0
    for match in PLACEHOLDER.finditer(text):
        if match["name"]:
            found.add(f"%({match['name']})")
        elif match["field"]:
            found.add(f"{{{match['field']}}}")
        elif match[0] != "%%":
            positional += 1
            found.add(f"%s no. {positional}")
    return found
