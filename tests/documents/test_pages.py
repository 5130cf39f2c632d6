import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from documents import actions, queries
from documents.batches import work_off
from documents.models import Document, DocumentText, DocumentVersion, ImportBatch
from documents.reading import FIRST_PART, Mark, first_cut, reader_for
from documents.workflow import VersionState
from tests.factories import make_annotator, make_expert, make_lead, make_version
from tests.signing_in import client_of

pytestmark = pytest.mark.django_db

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> <div hx-get='/x' hx-trigger='load'>\n"
    "</textarea></pre></div> ]]> --!> {{ 7*7 }} {% load %} javascript:alert(1) 😀𠀀\n"
)


def upload(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def bring_in(client: Client, body: dict[str, Any]) -> Any:
    """Send the form, let the worker do its work, and open the batch's page."""
    sent = client.post("/documents/import/", body)
    assert sent.status_code == 302, sent.content.decode()
    work_off()
    response = client.get(sent.headers["Location"])
    assert response.status_code == 200
    return response


# The list


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("name", ["document_list", "document_import", "document_detail", "document_revise"])
def test_the_pages_render(language: str, name: str) -> None:
    version = make_version("a@example.org\n" + HOSTILE, state=VersionState.PENDING)
    arguments = [version.document_id] if name in {"document_detail", "document_revise"} else []
    response = client_of(make_lead(), language).get(reverse(f"documents:{name}", args=arguments))
    assert response.status_code == 200
    assert f'lang="{"en" if language == "en" else "zh-Hans"}"' in response.content.decode()


def test_pages_need_a_log_in() -> None:
    version = make_version()
    for address in ("/documents/", f"/documents/{version.document_id}/", f"/documents/versions/{version.pk}/text"):
        assert Client().get(address).status_code == 302


def test_the_list_takes_the_same_queries_for_3_as_for_30_documents() -> None:
    client = client_of(make_lead())
    client.get("/documents/")
    counts = []
    for more in (3, 27):
        for _ in range(more):
            make_version()
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert client.get("/documents/").status_code == 200
        counts.append(len(captured))
        assert not any(DocumentText._meta.db_table in query["sql"] for query in captured)
    assert counts[0] == counts[1] <= 12


def test_the_list_is_filtered() -> None:
    make_version(title="Pending one", state=VersionState.PENDING, bucket="")
    make_version(title="Chinese one", language="Chinese", bucket="16k")
    client = client_of(make_annotator())

    def titles(query: str) -> list[str]:
        page = client.get(f"/documents/?{query}", headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in page
        return re.findall(r">(Pending one|Chinese one)<", page)

    assert titles("") == ["Chinese one", "Pending one"]
    assert titles("state=pending") == ["Pending one"]
    assert titles("language=Chinese") == ["Chinese one"]
    assert titles("bucket=16k") == ["Chinese one"]
    assert titles("bucket=none") == ["Pending one"]
    assert titles("q=ending") == ["Pending one"]
    assert titles("domain=history&format=report") == ["Chinese one", "Pending one"]
    assert titles("domain=medicine") == []


# Bringing in


def test_only_leads_see_the_import_page() -> None:
    assert client_of(make_annotator()).get("/documents/import/").status_code == 403


def test_each_file_of_a_batch_is_reported_and_the_good_ones_go_in() -> None:
    make_version("Known already.\n", title="The first")
    files = [
        upload("good.txt", b"The Heron came in with salt."),
        upload("again.txt", b"Known already.\n"),
        upload("bad.txt", b"abc\xff\xfe\xfd"),
        upload("book.pdf", b"%PDF-1.7"),
        upload("empty.txt", b""),
    ]
    client = client_of(make_lead())
    response = bring_in(client, {"uploads": files, "domain": "history"})
    reports = {line.path: (line.row.status, line.row.rule, line.row.position) for line in response.context["lines"]}
    assert reports == {
        "good.txt": ("flagged", "", None),
        "again.txt": ("refused", "duplicate", None),
        "bad.txt": ("refused", "encoding", 3),
        "book.pdf": ("refused", "damaged", None),
        "empty.txt": ("refused", "empty", None),
    }
    page = response.content.decode()
    assert "“The first”" in page
    assert f'href="/documents/{Document.objects.get(title="The first").pk}/"' in page
    assert "byte 3" in page
    assert Document.objects.get(title="good").domain == "history"


def test_typed_text_is_kept_when_it_is_refused() -> None:
    make_version("Known already.\n")
    client = client_of(make_lead())
    body = {"text": "Known already.\r\n", "title": "Mine", "licence": "CC0"}
    batch = bring_in(client, body).context["batch"]
    again = f"/documents/import/?batch={batch.pk}"
    assert f'href="{again}"' in client.get(f"/documents/batches/{batch.pk}/").content.decode()
    page = client.get(again).content.decode()
    assert "Known already.\n</textarea>" in page
    assert 'value="Mine"' in page
    assert 'value="CC0"' in page
    # It is its writer's.
    assert "Known already" not in client_of(make_lead()).get(again).content.decode()


def test_nothing_chosen_and_too_much_chosen_are_said_at_the_field() -> None:
    client = client_of(make_lead())
    nothing = client.post("/documents/import/", {"title": "Mine"})
    assert (nothing.status_code, list(nothing.context["form"].errors)) == (400, ["uploads"])
    assert 'value="Mine"' in nothing.content.decode()
    wrong = client.post("/documents/import/", {"text": "a text", "language": "Klingon", "licence": "CC0"})
    assert (wrong.status_code, list(wrong.context["form"].errors)) == (400, ["language"])
    assert 'value="CC0"' in wrong.content.decode()
    assert "a text</textarea>" in wrong.content.decode()
    assert not ImportBatch.objects.exists()


@pytest.mark.parametrize("count", [101, 120])
def test_more_than_a_hundred_files_are_taken(count: int) -> None:
    """T-06, T-07, B-54."""
    files = [upload(f"{number}.txt", f"The log of day {number}.".encode()) for number in range(count)]
    batch = bring_in(client_of(make_lead()), {"uploads": files}).context["batch"]
    assert (batch.accepted + batch.flagged, batch.refused) == (count, 0)
    assert Document.objects.count() == count


@override_settings(DATA_UPLOAD_MAX_NUMBER_FILES=20)
def test_too_many_files_are_refused_in_words() -> None:
    """B-54. Django gives up while it reads the form: the page says the limit and the way through an archive."""
    files = [upload(f"{number}.txt", b"text") for number in range(21)]
    response = client_of(make_lead()).post("/documents/import/", {"uploads": files})
    assert response.status_code == 413
    page = response.content.decode()
    assert "20 files" in page
    assert "zip" in page
    assert not ImportBatch.objects.exists()


def test_the_page_says_the_limits() -> None:
    page = client_of(make_lead()).get("/documents/import/").content.decode()
    assert "At most 16 MiB of text in each file, 2,000 files and 256 MiB in one upload." in page


def test_the_decoded_beginning_is_shown_before_anything_is_taken() -> None:
    client = client_of(make_lead())
    data = "聖安港的航海日誌".encode("big5")
    found = client.post("/documents/import/", {"uploads": [upload("a.txt", data)], "do": "preview"})
    assert "聖安港" not in found.content.decode()
    named = client.post(
        "/documents/import/",
        {"uploads": [upload("a.txt", data)], "do": "preview", "encoding": "big5hkscs"},
        headers={"HX-Request": "true"},
    )
    assert "聖安港的航海日誌" in named.content.decode()
    assert "<html" not in named.content.decode()
    assert not Document.objects.exists()


def test_a_look_at_files_says_how_many_it_leaves_out() -> None:
    client = client_of(make_lead())
    lines = b"\n".join(b'{"text": "%d"}' % number for number in range(23))
    body = {"uploads": [upload("a.jsonl", lines)], "chosen": "4", "do": "preview"}
    page = client.post("/documents/import/", body, headers={"HX-Request": "true"}).content.decode()
    assert page.count('<section class="preview">') == 20
    assert "And 3 texts more, which are not shown here." in page
    assert "3 chosen files are not opened for this look" in page
    pdf = upload("long.pdf", b"%PDF-1.4" + bytes(2 * 1024 * 1024))
    slow = client.post("/documents/import/", {"uploads": [pdf], "do": "preview"}, headers={"HX-Request": "true"})
    assert "it is read when it is brought in" in slow.content.decode()
    large = client.post("/documents/import/", {"chosen": "1", "do": "preview"}, headers={"HX-Request": "true"})
    assert "1 chosen file is not opened" in large.content.decode()
    assert "Choose files first." not in large.content.decode()


def test_the_same_form_sent_twice_has_one_effect() -> None:
    client = client_of(make_lead())
    body = {"text": "The Heron.", "title": "Mine", "_once": "the same"}
    first = client.post("/documents/import/", body)
    second = client.post("/documents/import/", body)
    assert (first.status_code, second.status_code) == (302, 302)
    assert first.headers["Location"] == second.headers["Location"]
    assert ImportBatch.objects.count() == 1
    work_off()
    assert Document.objects.count() == 1


def test_shared_documents_imported_by_page_have_the_tokens_and_bucket_of_the_manifest(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "documents" / "manifest.jsonl").read_text().splitlines()]
    rows = [row for row in rows if row["bucket"] in {"8k", "256k"}]
    files = [
        upload(row["file"].replace("/", "-"), (shared_data / "documents" / row["file"]).read_bytes()) for row in rows
    ]
    batch = bring_in(client_of(make_lead()), {"uploads": files}).context["batch"]
    assert batch.refused == 0
    stored = {version.sha256: version for version in DocumentVersion.objects.select_related("document")}
    for row in rows:
        version = stored[row["sha256"]]
        assert (version.tokens, version.bucket, version.chars, version.bytes, version.document.language) == (
            row["qwen3_tokens"],
            row["bucket"],
            row["chars"],
            row["bytes"],
            row["language"],
        )


# One document


def test_hostile_text_and_title_stay_text() -> None:
    version = make_version(HOSTILE, title="<b>title</b>", state=VersionState.PENDING)
    for address in (f"/documents/{version.document_id}/", f"/documents/{version.document_id}/revise/", "/documents/"):
        page = client_of(make_lead()).get(address).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "<div hx-get" not in page
        assert "<b>title" not in page


def test_a_finding_names_its_place_in_code_points() -> None:
    text = "😀𠀀 write to a@example.org\n"
    version = make_version(text, state=VersionState.PENDING)
    page = client_of(make_annotator()).get(f"/documents/{version.document_id}/").content.decode()
    start = text.index("a@")
    assert f'data-mark="finding" data-start="{start}" data-end="{start + 13}"' in page


def test_approving_and_rejecting_by_the_page() -> None:
    version = make_version(state=VersionState.PENDING)
    address = reverse("documents:version_decide", args=[version.pk])
    person = make_annotator()
    client = client_of(person)
    refused = client.post(address, {"decision": "reject", "note": "my words"})
    assert refused.status_code == 400
    assert "my words" in refused.content.decode()
    assert list(refused.context["decision"].errors) == ["flags"]
    assert client.post(address, {"decision": "approve"}).status_code == 302
    version.refresh_from_db()
    assert (version.state, version.decided_by) == ("approved", person)
    late = client_of(make_expert()).post(address, {"decision": "approve", "note": "kept"})
    assert late.status_code == 409
    assert "kept" in late.content.decode()


def test_an_approval_is_withdrawn_by_an_expert_and_not_offered_to_an_annotator() -> None:
    version = make_version()
    address = f"/documents/{version.document_id}/"
    assert 'value="reject"' not in client_of(make_annotator()).get(address).content.decode()
    expert = client_of(make_expert())
    assert 'value="reject"' in expert.get(address).content.decode()
    body = {"decision": "reject", "flags": ["copyright"], "note": "a claim came in"}
    assert expert.post(reverse("documents:version_decide", args=[version.pk]), body).status_code == 302
    version.refresh_from_db()
    assert version.state == "rejected"


def test_correcting_trimming_and_revising_by_the_page() -> None:
    version = actions.paste_document(text="First paragraph.\n\nSecond paragraph.\n", title="Log", by=None)
    client, pk = client_of(make_lead()), version.document_id
    facts = {"title": "Logbook", "language": "English", "licence": "CC0", "version": "1"}
    assert client.post(f"/documents/{pk}/correct/", facts).status_code == 302
    stale = client.post(f"/documents/{pk}/correct/", {**facts, "title": "My other title"})
    assert stale.status_code == 409
    assert "My other title" in stale.content.decode()
    assert client.post(f"/documents/{pk}/trim/", {"tokens": "5"}).status_code == 302
    assert client.post(f"/documents/{pk}/trim/", {"tokens": "5"}).status_code == 400
    body = {"text": "A new text.\r\n", "reason": "a typo", "based_on": "2"}
    assert client.post(f"/documents/{pk}/revise/", body).status_code == 302
    assert client.post(f"/documents/{pk}/revise/", body).status_code == 409
    document = Document.objects.get(pk=pk)
    assert document.title == "Logbook"
    assert [queries.text_of(each) for each in document.versions.order_by("number")] == [
        "First paragraph.\n\nSecond paragraph.\n",
        "First paragraph.\n",
        "A new text.\n",
    ]
    assert document.latest is not None
    assert document.latest.normalisation == {}


def test_an_earlier_version_has_a_page_of_its_own() -> None:
    version = make_version("The first.\n")
    actions.revise_document(document=version.document, text="The second.\n", reason="why", by=None)
    client = client_of(make_annotator())
    assert "The first.\n</div>" in client.get(f"/documents/{version.document_id}/?version=1").content.decode()
    assert "The second.\n</div>" in client.get(f"/documents/{version.document_id}/").content.decode()
    for wrong in ("3", "x", "-1", "9" * 30):
        assert client.get(f"/documents/{version.document_id}/?version={wrong}").status_code == 404


# The text


def test_the_text_is_served_packed_cached_and_never_as_html() -> None:
    version = make_version(HOSTILE)
    client, address = client_of(make_annotator()), reverse("documents:document_text", args=[version.pk])
    packed = client.get(address, headers={"Accept-Encoding": "br, gzip;q=0.8"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content).decode() == HOSTILE
    plain = client.get(address, headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert "Content-Encoding" not in plain.headers
    assert plain.content.decode() == HOSTILE
    for response in (packed, plain):
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert "Accept-Encoding" in response.headers["Vary"]
        assert response.headers["Content-Length"] == str(len(response.content))
    assert packed.headers["ETag"] != plain.headers["ETag"]
    again = client.get(address, headers={"If-None-Match": plain.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = client.head(address, headers={"Accept-Encoding": "gzip"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == packed.headers["Content-Length"]
    assert client.post(address).status_code == 405


# The reader


def test_the_first_part_ends_behind_a_line_or_inside_one_that_does_not_end() -> None:
    lines = "x" * (FIRST_PART - 1) + "yy\nrest"
    assert lines[: first_cut(lines)].endswith("yy\n")
    assert first_cut("x" * (FIRST_PART + 4000)) == FIRST_PART
    assert first_cut("short") == 5


def test_the_reader_needs_one_query_and_counts_in_code_points() -> None:
    version = make_version("😀𠀀" * FIRST_PART)
    version = DocumentVersion.objects.select_related("document").get(pk=version.pk)
    with CaptureQueriesContext(connection) as captured:
        reader = reader_for(version, marks=[Mark(1, 2)])
    assert len(captured) == 1
    assert reader.first == ("😀𠀀" * FIRST_PART)[:FIRST_PART]
    assert not reader.is_whole
    assert reader_for(make_version("short")).is_whole


def test_the_language_of_the_text_is_not_that_of_the_page() -> None:
    version = make_version(language="Chinese")
    page = client_of(make_annotator(), "en").get(f"/documents/{version.document_id}/").content.decode()
    assert '<html lang="en"' in page
    assert '<div class="chunk" data-at="0" lang="zh-Hans">' in page


def test_the_edit_page_stands_on_the_newest_text_after_a_conflict() -> None:
    lead = make_lead()
    version = actions.paste_document(text="The first.\n", title="Log", by=lead)
    client, address = client_of(lead), f"/documents/{version.document_id}/revise/"
    client.get(address)
    actions.revise_document(document=version.document, text="The second.\n", reason="why", by=lead)
    mine = {"text": "Mine.\n", "reason": "a typo", "based_on": "1"}
    answer = client.post(address, mine)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Version 2 was saved meanwhile." in page
    assert "Mine." in page
    assert 'name="based_on" value="2"' in page
    assert client.post(address, {**mine, "based_on": "2"}).status_code == 302
    latest = version.document.versions.latest("number")
    assert (latest.number, queries.text_of(latest)) == (3, "Mine.\n")


def test_a_null_character_is_refused_in_a_chinese_sentence() -> None:
    lead = make_lead()
    lead.language = "zh-hans"
    lead.save()
    answer = client_of(lead, "zh-hans").post("/people/", {"name": "a\x00b", "role": "lead"})
    assert answer.status_code == 400
    assert "不允许使用空字符。" in answer.content.decode()
