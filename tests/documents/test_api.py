import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from core.models import User
from documents.models import Document, DocumentText, DocumentVersion
from documents.normalising import normalise
from documents.queries import text_of
from documents.workflow import VersionState
from tests.factories import make_annotator, make_lead, make_version

pytestmark = pytest.mark.django_db


def api(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def address(name: str, *arguments: object) -> str:
    return reverse(f"document-{name}", args=arguments)


def test_the_list_is_filtered_constant_and_without_texts() -> None:
    client = api(make_annotator())
    counts = []
    for more in (3, 27):
        for _ in range(more):
            make_version()
        with CaptureQueriesContext(connection) as captured:
            body = client.get(address("list")).json()
        counts.append(len(captured))
        assert not any(DocumentText._meta.db_table in query["sql"] for query in captured)
    assert body["count"] == 30
    assert counts[0] == counts[1] <= 5
    make_version(state=VersionState.PENDING, language="Chinese", bucket="16k")
    for query in ("state=pending", "language=Chinese", "bucket=16k"):
        assert client.get(f"{address('list')}?{query}").json()["count"] == 1
    assert client.get(f"{address('list')}?bucket=9k").status_code == 400


def test_a_text_sent_as_json_and_a_file_become_documents() -> None:
    client = api(make_lead())
    created = client.post(address("list"), {"text": " The Heron.\r\n", "title": "Log", "licence": "CC0"})
    assert created.status_code == 201
    body = created.json()
    assert (body["title"], body["state"], body["latest"]["normalisation"]) == ("Log", "pending", {"line_ends": 1})
    assert text_of(DocumentVersion.objects.get()) == " The Heron.\n"
    file = SimpleUploadedFile("log.md", "# 苍鹭号载盐入港，燕鸥号北上".encode("gb18030"))
    created = client.post(address("list"), {"file": file, "domain": "history"}, format="multipart")
    assert created.status_code == 201
    assert (created.json()["language"], created.json()["domain"]) == ("Chinese", "history")


@pytest.mark.parametrize(
    ("body", "status", "rule"),
    [
        ("{}", 400, "invalid"),
        ('{"text": ""}', 422, "empty"),
        ('{"text": " \\n"}', 422, "empty"),
        (r'{"text": "half \ud83d"}', 422, "encoding"),
        ('{"text": "a", "language": "Klingon"}', 400, "invalid"),
        ('{"text": null}', 400, "invalid"),
        ('{"text": {}}', 400, "invalid"),
        ('{"text": 5}', 400, "invalid"),
        (f'{{"text": {"[" * 100_000}{"]" * 100_000}}}', 400, "parse_error"),
        ('{"text"', 400, "parse_error"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_bodies_are_problems_with_their_rule(body: str, status: int, rule: str) -> None:
    response = api(make_lead()).post(address("list"), body, content_type="application/json")
    assert response.headers["Content-Type"] == "application/problem+json"
    assert (response.status_code, response.json()["rule"]) == (status, rule)
    assert Document.objects.count() == 0


def test_an_archive_is_not_one_text() -> None:
    file = SimpleUploadedFile("a.jsonl", b'{"text": "a"}')
    response = api(make_lead()).post(address("list"), {"file": file}, format="multipart")
    assert (response.status_code, response.json()["rule"]) == (422, "unsupported_format")


def test_an_annotator_may_not_bring_in_but_may_clear() -> None:
    client = api(make_annotator())
    assert client.post(address("list"), {"text": "a"}).status_code == 403
    version = make_version(state=VersionState.PENDING)
    approved = client.post(address("approve", version.document_id), {"version": 1, "note": "fine"})
    assert (approved.status_code, approved.json()["state"]) == (200, "approved")
    again = client.post(address("approve", version.document_id), {})
    assert again.status_code == 403
    unknown = client.post(address("approve", version.document_id), {"version": 2})
    assert unknown.status_code == 404


def test_a_conflict_carries_the_state() -> None:
    version = make_version()
    response = api(make_lead()).post(address("approve", version.document_id), {})
    assert (response.status_code, response.json()["state"]) == (409, "approved")


def test_a_decision_on_what_is_no_longer_so_is_refused() -> None:
    client, version = api(make_lead()), make_version(state=VersionState.PENDING)
    approve = address("approve", version.document_id)
    stale = client.post(approve, {"seen": {"state": "pending", "latest": 2}}, format="json")
    assert (stale.status_code, stale.json()["rule"]) == (409, "stale_version")
    assert client.post(approve, {"seen": {"state": "pending"}}, format="json").status_code == 400
    assert client.post(approve, {"seen": {"state": "pending", "latest": 1}}, format="json").status_code == 200
    body = {"flags": ["privacy"], "note": "names", "seen": {"state": "pending", "latest": 1}}
    moved = client.post(address("reject", version.document_id), body, format="json")
    assert (moved.status_code, moved.json()["rule"], moved.json()["state"]) == (409, "state_moved", "approved")
    version.refresh_from_db()
    assert version.state == "approved"


def test_rejecting_trimming_and_joining() -> None:
    client = api(make_lead())
    first, second = make_version("One.\n\nTwo.\n", tokens=6), make_version("Three.\n")
    bad = client.post(address("reject", first.document_id), {"flags": [], "note": ""})
    assert (bad.status_code, set(bad.json()["errors"])) == (400, {"flags", "note"})
    good = client.post(address("reject", first.document_id), {"flags": ["privacy"], "note": "names"})
    assert good.json()["latest"]["flags"] == ["privacy"]
    trimmed = client.post(address("trim", first.document_id), {"tokens": 4})
    assert (trimmed.status_code, trimmed.json()["state"], len(trimmed.json()["versions"])) == (200, "pending", 2)
    joined = client.post(address("join", first.document_id), {"documents": [second.document_id], "title": "Both"})
    assert (joined.status_code, joined.json()["multi"]) == (201, True)
    missing = client.post(address("join", first.document_id), {"documents": [999999], "title": "Both"})
    assert missing.status_code == 400


def test_ranges_are_code_points_half_open() -> None:
    text = "a😀𠀀b\nc"
    version = make_version(text)
    client = api(make_annotator())
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            part = client.get(address("text", version.document_id), {"start": start, "end": end}).json()
            assert part["text"] == text[start:end]
    whole = client.get(address("text", version.document_id)).json()
    assert (whole["text"], whole["chars"], whole["end"]) == (text, 6, 6)
    assert client.get(address("text", version.document_id), {"start": 10**8}).status_code == 400
    for wrong in ("-1", "x", "1e3", "9" * 30):
        assert client.get(address("text", version.document_id), {"start": wrong}).status_code == 400


@given(
    text=st.text(
        alphabet=st.one_of(
            st.characters(exclude_categories=["Cs"]), st.sampled_from("\r\n\f\x00\x85\u2028\ufeff<&\"'{{😀𠀀e\u0301")
        ),
        max_size=80,
    ).filter(lambda text: normalise(text).text.strip())
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_text_comes_out_as_it_went_in_but_for_the_documented_normalisation(text: str) -> None:
    expected = normalise(text).text
    lead = User.objects.filter(role="lead").first() or make_lead()
    client = api(lead)
    Document.objects.update(latest=None)
    DocumentText.objects.all().delete()
    DocumentVersion.objects.all().delete()
    Document.objects.all().delete()
    created = client.post(address("list"), {"text": text, "title": "Any", "language": "English"})
    assert created.status_code == 201, created.json()
    document, version = created.json()["id"], created.json()["latest"]["id"]
    assert text_of(DocumentVersion.objects.get()) == expected
    assert client.get(address("text", document)).json()["text"] == expected
    page = APIClient()
    page.force_login(lead)
    served = page.get(reverse("documents:document_text", args=[version]))
    assert served.content.decode() == expected


@pytest.mark.parametrize(
    ("number", "errors"),
    [
        (0, {"documents": ["There is no document 0."]}),
        (2**63, {"documents.0": ["A whole number is larger than any that is stored (64 bits)."]}),
        (10**30, {"documents.0": ["A whole number is larger than any that is stored (64 bits)."]}),
    ],
)
def test_joining_with_a_document_that_is_not_there_names_it(number: int, errors: dict[str, list[str]]) -> None:
    version = make_version()
    body = {"documents": [number], "title": "Both"}
    response = api(make_lead()).post(address("join", version.document_id), body)
    assert response.status_code == 400
    assert response.json()["errors"] == errors
