"""Counting tokens: the real Qwen3 tokenizer, kept in this repository, or another one named by LBP_TOKENIZER.

The paper measures documents by Qwen3. Its `tokenizer.json` is read from an archive whose content is checked, and its
byte pairs are merged by tiktoken (about ten times as fast as `tokenizers`); tests hold the two equal. Everything in a
document is text: a string that looks like a special token (`<|endoftext|>`, `<think>`) is counted as the characters it
is made of. The text is brought to NFC for counting only, as Qwen3's own normaliser does; it is never changed itself.

Loaded at the first use, once per process, and safe to use from several threads.
"""

import hashlib
import json
import lzma
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
import tiktoken
from django.conf import settings
from numpy.typing import NDArray
from tokenizers import Tokenizer as HubTokenizer

ARCHIVE = Path(__file__).parent / "data" / "qwen3_tokenizer.json.xz"
SHA256 = "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4"

TOKENIZER_NAME: str = (settings.LBP_TOKENIZER or f"Qwen3 tokenizer.json sha256 {SHA256[:12]}")[-80:]

# The rule of Qwen3 that a blank leaves its last character to the word behind it. It alone makes the splitting slow: it
# is done by `at_blanks` instead, and the rest of the rules needs no look ahead.
LOOK_AHEAD = r"\s+(?!\S)|"
# Between the parts of a text, as a "special token" that no text holds. Its number is never seen outside.
CUT = "\0"
# White space that is neither the plain space nor an end of line, as the splitting rule knows it.
ODD_BLANKS = "\t\v\f\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_BLANK = re.compile("  +([^\n\r]?)")

_loading = Lock()


class Tokenizer(Protocol):
    def count(self, text: str) -> int: ...
    def encode(self, text: str) -> list[int]: ...
    def decode(self, ids: Sequence[int]) -> str: ...


class Qwen3:
    """Qwen3's vocabulary and splitting rule, merged by tiktoken."""

    def __init__(self, description: dict[str, Any]) -> None:
        alphabet = {letter: byte for byte, letter in byte_letters().items()}
        splitting = description["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"]
        # The vocabulary's ids are the order in which its pairs are merged.
        ranks = {bytes(alphabet[letter] for letter in word): id for word, id in description["model"]["vocab"].items()}
        self._cut = len(ranks)
        self._merging = tiktoken.Encoding(
            "qwen3",
            pat_str=splitting.replace(LOOK_AHEAD, ""),
            mergeable_ranks=ranks,
            special_tokens={CUT: self._cut},
        )

    def count(self, text: str) -> int:
        ids = self._ids(unicodedata.normalize("NFC", text))
        return len(ids) - int(np.count_nonzero(ids == self._cut))

    def encode(self, text: str) -> list[int]:
        ids = self._ids(text)
        return [int(id) for id in ids[ids != self._cut]]

    def _ids(self, text: str) -> NDArray[np.uint32]:
        """With the cuts between the parts. As an array: a list of a million numbers takes as long as the splitting."""
        parts = list(at_blanks(text))
        try:
            if CUT not in text:
                return self._merging.encode_to_numpy(CUT.join(parts), allowed_special={CUT}, disallowed_special=())
        except UnicodeEncodeError:
            pass  # half a character, which no document holds
        return np.array([id for part in parts for id in self._merging.encode_ordinary(part)], dtype=np.uint32)

    def decode(self, ids: Sequence[int]) -> str:
        return self._merging.decode_bytes(list(ids)).decode("utf-8", "ignore")


def at_blanks(text: str) -> Iterator[str]:
    """The text in parts, cut before the last character of every blank of two or more that a word follows on the same
    line. So split, the expression with LOOK_AHEAD and the one without find the same."""
    seen = text
    for blank in ODD_BLANKS:
        if blank in seen:
            seen = seen.replace(blank, " ")
    begun = 0
    for found in _BLANK.finditer(seen):
        if found[1]:
            yield text[begun : found.end() - 2]
            begun = found.end() - 2
    yield text[begun:]


class FromHub:
    """Any tokenizer that `transformers` can load. Its added tokens are taken out, so that they count as text."""

    def __init__(self, name: str) -> None:
        from transformers import AutoTokenizer  # noqa: PLC0415 -- slow to import, and only needed here

        backend = AutoTokenizer.from_pretrained(name).backend_tokenizer
        description = json.loads(backend.to_str())
        description.update(added_tokens=[], post_processor=None, truncation=None, padding=None)
        self._tokenizer = HubTokenizer.from_str(json.dumps(description))

    def count(self, text: str) -> int:
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=False)).strip("\ufffd")


def byte_letters() -> dict[int, str]:
    """The letter that stands for a byte in the vocabulary: the byte's own if it is printable, else from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = {byte: chr(byte) for byte in printable}
    others = [byte for byte in range(256) if byte not in letters]
    letters.update({byte: chr(0x100 + place) for place, byte in enumerate(others)})
    return letters


def read_description() -> dict[str, Any]:
    """Qwen3's tokenizer.json. Raises ValueError when the archive does not hold exactly that file."""
    data = lzma.decompress(ARCHIVE.read_bytes())
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ValueError(f"{ARCHIVE.name} does not hold the Qwen3 tokenizer with SHA-256 {SHA256}.")
    description: dict[str, Any] = json.loads(data)
    return description


@cache
def _load(name: str) -> Tokenizer:
    return FromHub(name) if name else Qwen3(read_description())


def _tokenizer() -> Tokenizer:
    with _loading:
        return _load(settings.LBP_TOKENIZER)


def count_tokens(text: str) -> int:
    """Exactly how many tokens the text has; strings that look like special tokens are text."""
    return _tokenizer().count(text)


def encode(text: str) -> list[int]:
    """The ids of the text as it stands, so that `decode(encode(text)) == text`."""
    return _tokenizer().encode(text)


def decode(ids: Sequence[int]) -> str:
    """The text of a run of ids. Where the run begins or ends inside a character, that character is left out."""
    return _tokenizer().decode(ids)
