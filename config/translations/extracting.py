"""Every string of the sources that people may read in their language."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_python
from django.utils.translation import TranslatorCommentWarning
from django.utils.translation.template import templatize

PACKAGES = ("config", "leading", "release", "review", "annotation", "generation", "documents", "core", "benchmark")
# Templates of the shell and of the accounts belong to core.
SHELL = "core"
SKIPPED = {"migrations", "locale", "static", "data", "__pycache__"}

# function -> where the context, the singular and the plural stand among its arguments (from 1)
KEYWORDS: dict[str, tuple[int | None, int, int | None]] = {
    "_": (None, 1, None),
    "N_": (None, 1, None),
    "gettext": (None, 1, None),
    "gettext_lazy": (None, 1, None),
    "gettext_noop": (None, 1, None),
    "ngettext": (None, 1, 2),
    "ngettext_lazy": (None, 1, 2),
    "pgettext": (1, 2, None),
    "pgettext_lazy": (1, 2, None),
    "npgettext": (1, 2, 3),
    "npgettext_lazy": (1, 2, 3),
}


@dataclass(frozen=True)
class Source:
    """One place that shows a string. `owner` is the app whose catalogue translates it."""

    owner: str
    path: str
    line: int
    context: str | None
    words: str
    plural: str | None

    @property
    def key(self) -> tuple[str | None, str]:
        return self.context, self.words

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def sources(root: Path) -> list[Source]:
    """Of all packages and templates below `root`, in the order of files and lines."""
    found: list[Source] = []
    for package in PACKAGES:
        for path in _files(root / package, "*.py"):
            found.extend(_of_python(path.read_text(encoding="utf-8"), package, str(path.relative_to(root))))
        for path in _files(root / package / "templates", "*.html"):
            found.extend(_of_template(path.read_text(encoding="utf-8"), package, str(path.relative_to(root))))
    # E-mails are plain text.
    for path in [*_files(root / "templates", "*.html"), *_files(root / "templates", "*.txt")]:
        name = path.relative_to(root)
        owner = name.parts[1] if name.parts[1] in PACKAGES else SHELL
        found.extend(_of_template(path.read_text(encoding="utf-8"), owner, str(name)))
    return found


def _files(folder: Path, pattern: str) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob(pattern) if not SKIPPED & set(path.relative_to(folder).parts))


def _of_template(text: str, owner: str, path: str) -> Iterator[Source]:
    """Django turns a template into calls that look like Python; what is not a call becomes noise, whose indentation
    must not be read as Python's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TranslatorCommentWarning)
        calls = templatize(text, origin=path)
    return _of_python("\n".join(line.strip() for line in calls.split("\n")), owner, path)


def _of_python(code: str, owner: str, path: str) -> Iterator[Source]:
    found: Any = extract_python(BytesIO(code.encode()), dict.fromkeys(KEYWORDS), (), {})
    for line, function, messages, _comments in found:
        context, words, plural = KEYWORDS[function]
        arguments = messages if isinstance(messages, tuple) else (messages,)
        text = _argument(arguments, words)
        if text:
            yield Source(owner, path, line, _argument(arguments, context), text, _argument(arguments, plural))


def _argument(arguments: tuple[str | None, ...], number: int | None) -> str | None:
    return arguments[number - 1] if number and len(arguments) >= number else None
