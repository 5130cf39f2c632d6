"""EPUB as text: the chapters in the order of the spine."""

import pytest

from core.refusals import RuleBroken
from documents.extracting import Read, read_document
from tests.documents.made.packages import chapter, epub, zipped


def read(data: bytes) -> Read:
    return read_document(data, file_name="a.epub")


def refused(data: bytes) -> RuleBroken:
    with pytest.raises(RuleBroken) as caught:
        read(data)
    return caught.value


def test_chapters_are_read_in_the_order_of_the_spine() -> None:
    found = read(
        epub(
            {
                "z/one.xhtml": chapter("<h1>One</h1><p>The brig."),
                "a.xhtml": chapter("<p>The sloop."),
                "empty.xhtml": chapter("<img src='x.png'/>"),
            },
            title="The &lt;log&gt;",
        )
    )
    assert found.text == "One\n\nThe brig.\n\nThe sloop."
    assert (found.title, found.format, found.remarks) == ("The <log>", "book", ())


def test_addresses_are_unquoted_and_only_looked_up_among_the_entries() -> None:
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="in/o.opf"/></container>',
        "in/o.opf": '<package><item id="a" href="../a%20b.xhtml#part"/><itemref idref="a"/></package>',
        "a b.xhtml": chapter("<p>kept"),
    }
    assert read(zipped(parts)).text == "kept"
    outside = epub({"missing/../../../../etc/passwd": "", "a.xhtml": chapter("<p>kept")}, folder="")
    found = read(outside)
    assert found.text == "kept"
    assert [(remark.rule, remark.count) for remark in found.remarks] == [("missing_chapters", 1)]


XHTML = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'


def test_the_ordinary_doctype_of_xhtml_is_fine() -> None:
    assert read(epub({"a.xhtml": chapter("<p>kept&nbsp;here", XHTML)})).text == "kept\u00a0here"


@pytest.mark.parametrize(
    "doctype",
    ['<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '<!DOCTYPE html [\n<!ENTITY x "aaaa">]>'],
)
def test_a_doctype_that_declares_something_is_refused(doctype: str) -> None:
    """B-36"""
    refusal = refused(epub({"a.xhtml": chapter("<p>&x;", doctype)}))
    assert refusal.rule == "xml_doctype"
    assert "a.xhtml" in str(refusal)


@pytest.mark.parametrize(
    ("method", "rule"),
    [
        ("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "encrypted"),
        ("http://www.idpf.org/2008/embedding", ""),
    ],
)
def test_a_protected_book_is_refused_and_scrambled_fonts_are_fine(method: str, rule: str) -> None:
    """B-40"""
    parts = {
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="o.opf"/></rootfiles></container>',
        "META-INF/encryption.xml": (
            '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            f'<enc:EncryptionMethod Algorithm="{method}"/></enc:EncryptedData></encryption>'
        ),
        "o.opf": '<package><item id="a" href="a.xhtml"/><spine><itemref idref="a"/></spine></package>',
        "a.xhtml": chapter("<p>kept"),
    }
    if rule:
        assert refused(zipped(parts)).rule == rule
    else:
        assert read(zipped(parts)).text == "kept"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1", "gb2312"])
def test_a_chapter_is_read_in_the_encoding_it_declares(encoding: str) -> None:
    words = {"gb2312": "苍鹭号载着盐进了港。", "iso-8859-1": "Le héron entra."}.get(encoding, "Héron 苍鹭")
    page = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?><html><body><p>{words}</p></body></html>'
    assert read(epub({"a.xhtml": page.encode(encoding)})).text == words


def test_a_chapter_in_no_declared_encoding_is_named() -> None:
    refusal = refused(epub({"a.xhtml": chapter("<p>é").encode("latin-1")}))
    assert refusal.rule == "encoding"
    assert "a.xhtml" in str(refusal)


@pytest.mark.parametrize(
    "parts",
    [
        {"META-INF/container.xml": "<container/>"},
        {"META-INF/container.xml": "no xml"},
        {"META-INF/container.xml": '<rootfile full-path="../../etc/passwd"/>'},
        {"META-INF/container.xml": '<rootfile full-path="o.opf"/>', "o.opf": "<package/>"},
        {"META-INF/container.xml": '<rootfile full-path="o.opf"/>', "o.opf": '<package><itemref idref="x"/></package>'},
    ],
)
def test_a_book_that_is_none_is_refused(parts: dict[str, str]) -> None:
    assert refused(zipped(parts)).rule == "damaged"
