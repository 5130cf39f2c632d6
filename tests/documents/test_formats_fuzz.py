"""Broken in a thousand ways: whatever bytes come, a text or a refusal with words comes out, and the process lives."""

import random
from collections.abc import Callable

import pytest

from core.refusals import Invalid, RuleBroken
from documents.declaring import decode_page
from documents.decoding import decode
from documents.extracting import read_document
from documents.formats import book, markup, pages, rows, structure, word
from documents.formats.answers import Answer
from documents.formats.faults import Fault
from documents.unpacking import pieces_of
from tests.documents.made import pdf
from tests.documents.made.packages import chapter, docx, epub, paragraph, zipped

PLAIN = "The brig Heron came in with salt; 苍鹭号进了港。" * 20
SEEDS: dict[str, bytes] = {
    "a.pdf": pdf.of_pages([["The brig Heron", "came in"], ["with salt"]]),
    "a.docx": docx(paragraph("The brig") + f"<w:tbl><w:tr><w:tc>{paragraph('salt')}</w:tc></w:tr></w:tbl>"),
    "a.epub": epub({"a.xhtml": chapter("<p>The brig"), "b.xhtml": chapter("<ul><li>salt")}),
    "a.html": f"<title>T</title><table><tr><td>{PLAIN}<ol><li>x<pre>y".encode(),
    "a.json": b'[{"text": "one", "title": "T"}, {"a": [1, 2, {"b": null}]}]',
    "a.zip": zipped({"a.txt": PLAIN, "b.jsonl": '{"text": "x"}\n'}),
    "a.jsonl": b'{"text": "one"}\n{"text": "two", "multi": true}\n',
    "a.txt": PLAIN.encode("gb18030"),
}


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, cut out, doubled, or the end gone."""
    broken = bytearray(data)
    for _change in range(chance.randint(1, 8)):
        place = chance.randrange(len(broken) or 1)
        length = chance.choice([1, 1, 2, 8, 64])
        kind = chance.randrange(5)
        if kind == 0:
            broken[place : place + length] = chance.randbytes(length)
        elif kind == 1:
            del broken[place : place + length]
        elif kind == 2:
            broken[place:place] = broken[place : place + length] * chance.choice([1, 2, 100])
        elif kind == 3:
            broken[place : place + 1] = bytes([broken[place] ^ 1 << chance.randrange(8)]) if broken else b""
        elif chance.random() < 0.2:
            del broken[place:]
    return bytes(broken)


@pytest.mark.parametrize("name", SEEDS)
def test_a_broken_file_is_read_or_refused(name: str) -> None:
    chance = random.Random(name)
    for _round in range(12):
        data = mutated(SEEDS[name], chance)
        for piece in pieces_of(name, data):
            if piece.refusal is not None:
                assert str(piece.refusal)
            elif piece.data is not None:
                try:
                    assert read_document(piece.data, file_name=piece.path).text.strip()
                except RuleBroken as refused:
                    assert refused.rule != "unavailable"  # noqa: PT017 (either outcome is right)


READERS: dict[str, Callable[[bytes], Answer]] = {
    "a.docx": word.read,
    "a.epub": book.read,
    "a.html": markup.read,
    "a.json": structure.read,
    "a.pdf": pages.read,
}


@pytest.mark.parametrize("name", [name for name in READERS if name != "a.pdf"])
def test_the_parsers_of_our_own_know_every_way_to_fail(name: str) -> None:
    """Without the child, which would hide an error of ours as a damaged file."""
    chance = random.Random(name)
    for _round in range(400):
        data = mutated(SEEDS[name], chance)
        try:
            READERS[name](data)
            rows.read(data)
        except (Fault, UnicodeDecodeError):
            # JSON comes decoded from intake, so bytes that are no UTF-8 do not occur there.
            continue


def test_any_bytes_decode_or_are_refused() -> None:
    chance = random.Random(4)
    for _round in range(300):
        data = mutated(SEEDS["a.txt"] + SEEDS["a.html"], chance)
        for way in (decode, decode_page):
            for encoding in ("", "cp1252", "utf-16", "no such"):
                try:
                    way(data, encoding=encoding)
                except (RuleBroken, Invalid) as refused:
                    assert refused.rule in ("encoding", "type_mismatch", "invalid")  # noqa: PT017
