"""Web pages as text: what a browser would show, from whatever encoding, whatever is in them."""

from pathlib import Path

import pytest

from core.refusals import RuleBroken
from documents.extracting import read_document
from tests.documents.made.books import assert_same_words
from tests.documents.made.costs import at_most

CHINESE = "圣安港的航海日志说，五月一日苍鹭号载着盐进了港。船上的人都不知道天气会变，他们在码头上等了三天。" * 8
FRENCH = "Le héron entra au port chargé de sel. L'équipage, fatigué, y resta trois jours. " * 8


def text_of(page: str) -> str:
    return read_document(page.encode(), file_name="a.html").text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>one<p>two<br>three", "one\n\ntwo\nthree"),
        ("<h1>Head</h1>words<div>more</div>", "Head\n\nwords\n\nmore"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>end", "- a\n- b\n  - c\n- d\n\nend"),
        ('<ol start=9 type=i><li>a<li value="12">b</ol>', "ix. a\nxii. b"),
        (
            "<table><caption>Salt</caption><tr><th>port<th>t<tr><td>Saint\n Ann<td>4<tr><td><td>5</table>",
            "Salt\n\nport\tt\nSaint Ann\t4\n\t5",
        ),
        ("<table><tr><td><p>A page</p><p>by table</p><table><tr><td>x</table></table>", "A page\n\nby table\n\nx"),
        ("<pre>  two\n    four\n\nend</pre>", "  two\n    four\n\nend"),
        ("<dl><dt>term<dd>meaning</dl>", "term\nmeaning"),
        ("a  b\n\tc&nbsp;d &lt;p&gt; &eacute;&#x4e2d;&#128;", "a b c\u00a0d <p> é中€"),
        ("<p>苍鹭号\n  进了港</p><p>the\nport", "苍鹭号进了港\n\nthe port"),
        ("<p>x<sup>2</sup>, <b>bold</b><i>er</i>", "x2, bolder"),
        ("no tag at all & so on", "no tag at all & so on"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("<textarea>  typed </textarea><noscript>without script</noscript>", "typed without script"),
        ("a<!-- hidden -- > still --><![CDATA[x]]>b", "ab"),
        ("<p>a<unknown-tag x='>'>b</unknown-tag>", "ab"),
        ("<svg><title>t</title><text>drawn</text></svg>", "drawn"),
    ],
)
def test_blocks_lists_tables_and_spaces_read_as_a_browser_shows_them(page: str, text: str) -> None:
    assert text_of(page) == text


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>\n The &amp; log </title><h1>Head</h1>x", "The & log"),
        ("<body><h2>First <i>head</i></h2><h1>Second</h1>x", "First head"),
        ("<p>x", ""),
    ],
)
def test_the_title_is_the_page_s_own(page: str, title: str) -> None:
    read = read_document(page.encode(), file_name="a.html")
    assert (read.title, read.format) == (title, "web page")


def test_what_does_not_show_is_left_out_and_nothing_runs() -> None:
    """B-49"""
    page = """<base href="http://127.0.0.1:9/"><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/">
    <link rel=stylesheet href=x.css><style>@import "http://127.0.0.1:9/x.css"; p { color: red }</style>
    <script>alert(1)</script><script src="http://127.0.0.1:9/"></script><p onclick="alert(2)">shown
    <iframe src="data:text/html,framed">inner</iframe><template>templated</template>
    <img src="data:image/png;base64,AAAA" alt="a picture"><object data=x>object</object>
    <a href="javascript:alert(3)">link</a>"""
    assert text_of(page) == "shown link"


def test_what_looks_like_markup_in_the_text_stays_text() -> None:
    page = "<p>&lt;script&gt;alert(1)&lt;/script&gt; {{ 7*7 }} {% load x %} ]]&gt;"
    assert text_of(page) == "<script>alert(1)</script> {{ 7*7 }} {% load x %} ]]>"


@pytest.mark.parametrize(
    ("page", "outcome"),
    [
        ("<div>" * 100_000 + "deep", "too_deep"),
        ("<table><tr><td>" * 30_000 + "deep", "too_deep"),
        ("<div>" * 4_900 + "deep" + "</b>" * 100_000, "deep"),
        ("</b>" * 250_000 + "<p>end", "end"),
        ("<p>end" + "<!--" * 250_000, "end"),
        ("<p>end" + "<a href='" * 100_000, "end"),
        ("<p>end</p><p " + "a=1 " * 200_000 + ">", "end"),
        ("<table><tr><td>" * 40 + "deep" + "</table>" * 40, "deep"),
        ("<ul><li>" * 1_000 + "deep", "- deep"),
    ],
    ids=["nested", "tables", "both", "end tags", "comments", "quotes", "attributes", "tables in tables", "lists"],
)
def test_hostile_nesting_ends_in_time(page: str, outcome: str) -> None:
    """B-50"""
    with at_most(seconds=10):
        try:
            found = text_of(page).strip()
        except RuleBroken as refused:
            found = refused.rule
    assert found == outcome


@pytest.mark.parametrize(
    ("declared", "encoding", "text", "found"),
    [
        ("gb2312", "utf-8", CHINESE, "utf-8"),
        ("utf-8", "gb18030", CHINESE, "gb18030"),
        ("gb2312", "gb18030", CHINESE + "𠀀", "gb18030"),
        ("gb2312", "gb18030", "Mostly English, from 苍鹭.", "gb18030"),
        ("", "gb18030", CHINESE, "gb18030"),
        ("big5", "big5", "聖安港的航海日誌說，五月一日蒼鷺號載著鹽進了港。" * 20, "big5hkscs"),
        ("iso-8859-1", "cp1252", FRENCH, "cp1252"),
        ("windows-1252", "cp1252", FRENCH, "cp1252"),
        ("shift_jis", "shift_jis", "サギ号は塩を積んで港に入った。" * 20, "cp932"),
        ("iso-2022-jp", "iso2022_jp", "サギ号は塩を積んで港に入った。", "iso2022_jp"),
        ("utf-16", "utf-8", CHINESE, "utf-8"),
        ("no-such-charset", "utf-8", CHINESE, "utf-8"),
        ("iso-8859-1", "gb18030", CHINESE, "refused"),
        ("big5", "gb18030", CHINESE, "refused"),
        ("gb2312", "big5", "聖安港的航海日誌說，五月一日蒼鷺號載著鹽進了港。" * 20, "refused"),
        ("gb2312", "cp1252", FRENCH, "refused"),
        ("utf-8", "cp1252", FRENCH, "refused"),
        ("", "cp1252", FRENCH, "refused"),
        ("utf-8", "utf-16-le", CHINESE, "refused"),
    ],
)
@pytest.mark.parametrize("form", ['<meta charset="{}">', '<meta http-equiv=x content="text/html; charset={}">'])
def test_a_declared_encoding_counts_when_it_is_true(
    form: str, declared: str, encoding: str, text: str, found: str
) -> None:
    """B-51: right text or a refusal, never wrong letters."""
    data = f"<html><head>{form.format(declared)}</head><p>{text}</p>".encode(encoding)
    if found == "refused":
        with pytest.raises(RuleBroken) as caught:
            read_document(data, file_name="a.html")
        assert caught.value.rule == "encoding"
        assert isinstance(caught.value.details["position"], int)
        return
    read = read_document(data, file_name="a.html")
    assert (read.text, read.encoding) == (text.strip(), found)


def test_the_uploader_s_word_and_the_mark_go_before_what_a_page_declares() -> None:
    page = f'<meta charset="utf-8"><p>{FRENCH}'
    assert read_document(page.encode("cp1252"), file_name="a.html", encoding="windows-1252").text == FRENCH.strip()
    read = read_document(("\ufeff" + page).encode("utf-16-le"), file_name="a.html")
    assert (read.text, read.encoding, read.counts) == (FRENCH.strip(), "utf-16-le", {"bom": 1})


def test_control_characters_are_removed_and_counted_wherever_they_hide() -> None:
    """B-12, B-13"""
    read = read_document(b"<p>a\x00b\x1bc&#27;d&#0;e\r\nf</p>", file_name="a.html")
    assert read.text == "abcd\ufffde f"
    assert read.counts == {"controls": 3}


def test_a_page_without_a_word_is_empty() -> None:
    """B-01"""
    for page in ("", "<html><body><script>x()</script></body></html>", "  \n", "<p>&nbsp;</p>"):
        with pytest.raises(RuleBroken) as caught:
            read_document(page.encode(), file_name="a.html")
        assert caught.value.rule == "empty"


def test_the_same_book_as_page_and_as_text_has_the_same_words(shared_data: Path) -> None:
    page = read_document((shared_data / "formats" / "alice.html").read_bytes(), file_name="alice.html")
    text = read_document((shared_data / "formats" / "alice-utf8-bom-crlf.txt").read_bytes(), file_name="alice.txt").text

    assert page.title == "Alice's Adventures in Wonderland, by Lewis Carroll"
    assert "\n\nCHAPTER I. Down the Rabbit-Hole\n\nAlice was beginning" in page.text
    assert "CHAPTER II.\tThe Pool of Tears" in page.text
    assert "\n      Improve his shining tail,\n" in page.text
    assert_same_words(page.text, text)
