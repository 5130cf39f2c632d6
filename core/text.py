"""Text from outside, made storable. PostgreSQL refuses NUL and lone surrogates, SQLite stores both (in JSON): so they
are taken out here, before the ORM, on both."""

import re
from typing import Any, TypeVar

from django.utils.translation import gettext_lazy

# Django's own words for it, which it uses in its forms: its Chinese translation is no sentence, ours stands before it.
NO_NULL_CHARACTERS = gettext_lazy("Null characters are not allowed.")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

T = TypeVar("T")


def clean_text(text: str) -> str:
    """Line ends to LF, NUL and other control characters removed (tab and LF stay), lone surrogates to U+FFFD."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSTORABLE.sub("\ufffd", _CONTROLS.sub("", text))


def is_clean(text: str) -> bool:
    return not _UNSTORABLE.search(text)


def clean_value(value: T) -> T:
    """`clean_text` on every string of a JSON value, keys included."""
    cleaned: Any = value
    if isinstance(value, str):
        cleaned = clean_text(value)
    elif isinstance(value, dict):
        cleaned = {clean_value(key): clean_value(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        cleaned = type(value)(clean_value(item) for item in value)
    return cleaned
