"""Trimming, cutting and joining: the actions, their pages and the API."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from rest_framework.test import APIClient

from core.history import history_of
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, NotAllowed, Refused, RuleBroken
from documents import actions, pooling, queries
from documents.models import Document, DocumentVersion
from documents.stops import kept
from documents.tokenizing import count_tokens
from documents.workflow import Origin, VersionState
from tests.factories import make_annotator, make_expert, make_lead, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db

LICENCE = "Free to copy under any licence.\n\n"
CHAPTERS = "\n\n".join(
    f"CHAPTER {number}.\n\n" + "\n\n".join(f"The brig {number} came in on day {day} with salt." for day in range(12))
    for number in range(1, 9)
)
HOSTILE = "<script>alert(1)</script> {{ 7*7 }} =HYPERLINK(1)"


@pytest.fixture(autouse=True)
def _small_buckets() -> None:
    settings = BenchmarkSettings.load()
    settings.targets, settings.unit = [1, 2, 4], 100
    settings.save()


def api(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def paste(text: str = LICENCE + CHAPTERS, **more: Any) -> Document:
    return actions.paste_document(text=text, title=more.pop("title", "Log"), by=None, **more).document


def refusal(call: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


# Trimming


def test_a_licence_is_trimmed_from_the_front_and_the_span_is_recorded() -> None:
    lead, document = make_lead(), paste()
    end = CHAPTERS.index("CHAPTER 5.") + len(LICENCE)
    version = actions.trim_document(document=document, by=lead, start=len(LICENCE), end=end, based_on=1)
    text = queries.text_of(version)
    assert (text[:10], text[-6:]) == ("CHAPTER 1.", "salt.\n")
    assert (LICENCE + CHAPTERS).find(text) == len(LICENCE)
    assert (version.origin, version.state, version.tokens) == (Origin.TRIM, "pending", count_tokens(text))
    data = history_of(version).get().data
    assert (data["start"], data["end"]) == (len(LICENCE), end)
    assert data["made_from"] == document.versions.get(number=1).pk


def test_a_start_alone_keeps_everything_behind_it() -> None:
    version = actions.trim_document(document=paste(), by=None, start=len(LICENCE))
    assert queries.text_of(version) == CHAPTERS


@pytest.mark.parametrize(
    ("start", "end", "field"), [(0, 10**6, "end"), (5, 5, "end"), (9, 4, "end"), (0, 2, "end"), (-1, 4, "start")]
)
def test_places_outside_behind_or_inside_a_character_are_refused(start: int, end: int, field: str) -> None:
    document = paste("ae\u0301 bc\n\nde")
    with pytest.raises(Invalid) as caught:
        actions.trim_document(document=document, by=None, start=start, end=end)
    assert set(caught.value.errors) == {field}
    assert document.versions.count() == 1


def test_a_trim_of_what_was_not_the_latest_text_is_refused() -> None:
    document = paste()
    actions.trim_document(document=document, by=None, bucket="4k")
    with pytest.raises(Conflict):
        actions.trim_document(document=document, by=None, bucket="1k", based_on=1)


@pytest.mark.parametrize("place", ["near the end of the longer text", "far behind it"])
def test_a_page_that_saw_a_longer_text_is_shown_what_is_there_now(place: str) -> None:
    document = paste()
    longer = document.versions.get().chars
    start = longer - 20 if place.startswith("near") else 10**30
    actions.trim_document(document=document, by=None, bucket="1k")
    body = {"start": start, "end": start + 10, "based_on": 1, "reason": "the end"}
    answer = client_of(make_lead()).post(f"/documents/{document.pk}/trim/", body)
    assert answer.status_code == 409
    stops = answer.context["stops"]
    assert (answer.context["start"], answer.context["end"]) == (stops.last - 1, stops.last)
    assert "The newest is shown here now" in answer.content.decode()


@pytest.mark.parametrize("role", [make_annotator, make_expert])
def test_only_leads_shape_texts(role: Callable[[], User]) -> None:
    document, person = paste(), role()
    for call in (
        lambda: actions.trim_document(document=document, by=person, bucket="1k"),
        lambda: actions.cut_document(document=document, by=person, spans=[(0, 9)]),
        lambda: actions.join_documents(documents=[document], title="A", by=person),
        lambda: actions.correct_documents(documents=[document], versions={}, by=person, domain="law"),
    ):
        with pytest.raises(NotAllowed):
            call()
    client = client_of(person)
    for name in ("document_trim", "document_cut", "document_trim_measure"):
        assert client.get(reverse(f"documents:{name}", args=[document.pk])).status_code == 403
    for name in ("document_join", "document_correct_many"):
        assert client.get(reverse(f"documents:{name}")).status_code == 403
    assert api(person).post(f"/api/v1/documents/{document.pk}/cut/", {"parts": 2}).status_code == 403


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_page_counts_exactly_without_a_script(language: str) -> None:
    document = paste()
    page = client_of(make_lead(), language).get(f"/documents/{document.pk}/trim/?by=2k&first=1")
    remains = page.context["remains"]
    assert (remains.start, remains.bucket) == (len(LICENCE), "2k")
    assert remains.tokens == count_tokens(kept(LICENCE + CHAPTERS, remains.start, remains.end)) <= 200
    assert remains.dropped_before == LICENCE.strip()
    assert remains.first_kept == "CHAPTER 1."
    assert f'name="end" value="{remains.end}"' in page.content.decode()


def test_what_the_page_shows_is_what_is_saved() -> None:
    document, client = paste(), client_of(make_lead())
    shown = client.get(f"/documents/{document.pk}/trim/?by=tokens&tokens=250").context["remains"]
    body = {"start": shown.start, "end": shown.end, "based_on": 1, "reason": "too long"}
    assert client.post(f"/documents/{document.pk}/trim/", body).status_code == 302
    latest = document.versions.get(number=2)
    assert (latest.tokens, latest.made_reason) == (shown.tokens, "too long")
    stale = client.post(f"/documents/{document.pk}/trim/", {**body, "end": 60, "reason": "my words"})
    assert stale.status_code == 409
    assert "my words" in stale.content.decode()


@pytest.mark.parametrize("page", ["trim", "cut"])
def test_a_page_that_was_too_late_stands_on_the_newest_text_afterwards(page: str) -> None:
    document, client = paste(), client_of(make_lead())
    actions.trim_document(document=document, by=None, bucket="4k")
    address = f"/documents/{document.pk}/{page}/"
    late = client.post(address, {"start": 0, "end": 60, "spans": ["0-60"], "based_on": 1})
    assert late.status_code == 409
    assert "The newest is shown here now" in late.content.decode()
    (seen,) = re.findall(r'name="based_on" value="(\d+)"', late.content.decode())
    body = (
        {"start": 0, "end": late.context["remains"].end}
        if page == "trim"
        else {"spans": late.context["parts"][0].value}
    )
    assert client.post(address, {**body, "based_on": seen, "reason": "looked again"}).status_code == 302


QUERIES = ["", "at=line", "at=character", "at=nonsense", "by=9k", "first=99999&last=0", "tokens=x&by=tokens"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        *((text, query) for query in QUERIES for text in (CHAPTERS, HOSTILE + "\n\nb")),
        ("one line without an end", ""),
        ("a" + "\n" * 600_000 + "b", ""),
        ("字" * 300_000, "at=paragraph"),
    ],
)
def test_no_text_and_no_address_breaks_the_pages(text: str, query: str) -> None:
    document, client = paste(text), client_of(make_lead())
    for name in ("trim", "cut"):
        page = client.get(f"/documents/{document.pk}/{name}/?{query}")
        assert page.status_code == 200
        assert "<script>alert" not in page.content.decode()


def test_the_script_asks_for_an_exact_count() -> None:
    document, client = paste(), client_of(make_lead())
    address = f"/documents/{document.pk}/trim/measure"
    end = (LICENCE + CHAPTERS).index("CHAPTER 3.")
    answer = client.get(address, {"start": 0, "end": end}).json()
    assert answer["tokens"] == count_tokens(kept(LICENCE + CHAPTERS, 0, end))
    assert answer["dropped_behind"] == "CHAPTER 3."
    wrongs: list[dict[str, str]] = [{"start": "5", "end": "5"}, {"start": "x", "end": "9"}, {"end": "9"}]
    for wrong in [*wrongs, {"start": "0", "end": "100000000"}]:
        assert client.get(address, wrong, headers={"Accept": "application/json"}).status_code == 400


# Cutting


def test_parts_become_documents_and_the_document_stays() -> None:
    lead, document = make_lead(), paste(domain="history", licence="CC0", source_url="https://example.org/a")
    text = queries.text_of(document.versions.get())
    parts = actions.propose_parts(text, bucket="4k")
    assert len(parts) > 1
    made = actions.cut_document(
        document=document, by=lead, spans=[(part.start, part.end) for part in parts], reason="long", based_on=1
    )
    assert [version.document.title for version in made] == [
        f"Log (part {number} of {len(parts)})" for number in range(1, len(parts) + 1)
    ]
    for version, part in zip(made, parts, strict=True):
        assert (version.origin, version.state, version.number) == (Origin.CUT, VersionState.PENDING, 1)
        assert (version.tokens, version.bucket) == (part.tokens, part.bucket)
        assert queries.text_of(version) == kept(text, part.start, part.end)
        assert version.made_reason == f"D-{document.pk} v1 [{part.start}:{part.end}]: long"
        assert (version.document.domain, version.document.licence) == ("history", "CC0")
        source = history_of(version).get().data["made_from"]
        assert source == [{"document": document.pk, "number": 1, "version": document.versions.get().pk}]
    assert document.versions.count() == 1
    cut = history_of(document.versions.get()).get(action="documents.cut")
    assert cut.data["into"] == [version.document_id for version in made]


def test_a_refused_part_leaves_nothing_behind_and_is_named() -> None:
    document = paste("One.\n\nTwo.\n\nOne.\n\nThree.\n")
    make_version("Two.\n", title="Known already")
    before = (Document.objects.count(), DocumentVersion.objects.count())
    spans = [(0, 6), (6, 12), (12, 18), (18, 25)]
    caught = refusal(lambda: actions.cut_document(document=document, by=None, spans=spans))
    assert isinstance(caught, RuleBroken)
    assert caught.rule == "duplicate"
    assert [(part["part"], part["rule"]) for part in caught.details["parts"]] == [(2, "duplicate"), (3, "duplicate")]
    assert "Known already" in str(caught)
    assert caught.details["parts"][1]["detail"] == "The same text as part 1."
    assert (Document.objects.count(), DocumentVersion.objects.count()) == before


@pytest.mark.parametrize("spans", [[], [(0, 6), (3, 9)], [(5, 5)], [(0, 999)], [(6, 12), (0, 6)]])
def test_parts_that_overlap_or_lie_outside_are_refused(spans: list[tuple[int, int]]) -> None:
    document = paste("One.\n\nTwo.\n\nThree.\n")
    with pytest.raises(Invalid) as caught:
        actions.cut_document(document=document, by=None, spans=spans)
    assert set(caught.value.errors) == {"parts"}
    assert Document.objects.count() == 1


def test_a_part_of_a_chinese_document_is_named_in_chinese_and_titles_have_room() -> None:
    document = make_version(language="Chinese", title="志" * 300).document
    title = actions.part_title(document, 2, 5)
    assert title.endswith("（第 2 部分，共 5 部分）")
    assert len(title) == 300


def test_the_page_proposes_and_makes_what_is_ticked() -> None:
    document, client = paste(), client_of(make_lead())
    page = client.get(f"/documents/{document.pk}/cut/?by=4k")
    parts = page.context["parts"]
    assert all(row.chosen == bool(row.part.bucket) for row in parts)
    assert page.context["at"] == "paragraph"
    spans = [row.value for row in parts][:2]
    done = client.post(f"/documents/{document.pk}/cut/?by=4k", {"spans": spans, "based_on": 1})
    assert done.status_code == 302
    assert Document.objects.filter(title__endswith="of 2)").count() == 2
    again = client.post(f"/documents/{document.pk}/cut/?by=4k", {"spans": spans, "based_on": 1, "reason": "mine"})
    assert again.status_code == 422
    assert "Part 1" in again.content.decode()
    assert [row.chosen for row in again.context["parts"]][:2] == [True, True]
    for wrong in ({}, {"spans": "x"}, {"spans": "0-999999999"}):
        assert client.post(f"/documents/{document.pk}/cut/", wrong).status_code == 400


def test_parts_are_measured_before_the_transaction_and_stored_only_if_the_text_is_still_the_newest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = make_version(LICENCE + "More.\n").document
    outside = len(connection.savepoint_ids)
    depths: list[int] = []

    def measured(text: str) -> pooling.Measured:
        if not depths:
            actions.revise_document(document=document, text="Another.", reason="meanwhile", by=make_lead())
        depths.append(len(connection.savepoint_ids))
        return pooling.measure(text)

    monkeypatch.setattr("documents.actions.cutting.measure", measured)
    spans = [(0, len(LICENCE)), (len(LICENCE), len(LICENCE) + 6)]
    with pytest.raises(Conflict):
        actions.cut_document(document=document, by=None, spans=spans)
    assert (depths, Document.objects.count()) == ([outside, outside], 1)


def test_cutting_by_the_api() -> None:
    document, client = paste(), api(make_lead())
    address = reverse("document-cut", args=[document.pk])
    answer = client.post(address, {"cuts": [len(LICENCE)], "version": 1})
    assert answer.status_code == 201, answer.json()
    made = answer.json()["documents"]
    assert [one["title"] for one in made] == ["Log (part 1 of 2)", "Log (part 2 of 2)"]
    assert [one["latest"]["origin"] for one in made] == ["cut", "cut"]
    twice = client.post(address, {"cuts": [len(LICENCE)]})
    assert (twice.status_code, twice.json()["rule"], len(twice.json()["parts"])) == (422, "duplicate", 2)
    for wrong in ({}, {"bucket": "9k"}, {"parts": 1}, {"parts": 10**6}, {"cuts": [9, 9]}, {"cuts": [10**7]}):
        assert client.post(address, wrong).status_code == 400, wrong
    assert list(client.post(address, {"parts": 1}).json()["errors"]) == ["parts"]


def test_trimming_by_the_api_to_a_place() -> None:
    document, client = paste(), api(make_lead())
    address = reverse("document-trim", args=[document.pk])
    assert client.post(address, {"start": 3, "end": 3}).status_code == 400
    assert client.post(address, {"end": 9, "version": 7}).status_code == 409
    answer = client.post(address, {"start": len(LICENCE), "end": len(LICENCE) + 12, "version": 1})
    assert (answer.status_code, answer.json()["latest"]["origin"]) == (200, "trim")
    assert queries.text_of(document.versions.get(number=2)) == "CHAPTER 1.\n"


# Joining


def test_the_history_of_a_join_names_its_parts_and_headings_are_free() -> None:
    first, second = paste("First.\n", title="One"), paste("Second.\n", title="Two", licence="CC0")
    actions.revise_document(document=first, text="First, again.\n", reason="why", by=None)
    both = actions.join_documents(documents=[second, first], title="Both", headings=["B", "A "], by=None, reason="pair")
    assert queries.text_of(both) == "==== 1. B ====\n\nSecond.\n\n==== 2. A ====\n\nFirst, again.\n"
    assert both.made_reason == f"D-{second.pk} v1 + D-{first.pk} v2: pair"
    sources = history_of(both).get().data["made_from"]
    assert [(source["document"], source["number"]) for source in sources] == [(second.pk, 1), (first.pk, 2)]
    assert (both.document.multi, both.document.licence, both.document.domain) == (True, "CC0", "")
    with pytest.raises(Invalid):
        actions.join_documents(documents=[first, second], title="C", headings=["only one"], by=None)
    with pytest.raises(Invalid):
        actions.join_documents(documents=[first, second], title="C", headings=["A", " "], by=None)


def test_parts_are_ordered_added_and_taken_out_without_losing_what_was_typed() -> None:
    client = client_of(make_lead())
    first, second, third = (paste(f"{word}.\n", title=word) for word in ("Alpha", "Beta", "Gamma café"))
    chinese = make_version(language="Chinese", title="Gamma 中文").document
    page = client.get(f"/documents/join/?ids={first.pk}&ids={second.pk},{10**8}")
    assert [row.document for row in page.context["rows"]] == [first, second]
    assert page.context["missing"] == [10**8]
    typed: dict[str, Any] = {
        "ids": [first.pk, second.pk],
        "headings": ["My A", "My B"],
        "title": "Whole",
        "reason": "r",
    }

    def after(do: str, **more: Any) -> Any:
        return client.post("/documents/join/", {**typed, **more, "do": do})

    down = after(f"down:{first.pk}")
    assert [(row.document, row.heading) for row in down.context["rows"]] == [(second, "My B"), (first, "My A")]
    fragment = client.post("/documents/join/", {**typed, "do": f"down:{first.pk}"}, headers={"HX-Request": "true"})
    assert "<html" not in fragment.content.decode()
    assert re.findall(r'name="headings" value="(.*?)"', fragment.content.decode()) == ["My B", "My A"]
    assert [row.document for row in after(f"up:{first.pk}").context["rows"]] == [first, second]
    assert [row.heading for row in after(f"remove:{first.pk}").context["rows"]] == ["My B"]
    assert [row.document for row in after("add", add=f"D-{third.pk}").context["rows"]] == [first, second, third]
    found = after("add", add="cafe\u0301").context
    assert (found["found"], len(found["rows"])) == ([third], 2)
    assert chinese not in after("add", add="Gamma").context["found"]
    assert after("add", add="no such title").context["fault"]
    assert after("add", add=str(first.pk)).context["fault"]
    assert len(after(f"add:{third.pk}").context["rows"]) == 3
    assert after("nonsense").status_code == 200
    plain = client.post("/documents/join/", {**typed, "do": f"down:{first.pk}"}).content.decode()
    assert 'value="Whole"' in plain


def test_the_whole_is_counted_exactly_and_joined_by_the_page() -> None:
    client = client_of(make_lead())
    first, second = paste("Alpha.\n", title="Alpha"), paste("Beta.\n", title="Beta")
    body = {"ids": [second.pk, first.pk], "headings": ["Zwei", HOSTILE], "title": "Whole"}
    counted = client.post("/documents/join/", {**body, "do": "count"}).json()
    refused = client.post("/documents/join/", {**body, "title": "", "do": "join"})
    assert refused.status_code == 400
    assert "<script>alert" not in refused.content.decode()
    assert client.post("/documents/join/", {**body, "do": "join"}).status_code == 302
    whole = Document.objects.get(title="Whole")
    assert whole.latest is not None
    assert (whole.latest.tokens, whole.latest.origin) == (counted["tokens"], Origin.JOIN)
    again = client.post("/documents/join/", {**body, "do": "join"})
    assert again.status_code == 422
    assert "Whole" in again.content.decode()


def test_two_languages_are_said_before_and_refused_after() -> None:
    client = client_of(make_lead())
    english, chinese = make_version().document, make_version(language="Chinese").document
    page = client.get(f"/documents/join/?ids={english.pk},{chinese.pk}")
    assert "one language" in page.context["refusal"]
    body = {"ids": [english.pk, chinese.pk], "headings": ["A", "B"], "title": "Whole", "do": "join"}
    assert client.post("/documents/join/", body).status_code == 400
    assert not Document.objects.filter(title="Whole").exists()


def test_joining_by_the_api_with_headings() -> None:
    first, second = paste("Alpha.\n"), paste("Beta.\n")
    body = {"documents": [second.pk], "headings": ["A", "B"], "title": "Both"}
    answer = api(make_lead()).post(reverse("document-join", args=[first.pk]), body)
    assert answer.status_code == 201
    text = queries.text_of(DocumentVersion.objects.get(pk=answer.json()["latest"]["id"]))
    assert re.findall(r"==== (.*) ====", text) == ["1. A", "2. B"]
