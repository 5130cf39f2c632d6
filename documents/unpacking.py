"""What an uploader hands over, taken apart into texts: files, folders, archives (zip, tar, tar.gz), JSONL, JSON.

Nothing is written to disk and nothing is trusted: names are only shown, sizes are checked before and counted while
reading, and whatever is wrong with one part is said for that part (a Piece with a refusal) while the others go on.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from django.utils.translation import gettext as _

from core.refusals import Refused, RuleBroken
from core.text import clean_text
from documents.archives import DAMAGED, LITTER, MAX_UNPACKED, TAR, ZIP, damaged, members_of
from documents.intake import too_large
from documents.jsonl import Piece, of_json, of_lines

MAX_NAME = 1_000

JSONL = frozenset({".jsonl", ".ndjson"})
JSON = frozenset({".json"})


def pieces_of_path(path: Path) -> Iterator[Piece]:
    """A file, or every file of a folder in the order of their names. Links that lead elsewhere are not followed."""
    if path.is_dir():
        found = False
        for part in sorted(path.rglob("*")):
            if part.is_file() and not part.is_symlink() and part.name not in LITTER:
                found = True
                yield from pieces_of_path(part)
        if not found:
            yield Piece(shown(str(path)), refusal=RuleBroken(_("The folder holds no file."), rule="empty"))
        return
    try:
        if path.stat().st_size > MAX_UNPACKED:
            raise too_large(path.stat().st_size)
        data = path.read_bytes()
    except OSError as error:
        words = _("The file cannot be read: %(reason)s.") % {"reason": error.strerror or type(error).__name__}
        yield Piece(str(path), refusal=RuleBroken(words, rule="unreadable"))
    except Refused as refusal:
        yield Piece(str(path), refusal=refusal)
    else:
        yield from pieces_of(str(path), data)


def pieces_of(name: str, data: bytes) -> Iterator[Piece]:
    """The texts in one file, by the end of its name."""
    kind = PurePosixPath(name).suffix.lower()
    name = shown(name)
    try:
        if kind in ZIP | TAR:
            yield from _of_archive(name, kind, data)
        else:
            yield from _of_file(name, kind, data)
    except Refused as refusal:
        yield Piece(name, refusal=refusal)
    except DAMAGED:
        yield Piece(name, refusal=damaged())


def _of_file(name: str, kind: str, data: bytes) -> Iterator[Piece]:
    if kind in JSONL:
        yield from of_lines(name, data)
    elif kind in JSON:
        yield from of_json(name, data)
    else:
        yield Piece(name, data=data)


def shown(name: str) -> str:
    """A name as it is shown and stored: one line, no control characters, whole characters, not endless. An ordinary
    name stays as it is."""
    return name if name.isprintable() and len(name) <= MAX_NAME else " ".join(clean_text(name).split())[:MAX_NAME]


def _of_archive(name: str, kind: str, data: bytes) -> Iterator[Piece]:
    found = False
    for inner, content in members_of(kind, data):
        found = True
        path = f"{name}/{shown(inner)}"
        if isinstance(content, Refused):
            yield Piece(path, refusal=content)
        else:
            yield from _of_member(path, PurePosixPath(inner).suffix.lower(), content)
    if not found:
        yield Piece(name, refusal=RuleBroken(_("The archive holds no file."), rule="empty"))


def _of_member(path: str, kind: str, content: bytes) -> Iterator[Piece]:
    try:
        if kind in ZIP | TAR:
            words = _("An archive inside an archive is not read. Unpack the outer one, and bring in what is in it.")
            raise RuleBroken(words, rule="archive")
        yield from _of_file(path, kind, content)
    except Refused as refusal:
        yield Piece(path, refusal=refusal)
