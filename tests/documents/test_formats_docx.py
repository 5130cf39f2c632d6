"""DOCX as text: what Word shows, and nothing that it hides, follows or runs."""

import io

import docx
import pytest
from docx.enum.text import WD_BREAK

from core.refusals import RuleBroken
from documents.extracting import Read, read_document
from documents.formats import asking
from documents.formats.asking import Limits
from documents.wording import remark_in_words
from tests.documents.made.bombs import overlapping, zip_of_zeros
from tests.documents.made.costs import at_most
from tests.documents.made.packages import OPEN, TYPES, W, docx_of, paragraph, zipped
from tests.documents.made.packages import docx as made


def read(data: bytes) -> Read:
    return read_document(data, file_name="a.docx")


def refused(data: bytes) -> RuleBroken:
    with pytest.raises(RuleBroken) as caught:
        read(data)
    return caught.value


def rules(found: Read) -> dict[str, int]:
    return {remark.rule: remark.count for remark in found.remarks}


def test_a_document_that_python_docx_wrote_reads_as_it_shows() -> None:
    written = docx.Document()
    written.core_properties.title = "The log  of the port"
    written.add_heading("Of the port", 1)
    written.add_paragraph("The brig came in.")
    for style in ("List Bullet", "List Bullet", "List Number", "List Number"):
        written.add_paragraph(style, style=style)
    table = written.add_table(2, 2)
    for place, words in enumerate(["ship", "salt", "Heron", "four\nbarrels"]):
        table.cell(place // 2, place % 2).text = words
    last = written.add_paragraph("after ")
    last.add_run("bold").bold = True
    last.add_run("\tand on")
    last.add_run().add_break(WD_BREAK.LINE)
    last.add_run("below")
    last.add_run(" unseen").font.hidden = True
    buffer = io.BytesIO()
    written.save(buffer)
    found = read(buffer.getvalue())
    assert found.title == "The log of the port"
    assert found.text == (
        "Of the port\n\nThe brig came in.\n\n- List Bullet\n- List Bullet\n1. List Number\n2. List Number\n\n"
        "ship\tsalt\nHeron\tfour barrels\n\nafter bold\tand on\nbelow"
    )
    assert rules(found) == {"hidden_text": 1}


def test_tracked_insertions_are_in_and_deletions_are_out() -> None:
    """B-41"""
    body = (
        '<w:p><w:r><w:t xml:space="preserve">The brig </w:t></w:r>'
        '<w:ins w:id="1" w:author="A"><w:r><w:t xml:space="preserve">Heron </w:t></w:r></w:ins>'
        '<w:del w:id="2" w:author="A"><w:r><w:delText>Tern </w:delText></w:r></w:del>'
        "<w:r><w:t>came in.</w:t></w:r></w:p>"
        '<w:p><w:moveFrom w:id="3"><w:r><w:t>Moved.</w:t></w:r></w:moveFrom></w:p>'
        '<w:p><w:moveTo w:id="4"><w:r><w:t>Moved.</w:t></w:r></w:moveTo></w:p>'
    )
    found = read(made(body))
    assert found.text == "The brig Heron came in.\n\nMoved."
    assert rules(found) == {"tracked_changes": 3}
    assert "deletions left out" in remark_in_words(found.remarks[0].as_json())


def test_comments_are_out_and_notes_stand_numbered_behind_the_text() -> None:
    """B-41"""
    body = (
        '<w:p><w:r><w:t>Salt</w:t></w:r><w:r><w:footnoteReference w:id="7"/></w:r>'
        '<w:r><w:t xml:space="preserve"> and tar</w:t></w:r><w:r><w:endnoteReference w:id="3"/></w:r>'
        '<w:r><w:commentReference w:id="0"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    )
    footnotes = (
        f'<w:footnotes {W}><w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:footnote>'
        f'<w:footnote w:id="2">{paragraph("Twice taxed.")}</w:footnote>'
        f'<w:footnote w:id="7">{paragraph("From the south.")}</w:footnote></w:footnotes>'
    )
    endnotes = f'<w:endnotes {W}><w:endnote w:id="3">{paragraph("Of pine.")}</w:endnote></w:endnotes>'
    comments = f'<w:comments {W}><w:comment w:id="0">{paragraph("Are you sure?")}</w:comment></w:comments>'
    found = read(made(body, word__footnotes_xml=footnotes, word__endnotes_xml=endnotes, word__comments_xml=comments))
    assert found.text == (
        "Salt[1] and tar[e1][2]\n\nFootnotes\n\n[1] From the south.\n\n[2] Twice taxed.\n\nEndnotes\n\n[e1] Of pine."
    )
    assert rules(found) == {"comments_left_out": 1, "footnotes": 2, "endnotes": 1}


def test_notes_of_a_chinese_text_stand_under_a_chinese_heading() -> None:
    body = '<w:p><w:r><w:t>苍鹭号载着盐进了港。</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r></w:p>'
    notes = f'<w:footnotes {W}><w:footnote w:id="1">{paragraph("自南来。")}</w:footnote></w:footnotes>'
    assert read(made(body, word__footnotes_xml=notes)).text == "苍鹭号载着盐进了港。[1]\n\n脚注\n\n[1] 自南来。"


def test_numbers_of_headings_and_articles_are_counted_as_word_counts_them() -> None:
    def level(depth: int, form: str, pattern: str, start: int = 1) -> str:
        return (
            f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
            f'<w:lvlText w:val="{pattern}"/></w:lvl>'
        )

    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="5">{level(0, "chineseCounting", "第%1章")}'
        f"{level(1, 'decimal', '%1.%2')}{level(2, 'lowerLetter', '(%3)', 3)}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num></w:numbering>'
    )
    styles = (
        f'<w:styles {W}><w:style w:styleId="H1"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="H2"><w:basedOn w:val="H1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style></w:styles>'
    )
    item = '<w:pPr><w:numPr><w:ilvl w:val="2"/><w:numId w:val="1"/></w:numPr></w:pPr>'
    none = '<w:pPr><w:pStyle w:val="H1"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>'
    body = "".join(
        paragraph(text, properties)
        for text, properties in [
            ("总则", '<w:pPr><w:pStyle w:val="H1"/></w:pPr>'),
            ("目的", '<w:pPr><w:pStyle w:val="H2"/></w:pPr>'),
            ("甲", item),
            ("乙", item),
            ("范围", '<w:pPr><w:pStyle w:val="H2"/></w:pPr>'),
            ("分则", '<w:pPr><w:pStyle w:val="H1"/></w:pPr>'),
            ("附", none),
            ("环", '<w:pPr><w:pStyle w:val="Loop"/></w:pPr>'),
        ]
    )
    text = read(made(body, word__numbering_xml=numbering, word__styles_xml=styles)).text
    assert text.split() == [
        *["第一章", "总则", "一.1", "目的", "(c)", "甲", "(d)", "乙", "一.2", "范围", "第二章", "分则", "附", "环"]
    ]


def test_text_boxes_nested_tables_and_fields_are_read_once() -> None:
    box = (
        '<w:p><w:r><mc:AlternateContent xmlns:mc="x"><mc:Choice><w:txbxContent>'
        f"{paragraph('In the box.')}</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>{paragraph('In the box.')}"
        "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>Beside it.</w:t></w:r></w:p>"
    )
    field = (
        '<w:p><w:r><w:fldChar/><w:instrText>HYPERLINK "http://127.0.0.1:9/"</w:instrText></w:r>'
        "<w:hyperlink><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>"
    )
    inner = f"<w:tbl><w:tr><w:tc>{paragraph('x')}</w:tc><w:tc>{paragraph('y')}</w:tc></w:tr></w:tbl>"
    outer = f"<w:tbl><w:tr><w:tc>{paragraph('left')}</w:tc><w:tc>{inner}{paragraph('right')}</w:tc></w:tr></w:tbl>"
    assert read(made(box + field + outer)).text == "In the box.\n\nBeside it.\n\na link\n\nleft\n\nx\ty\n\nright"


@pytest.mark.parametrize("name", ["a.docx", "a.docm"])
def test_macros_and_objects_are_told_and_not_opened(name: str) -> None:
    """B-41"""
    data = zipped(
        {
            "[Content_Types].xml": TYPES.replace("application/xml", "application/vnd.ms-word.document.macroEnabled"),
            "word/document.xml": f"{OPEN}{paragraph('Only text.')}</w:body></w:document>",
            "word/vbaProject.bin": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 Sub AutoOpen()",
            "word/embeddings/oleObject1.bin": b"\xd0\xcf\x11\xe0",
        }
    )
    found = read_document(data, file_name=name)
    assert found.text == "Only text."
    assert rules(found) == {"macros": 1, "embedded_objects": 1}


def test_a_remote_template_and_a_remote_picture_are_not_fetched() -> None:
    """B-42: the process that reads cannot open a socket (test_formats_child); here: it does not fail for trying."""
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"'
        ' Target="http://127.0.0.1:9/evil.dotm" TargetMode="External"/></Relationships>'
    )
    body = (
        paragraph("Only text.")
        + '<w:p><w:r><w:drawing><a:blip xmlns:a="a" r:link="r1" xmlns:r="r"/></w:drawing></w:r></w:p>'
    )
    data = zipped(
        {
            "[Content_Types].xml": TYPES,
            "word/document.xml": f"{OPEN}{body}</w:body></w:document>",
            "word/_rels/settings.xml.rels": relations,
        }
    )
    assert read(data).text == "Only text."


BILLION = "".join(f'<!ENTITY l{number} "{f"&l{number - 1};" * 10 if number else "lol"}">' for number in range(10))


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE w:document [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE w:document [<!ENTITY x SYSTEM "http://127.0.0.1:9/">]>',
        '<!DOCTYPE w:document [<!ENTITY % x SYSTEM "http://127.0.0.1:9/"> %x;]>',
        '<!DOCTYPE w:document SYSTEM "http://127.0.0.1:9/evil.dtd">',
        f"<!DOCTYPE w:document [{BILLION}]>",
    ],
    ids=["file", "address", "parameter", "external", "laughs"],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_at_once(doctype: str, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """B-36, B-37"""
    body = paragraph("&x;&l9;" if "l9" in doctype else "&x;")
    document = (
        f'<?xml version="1.0" encoding="{encoding}"?>{doctype}<w:document {W}><w:body>{body}</w:body></w:document>'
    )
    data = zipped({"[Content_Types].xml": TYPES, "word/document.xml": document.encode(encoding)})
    monkeypatch.setattr(asking, "LIMITS", Limits(memory=128 << 20))
    with at_most(seconds=2):
        refusal = refused(data)
    assert refusal.rule == "xml_doctype"
    assert "word/document.xml" in str(refusal)


def test_bombs_are_refused_before_they_unpack() -> None:
    """B-38"""
    ordinary = {"[Content_Types].xml": TYPES, "word/document.xml": f"{OPEN}{'x' * 270_000_000}"}
    for data in (
        zipped(ordinary),
        overlapping(3_000, 1 << 20),
        zip_of_zeros(4_000, 1 << 20, name="word/{}.xml"),
    ):
        with at_most(seconds=3):
            assert refused(data).rule in ("archive_too_large", "type_mismatch")


@pytest.mark.parametrize("data", [made("<w:p>"), docx_of("no xml"), docx_of(""), made(paragraph("a"))[:-200]])
def test_a_damaged_document_is_refused_with_words(data: bytes) -> None:
    refusal = refused(data)
    assert refusal.rule == "damaged"
    assert "damaged" in str(refusal)


def test_nesting_without_end_is_refused() -> None:
    assert refused(made("<w:sdt>" * 50_000)).rule == "too_deep"
    tables = "<w:tbl><w:tr><w:tc>" * 100 + paragraph("deep") + "</w:tc></w:tr></w:tbl>" * 100
    assert read(made(tables)).text == "deep"


def test_a_protected_document_is_refused() -> None:
    """B-40: Word puts an encrypted document into an envelope of its older kind."""
    envelope = (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 500 + "EncryptedPackage".encode("utf-16-le") + b"\x00" * 500
    )
    assert refused(envelope).rule == "encrypted"
    assert refused(envelope.replace(b"E\x00n\x00c", b"X\x00x\x00x")).rule == "type_mismatch"
