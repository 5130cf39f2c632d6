"""The bulk view: filters, sorting, counts, correcting together, and the record as a file."""

import csv
import io
import re
import statistics
import time
import unicodedata
from typing import Any

import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from django.template import Template
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from core.history import history_of
from core.models import Event
from core.refusals import Conflict, Invalid
from documents import actions
from documents.models import BatchFile, BatchLine, Document, DocumentText, ImportBatch
from documents.workflow import VersionState
from tests.factories import make_annotator, make_expert, make_lead, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db


def titles(client: Client, query: str) -> list[str]:
    page = client.get(f"/documents/?{query}")
    return [row["document"].title for row in page.context["rows"]]


# Filters, sorting, counts


def test_the_list_is_filtered_by_source_importer_and_batch() -> None:
    lead, other = make_lead("lena"), make_lead("omar")
    one, two = make_version(title="One").document, make_version(title="Two").document
    Document.objects.filter(pk=one.pk).update(source_url="https://example.org/Archive/1", imported_by=lead)
    Document.objects.filter(pk=two.pk).update(imported_by=other)
    batch = ImportBatch.objects.create(digest="d", made_by=lead)
    file = BatchFile.objects.create(batch=batch, number=1, name="a", size=1)
    BatchLine.objects.create(batch=batch, file=file, number=1, path="a", status="accepted", version=two.latest)
    client = client_of(lead)
    assert titles(client, "source=archive/1") == ["One"]
    assert titles(client, "importer=omar") == ["Two"]
    assert titles(client, f"batch={batch.pk}") == ["Two"]
    assert titles(client, f"q=D-{one.pk}") == ["One"]
    for wrong in ("99999999999999999999", "1.5"):
        assert client.get(f"/documents/?batch={wrong}").status_code == 400


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_the_search_finds_both_ways_of_writing_an_accent(stored: Any, typed: Any) -> None:
    title = unicodedata.normalize(stored, "Café Müller")
    make_version(title=title)
    assert titles(client_of(make_annotator()), f"q={unicodedata.normalize(typed, 'fé Mü')}") == [title]


def test_the_list_is_sorted_by_known_words_only() -> None:
    for number, title in enumerate(("B", "C", "A")):
        make_version(title=title, tokens=100 * number)
    client = client_of(make_lead())
    assert titles(client, "") == ["A", "C", "B"]
    assert titles(client, "sort=title") == ["A", "B", "C"]
    assert titles(client, "sort=-tokens") == ["A", "C", "B"]
    for wrong in ("password", "imported_by__password", "-", "--title", "id;drop"):
        page = client.get(f"/documents/?sort={wrong}")
        assert page.status_code == 400
        assert len(page.context["rows"]) == 3
    head = client.get("/documents/?sort=title&language=English").content.decode()
    assert 'aria-sort="ascending"><a href="?sort=-title&amp;language=English"' in head


@pytest.mark.parametrize("page", ["-1", "0", "x", str(10**9), str(10**30), "1e3", "%00"])
def test_page_numbers_are_bounded(page: str) -> None:
    for _ in range(3):
        make_version()
    assert len(titles(client_of(make_lead()), f"page={page}&page_size={10**9}")) == 3


def test_the_api_refuses_an_unknown_sort_and_bounds_its_pages() -> None:
    for title in ("B", "A"):
        make_version(title=title)
    client = APIClient()
    client.force_authenticate(make_lead())
    assert client.get("/api/v1/documents/?sort=password").status_code == 400
    body = client.get(f"/api/v1/documents/?sort=title&page_size={10**9}").json()
    assert [one["title"] for one in body["results"]] == ["A", "B"]


@pytest.mark.parametrize("query", ["page=-1", "page=0", "page=abc", "page_size=0", "page_size=x", "page=٣"])
def test_a_page_that_cannot_be_is_refused_with_words(query: str) -> None:
    """B-68."""
    client = APIClient()
    client.force_authenticate(make_lead())
    refused = client.get(f"/api/v1/documents/?{query}")
    name = query.partition("=")[0]
    assert (refused.status_code, refused.json()["errors"]) == (400, {name: ["A whole number from 1 is expected."]})
    assert client.get("/api/v1/documents/?page=9").status_code == 404


def test_counts_follow_the_other_filters_and_lead_to_their_rows() -> None:
    make_version(bucket="8k", title="Heron one")
    make_version(bucket="8k", title="Tern")
    make_version(bucket="", language="Chinese", state=VersionState.PENDING, title="Heron two")
    client = client_of(make_lead())

    def counts(query: str) -> dict[str, int]:
        rows = client.get(f"/documents/?{query}").context["cross"]
        cells = [cell for row in rows for cells in row.languages for cell in cells]
        return {cell.query: cell.count for cell in cells if cell.count}

    everything = counts("state=approved&language=English")
    assert sorted(everything.values()) == [1, 2]
    for query, count in everything.items():
        assert len(titles(client, query)) == count
    assert sorted(counts("q=Heron&sort=title").values()) == [1, 1]
    assert all("q=Heron" in query for query in counts("q=Heron"))


def test_a_document_without_a_bucket_says_how_far_and_offers_what_helps() -> None:
    make_version(bucket="", tokens=11_000, title="Between")
    make_version(bucket="", tokens=100, title="Short")
    page = client_of(make_lead()).get("/documents/").content.decode()
    assert "2,108 short of 16k · 1,170 over 8k" in page or "1,170 over 8k · 2,108 short of 16k" in page
    between, short = Document.objects.order_by("id")
    assert f"/documents/{between.pk}/trim/" in page
    assert f"/documents/{short.pk}/trim/" not in page
    assert f"/documents/join/?ids={short.pk}" in page
    assert "/trim/" not in client_of(make_annotator()).get("/documents/").content.decode()


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_rows_are_chosen_by_leads_and_approving_many_is_not_offered(language: str) -> None:
    make_version(state=VersionState.PENDING)
    page = client_of(make_lead(), language).get("/documents/").content.decode()
    assert 'name="ids"' in page
    assert not re.search(r'<(button|input)[^>]*(value|name)="approve"', page)
    annotator = client_of(make_annotator(), language).get("/documents/").content.decode()
    assert 'name="ids"' not in annotator
    assert "record.csv" not in annotator


@pytest.mark.bench
def test_the_list_of_1500_documents_takes_under_50_ms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processor time of one whole request, so that a busy machine does not count; without the tests' own recording."""
    monkeypatch.setattr(Template, "_render", lambda template, context: template.nodelist.render(context))
    lead = make_lead()
    for number in range(1500):
        bucket, language = "" if number % 7 == 0 else "8k", "Chinese" if number % 2 else "English"
        make_version(bucket=bucket, tokens=11_000, language=language, decided_by=lead)
    client = client_of(lead)
    for query in ("", "q=log", "state=approved&language=Chinese", "sort=-tokens&page=20"):
        took = []
        for _ in range(9):
            began = time.process_time()
            assert client.get(f"/documents/?{query}").status_code == 200
            took.append(time.process_time() - began)
        assert statistics.median(took) < 0.05, f"{query or 'all'}: {1000 * statistics.median(took):.0f} ms"


# Correcting together


def test_many_documents_are_corrected_at_once_each_with_its_line() -> None:
    lead = make_lead()
    documents = [make_version().document for _ in range(3)]
    versions = {document.pk: 1 for document in documents}
    Document.objects.filter(pk=documents[2].pk).update(domain="law")
    for document in documents:
        document.refresh_from_db()
    assert actions.correct_documents(documents=documents, versions=versions, by=lead, domain="law", licence="") == 3
    for document in Document.objects.all():
        assert (document.domain, document.licence, document.format, document.version) == ("law", "", "report", 2)
        assert history_of(document).get().action == "documents.correct_document"
    changed = [history_of(document).get().data["changed"] for document in documents]
    assert changed[0] == {"domain": ["history", "law"], "licence": ["CC0", ""]}
    assert changed[2] == {"licence": ["CC0", ""]}


def test_one_stale_document_leaves_all_as_they_were() -> None:
    documents = [make_version().document for _ in range(2)]
    with pytest.raises(Conflict) as caught:
        actions.correct_documents(
            documents=documents, versions={documents[0].pk: 1, documents[1].pk: 7}, by=None, domain="law"
        )
    assert documents[1].title in str(caught.value)
    assert set(Document.objects.values_list("domain", flat=True)) == {"history"}
    assert not Event.objects.exists()


@pytest.mark.parametrize("facts", [{}, {"title": "Same for all"}, {"language": "Chinese"}])
def test_titles_and_languages_are_not_corrected_together(facts: dict[str, str]) -> None:
    document = make_version().document
    with pytest.raises(Invalid):
        actions.correct_documents(documents=[document], versions={document.pk: 1}, by=None, **facts)


def test_correcting_together_by_the_page() -> None:
    client = client_of(make_lead())
    documents = [make_version().document for _ in range(2)]
    ids = [document.pk for document in documents]
    page = client.get(f"/documents/correct/?ids={ids[0]}&ids={ids[1]}").content.decode()
    assert f'value="{ids[1]}:1"' in page
    body = {"ids": ids, "versions": [f"{pk}:1" for pk in ids], "domain": "law", "licence": "never mind"}
    nothing = client.post("/documents/correct/", body)
    assert nothing.status_code == 400
    assert 'value="law"' in nothing.content.decode()
    assert client.post("/documents/correct/", {**body, "set_domain": "on"}).status_code == 302
    assert set(Document.objects.values_list("domain", "licence")) == {("law", "CC0")}
    stale = client.post("/documents/correct/", {**body, "set_domain": "on", "domain": "medicine"})
    assert stale.status_code == 409
    assert 'value="medicine"' in stale.content.decode()


# The record


def record(client: Client, query: str = "") -> list[dict[str, str]]:
    response = client.get(f"/documents/record.csv?{query}")
    assert isinstance(response, StreamingHttpResponse)
    text = b"".join(response).decode("utf-8")
    assert text.startswith("\ufeff") or "bom=0" in query
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_the_record_holds_every_decision_ever_taken() -> None:
    annotator, expert = make_annotator("ann"), make_expert("eve")
    version = make_version(state=VersionState.PENDING, title="Log 日志", bucket="")
    actions.approve_version(version=version, by=annotator, note="public domain")
    actions.reject_version(version=version, by=expert, flags=["privacy", "copyright"], note="a claim\ncame in")
    actions.approve_version(version=version, by=expert, note="settled")
    actions.revise_document(document=version.document, text="Another text.\n", reason="why", by=None)
    newer = version.document.versions.get(number=2)
    actions.reject_version(version=newer, by=annotator, flags=["other"], note="empty")
    make_version(state=VersionState.PENDING, title="Undecided")
    lines = record(client_of(expert))
    assert [(line["version"], line["decision"], line["decided_by"], line["note"]) for line in lines] == [
        ("1", "approved", "ann", "public domain"),
        ("1", "withdrawn", "eve", "a claim\ncame in"),
        ("1", "approved", "eve", "settled"),
        ("2", "rejected", "ann", "empty"),
    ]
    first = lines[0]
    assert (first["title"], first["bucket"], first["sha256"]) == ("Log 日志", "none", version.sha256)
    assert lines[1]["flags"] == "privacy copyright"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["decided_at"])
    assert record(client_of(expert), "bom=0")[0] == first


def test_the_record_follows_the_filters_of_the_list() -> None:
    lead = make_lead()
    for language in ("English", "Chinese"):
        version = make_version(state=VersionState.PENDING, language=language)
        actions.approve_version(version=version, by=lead)
    client = client_of(lead)
    assert len(record(client)) == 2
    assert [line["language"] for line in record(client, "language=Chinese&sort=title")] == ["Chinese"]
    assert record(client, "state=rejected") == []
    assert client.get("/documents/record.csv?sort=password").status_code == 400


@pytest.mark.parametrize("words", ["=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", " =1"])
def test_no_cell_of_the_record_runs_as_a_formula(words: str) -> None:
    lead = make_lead()
    version = make_version(state=VersionState.PENDING, title=words)
    Document.objects.update(source_url=words, licence=words, domain=words)
    actions.approve_version(version=version, by=lead, note=words)
    line = record(client_of(lead))[0]
    for name in ("title", "note", "source_url", "licence", "domain"):
        assert not line[name].startswith(("=", "+", "-", "@", "\t"))
    assert line["title"] == f"'{words}"


def test_the_record_is_for_experts_and_leads() -> None:
    assert client_of(make_annotator()).get("/documents/record.csv").status_code == 403
    assert Client().get("/documents/record.csv").status_code == 302


def test_the_record_takes_the_same_queries_for_2_as_for_40_decisions() -> None:
    lead = make_lead()
    client = client_of(lead)
    counts = []
    for more in (2, 38):
        for _ in range(more):
            actions.approve_version(version=make_version(state=VersionState.PENDING), by=lead)
        with CaptureQueriesContext(connection) as captured:
            lines = record(client)
        counts.append(len(captured))
        assert not any(DocumentText._meta.db_table in query["sql"] for query in captured)
    assert len(lines) == 40
    assert counts[0] == counts[1]
