"""What the reader asks the server for: the outline of a text, and where a person left it."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.refusals import Invalid, NotAllowed
from documents import actions, queries
from documents.models import ReadingPosition
from documents.outlining import MOST, Heading, outline_of
from tests.factories import make_annotator, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def listed(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in outline_of(text).headings]


# The outline


def test_markdown_headings_nest_and_code_is_none() -> None:
    text = "# One\n\ntext\n\n## Two ##\nmore\n\n```\n# a remark\n```\n\nx = 1\n    # another\n\n#no heading\n"
    assert listed(text) == [(1, "One"), (2, "Two")]


def test_underlined_titles_rank_by_their_first_use() -> None:
    text = "Abstract\n========\n\nA\n\nDetail\n------\n\nB\n\nCopyright\n=========\n\n"
    text += "Finer\n~~~~~\n\nC\n\n~~~\n# code\n~~~\n\n"
    text += "Too short a line\n---\n\n| a |\n-----\n"
    assert listed(text) == [(1, "Abstract"), (2, "Detail"), (1, "Copyright"), (3, "Finer")]


def test_worded_headings_rank_by_their_word() -> None:
    text = (
        "BOOK II\n\nPART ONE. Salt\n\nChapter 3: The Brig\n\nText.\n\nCHAPTER XII\n\nPart of the crew left.\n\n"
        "Section 3 shows that the brig was late, and more.\n\nSection 4. Late fees\n"
    )
    assert listed(text) == [
        (1, "BOOK II"),
        (2, "PART ONE. Salt"),
        (3, "Chapter 3: The Brig"),
        (3, "CHAPTER XII"),
        (4, "Section 4. Late fees"),
    ]


def test_chinese_chapters_sections_and_articles() -> None:
    text = (
        "第一编 总则\n\n第三章 行政强制\n\n### 第一节　一般规定\n\n**第十六条**　行政机关依照法律的规定。\n\n"
        "第十七条 行政强制措施由法律规定。\n\n第三章的规定适用于此。\n\n第十六条的规定也适用。\n\n"
        "　　第十二回 宴桃园豪杰三结义　斩黄巾英雄首立功\n　　话说天下大势。\n\n附录\n"
    )
    titles = [title for _level, title in listed(text)]
    assert titles == [
        "第一编 总则",
        "第三章 行政强制",
        "第一节 一般规定",
        "第十六条",
        "第十七条",
        "第十二回 宴桃园豪杰三结义 斩黄巾英雄首立功",
        "附录",
    ]
    levels = dict(zip(titles, [level for level, _title in listed(text)], strict=True))
    assert levels["第一编 总则"] < levels["第三章 行政强制"] < levels["第十六条"] == levels["第十七条"]


def test_sources_of_a_joined_text_stand_above_its_chapters() -> None:
    text = "==== 1. The log ====\n\n# Salt\n\nx\n\n==== 2. 日志 ====\n\n# Storm\n"
    assert listed(text) == [(1, "1. The log"), (2, "Salt"), (1, "2. 日志"), (2, "Storm")]


def test_numbered_and_capital_headings_are_taken_with_care() -> None:
    text = (
        "HARBOUR RULES\n\n1 Scope\n\nText.\n\n1.2 Ships and fees\nText.\n\n1. buy salt\n2. sell salt\n\n"
        "1. This is a sentence.\n\n一、概述\n\n二、这是一句话。\n\nHE CAME IN, AND SHOUTED ALL DAY LONG\nand left.\n"
    )
    assert [title for _level, title in listed(text)] == ["HARBOUR RULES", "1 Scope", "1.2 Ships and fees", "一、概述"]


def test_a_table_of_contents_is_not_listed_twice() -> None:
    chapters = [f"CHAPTER {n}. Salt {n}" for n in range(1, 9)]
    text = "\n\n".join(chapters) + "\n\n" + "".join(f"{chapter}\n\nText of it.\n\n" for chapter in chapters)
    headings = outline_of(text).headings
    assert [heading.title for heading in headings] == chapters
    assert all(heading.start > text.index("Text of it") - 100 for heading in headings)


def test_a_table_of_contents_goes_with_its_titles_of_two_lines_and_those_the_text_does_not_reach() -> None:
    table = ["CHAPTER 1. Salt", "CHAPTER 2. Of the Brig, and of\nThose in Her", "CHAPTER 3. Rope", "CHAPTER 4. Tar"]
    unreached = [f"CHAPTER {n}. Later" for n in range(5, 9)]
    text = "\n\n".join(["CONTENTS", *table, *unreached, "Epilogue"]) + "\n\n" + "The text begins. " * 20 + "\n\n"
    text += "".join(f"{title}\n\n{'Text of it. ' * 30}\n\n" for title in table)
    assert [title for _level, title in listed(text)][-4:] == [title.partition("\n")[0] for title in table]
    assert len(listed(text)) <= 5


def test_chapters_that_open_with_an_article_are_listed_in_each_law() -> None:
    law = "# {}法\n\n第一章 总则\n\n第一条 短。\n\n第二条 短。\n\n"
    law += "第二章 法律责任\n\n第三条 短。\n\n第三章 附则\n\n第四条 短。\n\n"
    text = "".join(law.format(name) for name in "甲乙丙丁")
    chapters = [title for level, title in listed(text) if level == 1]
    assert chapters == [
        t for name in "甲乙丙丁" for t in (f"{name}法", "第一章 总则", "第二章 法律责任", "第三章 附则")
    ]


def test_places_are_code_points_of_the_line() -> None:
    text = "💩𠮷\n\n# Alpha\n\n𠀀\n\n　　第三章 盐\n"
    found = outline_of(text).headings
    assert [text[heading.start : heading.end] for heading in found] == ["# Alpha", "第三章 盐"]


def test_more_headings_than_are_listed_are_thinned_evenly() -> None:
    """T-04"""
    outline = outline_of("".join(f"# Heading {n}\n\n| a | b |\n|---|---|\n" for n in range(20_000)))
    assert (outline.found, outline.every, len(outline.headings)) == (20_000, 10, MOST)
    assert outline.headings[1].title == "Heading 10"
    deep = outline_of("".join(f"第{n}章 题\n\n" + "第一条 文。\n\n" * 100 for n in range(1, 60)))
    assert deep.every == 1
    assert {heading.level for heading in deep.headings} == {1}


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 600_000,
        "x" * 1_200_000,
        "===\n" * 300_000,
        "#" * 1_200_000,
        "第" * 400_000,
        "1.1.1 " * 200_000,
        "A\n\n" * 400_000,
    ],
    ids=["newlines", "one-line", "rules", "hashes", "han", "numbers", "short-lines"],
)
def test_no_text_takes_long(text: str) -> None:
    begin = time.process_time()  # of the processor: how busy the machine is proves nothing
    outline_of(text)
    assert time.process_time() - begin < 8


def test_an_outline_is_made_once_and_cached_for_good() -> None:
    cache.clear()
    version = make_version("# <b>Salt</b> {{ x }}\n\nText.\n\n# Storm\n\n")
    client = client_of(make_annotator())
    address = f"/documents/versions/{version.pk}/outline"
    response = client.get(address)
    assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response.headers["Content-Type"] == "application/json"
    found = json.loads(response.content)
    assert found == {"headings": [[0, 21, 1, "<b>Salt</b> {{ x }}"], [30, 37, 1, "Storm"]], "found": 2, "every": 1}
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).content == response.content
    assert not [query for query in captured if "documents_documenttext" in query["sql"]]
    assert client.post(address).status_code == 405
    assert client.get("/documents/versions/999999/outline").status_code == 404
    assert Client().get(address).status_code == 302


def test_a_heading_says_where_it_is() -> None:
    assert outline_of("# A\n").headings == (Heading(0, 3, 1, "A", "hashes"),)
    assert outline_of("").headings == ()


# Where one left it


def test_a_place_is_kept_for_each_person_and_version() -> None:
    ada, bob = make_annotator(), make_annotator()
    version, other = make_version(), make_version()
    actions.remember_position(version=version, position=7, by=ada)
    actions.remember_position(version=version, position=9, by=ada)
    actions.remember_position(version=version, position=3, by=bob)
    assert [queries.position_of(who, which) for who, which in [(ada, version), (bob, version), (ada, other)]] == [
        9,
        3,
        0,
    ]
    assert ReadingPosition.objects.count() == 2


def test_a_place_outside_the_text_and_a_person_who_left_are_refused() -> None:
    version, ada = make_version("short"), make_annotator()
    for position in (-1, 6):
        with pytest.raises(Invalid):
            actions.remember_position(version=version, position=position, by=ada)
    ada.is_active = False
    with pytest.raises(NotAllowed):
        actions.remember_position(version=version, position=1, by=ada)
    assert not ReadingPosition.objects.exists()


def test_the_reader_asks_and_tells_where_it_is() -> None:
    ada = make_annotator()
    version, client = make_version("short"), client_of(ada)
    address = f"/documents/versions/{version.pk}/position"
    assert client.get(address).json() == {"position": 0}
    assert client.post(address, {"position": "4"}).status_code == 204
    assert client.get(address).json() == {"position": 4}
    for wrong in ["", "x", "-1", "1e3", "４", "9" * 12, "6"]:
        assert client.post(address, {"position": wrong}).status_code == 400
    assert queries.position_of(ada, version) == 4
    assert client_of(make_annotator()).get(address).json() == {"position": 0}
    assert Client().post(address, {"position": "1"}).status_code in (302, 403)
    assert Client(enforce_csrf_checks=True).post(address, {"position": "1"}).status_code == 403


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_windows_of_one_person_do_not_clash() -> None:
    ada, version = make_annotator(), make_version("x" * 100)

    def move(position: int) -> None:
        actions.remember_position(version=version, position=position, by=ada)
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(move, range(40)))
    assert ReadingPosition.objects.count() == 1


def test_the_last_entry_of_a_contents_list_is_no_heading_though_the_text_ends_before_its_chapter() -> None:
    entries = "".join(f"CHAPTER {n}. Storm {n}.\n\n" for n in range(1, 9))
    chapters = "".join(f"CHAPTER {n}. Storm {n}.\n\n{'The wind rose. ' * 40}\n\n" for n in range(1, 6))
    outline = outline_of(f"CONTENTS\n\n{entries}Epilogue\n\n{'A note. ' * 60}\n\n{chapters}")
    titles = [heading.title for heading in outline.headings]
    assert titles[-5:] == [f"CHAPTER {n}. Storm {n}." for n in range(1, 6)]
    assert not [title for title in titles if "Storm 8" in title or "Storm 7" in title]


def test_a_chapter_that_follows_its_contents_at_once_is_one() -> None:
    entries = "".join(f"CHAPTER {n}. Storm {n}.\n\n" for n in range(1, 6))
    chapters = "".join(f"CHAPTER {n}. Storm {n}.\n\n{'The wind rose. ' * 40}\n\n" for n in range(1, 6))
    outline = outline_of(entries + chapters)
    assert [heading.title for heading in outline.headings] == [f"CHAPTER {n}. Storm {n}." for n in range(1, 6)]
    assert outline.headings[0].start >= len(entries)
