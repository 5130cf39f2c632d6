"""The `django.po` files: one for each app that shows words, beside its code."""

from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

LOCALE = "zh_Hans"
PATTERNS = (f"locale/{LOCALE}/LC_MESSAGES/django.po", f"*/locale/{LOCALE}/LC_MESSAGES/django.po")
HEADER = """# The words of {name}, in Simplified Chinese.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Language: {locale}\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""

Key = tuple[str | None, str]


@dataclass(frozen=True)
class Book:
    """One catalogue and the file it lies in. `name` says whose it is."""

    path: Path
    name: str
    catalog: Catalog

    def entries(self) -> dict[Key, Message]:
        return {key_of(message): message for message in self.catalog if message.id}


def key_of(message: Message) -> Key:
    words = message.id[0] if isinstance(message.id, list | tuple) else message.id
    return message.context, str(words)


def translations_of(message: Message) -> list[str]:
    """What the message is in Chinese, in one form for each plural; empty when it is missing or only a guess."""
    forms = list(message.string) if isinstance(message.string, list | tuple) else [message.string]
    return [] if message.fuzzy or not all(forms) else [str(form) for form in forms]


def books(root: Path) -> list[Book]:
    """Raises PoFileError, with file and line, for a file that cannot be read."""
    return [_read(path, path.relative_to(root).parts[0]) for path in paths(root)]


def paths(root: Path) -> list[Path]:
    return sorted(path for pattern in PATTERNS for path in root.glob(pattern))


def book_of(root: Path, owner: str) -> Book:
    """The catalogue of an app, an empty one when it has none yet."""
    path = root / owner / "locale" / LOCALE / "LC_MESSAGES" / "django.po"
    if path.exists():
        return _read(path, owner)
    return Book(path, owner, Catalog(locale=LOCALE, fuzzy=False))


def _read(path: Path, name: str) -> Book:
    with path.open("rb") as file:
        return Book(path, name, read_po(file, locale=LOCALE, charset="utf-8", abort_invalid=True))


def write(book: Book) -> None:
    """Under a header of what gettext reads; no dates and no names, which only make merges collide."""
    book.path.parent.mkdir(parents=True, exist_ok=True)
    with book.path.open("wb") as file:
        file.write(HEADER.format(name=book.name, locale=LOCALE).encode())
        write_po(file, book.catalog, width=120, include_lineno=False, omit_header=True)


def compile_all(root: Path) -> int:
    """Every catalogue that is newer than its compiled form; how many that were."""
    stale = [path for path in paths(root) if _is_stale(path)]
    for path in stale:
        book = _read(path, path.parts[-5])
        with path.with_suffix(".mo").open("wb") as file:
            write_mo(file, book.catalog)
    return len(stale)


def _is_stale(path: Path) -> bool:
    compiled = path.with_suffix(".mo")
    return not compiled.exists() or compiled.stat().st_mtime <= path.stat().st_mtime
