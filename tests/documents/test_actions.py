import gzip
from collections.abc import Callable

import pytest

from core.history import history_of
from core.models import BenchmarkSettings, User
from core.refusals import Conflict, Invalid, NotAllowed, Refused
from documents import actions, queries
from documents.models import Document, DocumentText, DocumentVersion
from documents.workflow import Origin, VersionState
from tests.factories import make_annotator, make_expert, make_lead, make_person, make_version

pytestmark = pytest.mark.django_db

LONG = "\n\n".join(f"Paragraph {number} says that the brig Heron came in with salt." for number in range(200)) + "\n"


def refusal(call: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


# Bringing in


def test_a_file_becomes_a_document_that_waits_for_compliance() -> None:
    lead = make_lead()
    version = actions.import_document(
        data="\ufeffThe Heron.\r\nThe Tern.".encode(), file_name="log/harbour.txt", by=lead, domain="history"
    )
    document = version.document
    assert (document.title, document.language, document.domain) == ("harbour", "English", "history")
    assert (document.latest, version.number, version.state, version.origin) == (version, 1, "pending", "import")
    assert queries.text_of(version) == "The Heron.\nThe Tern."
    assert version.normalisation == {"bom": 1, "line_ends": 1}
    assert gzip.decompress(queries.gzipped_text_of(version)).decode() == "The Heron.\nThe Tern."
    assert (version.chars, version.bytes, version.bucket) == (20, 20, "")
    event = history_of(version).get()
    assert (event.action, event.by, event.data["sha256"]) == ("documents.make_version_by_import", lead, version.sha256)


@pytest.mark.parametrize("role", ["annotator", "expert"])
def test_only_leads_bring_documents_in(role: str) -> None:
    with pytest.raises(NotAllowed):
        actions.import_document(data=b"text", file_name="a.txt", by=make_person(role))
    with pytest.raises(NotAllowed):
        actions.paste_document(text="text", title="A", by=make_person(role))


def test_the_same_text_is_refused_naming_the_first() -> None:
    lead = make_lead()
    first = actions.paste_document(text="The Heron.\n", title="The first", by=lead)
    caught = refusal(lambda: actions.import_document(data=b"The Heron.\r\n", file_name="again.txt", by=lead))
    assert caught.rule == "duplicate"
    assert caught.details["document"] == first.document_id
    assert "The first" in str(caught)
    assert Document.objects.count() == 1


@pytest.mark.parametrize(("text", "rule"), [("", "empty"), (" \n\t\u3000 \n", "empty"), ("half \ud83d", "encoding")])
def test_a_text_without_words_or_with_half_a_character_is_refused(text: str, rule: str) -> None:
    assert refusal(lambda: actions.paste_document(text=text, title="A", by=make_lead())).rule == rule


def test_a_document_has_the_bucket_of_the_settings() -> None:
    settings = BenchmarkSettings.load()
    settings.targets, settings.unit = [1, 2], 10
    settings.save()
    version = actions.paste_document(text="one two three four five six seven eight nine ten", title="A", by=None)
    assert (version.tokens, version.bucket) == (10, "1k")


def test_a_changed_tolerance_sorts_all_versions_anew() -> None:
    version = make_version(tokens=8192, bucket="")
    assert actions.rebucket_documents(by=make_lead()) == 1
    version.refresh_from_db()
    assert version.bucket == "8k"


def test_an_unknown_language_is_said_at_its_field() -> None:
    with pytest.raises(Invalid) as caught:
        actions.paste_document(text="text", title="A", by=make_lead(), language="Klingon")
    assert set(caught.value.errors) == {"language"}


def test_a_language_named_by_the_uploader_wins_and_is_remarked() -> None:
    version = actions.paste_document(text="The Heron came in with salt.", title="A", by=None, language="Chinese")
    assert version.document.language == "Chinese"
    assert [remark["rule"] for remark in version.remarks] == ["language_differs"]


# Compliance


@pytest.mark.parametrize("role", ["annotator", "expert", "lead"])
def test_any_person_clears_a_version(role: str) -> None:
    person = make_person(role)
    version = make_version(state=VersionState.PENDING)
    actions.approve_version(version=version, by=person, note="public domain")
    version.refresh_from_db()
    assert (version.state, version.decided_by, version.note) == ("approved", person, "public domain")
    assert version.decided_at is not None
    event = history_of(version).get()
    assert (event.from_state, event.to_state, event.by) == ("pending", "approved", person)


def test_a_rejection_needs_a_flag_and_a_note() -> None:
    version = make_version(state=VersionState.PENDING)
    with pytest.raises(Invalid) as caught:
        actions.reject_version(version=version, flags=[], note=" ", by=make_annotator())
    assert set(caught.value.errors) == {"flags", "note"}
    with pytest.raises(Invalid):
        actions.reject_version(version=version, flags=["gossip"], note="why", by=make_annotator())
    version.refresh_from_db()
    assert version.state == "pending"


def test_a_rejection_keeps_flags_and_note() -> None:
    version = make_version(state=VersionState.PENDING)
    actions.reject_version(version=version, flags=["other", "privacy"], note="names people", by=make_annotator())
    version.refresh_from_db()
    assert (version.state, version.flags, version.note) == ("rejected", ["privacy", "other"], "names people")


@pytest.mark.parametrize("role", ["expert", "lead"])
def test_experts_and_leads_withdraw_an_approval(role: str) -> None:
    version = make_version()
    actions.reject_version(version=version, flags=["copyright"], note="a claim came in", by=make_person(role))
    version.refresh_from_db()
    assert not version.is_approved


def test_an_annotator_does_not_take_a_decision_back() -> None:
    with pytest.raises(NotAllowed):
        actions.reject_version(version=make_version(), flags=["other"], note="no", by=make_annotator())
    with pytest.raises(NotAllowed):
        actions.approve_version(version=make_version(state=VersionState.REJECTED), by=make_annotator())


def test_whoever_decides_second_learns_the_state() -> None:
    version = make_version(state=VersionState.PENDING)
    stale = DocumentVersion.objects.get(pk=version.pk)
    actions.approve_version(version=version, by=make_annotator())
    with pytest.raises(Conflict) as caught:
        actions.approve_version(version=stale, by=make_annotator())
    assert caught.value.details["state"] == "approved"
    assert history_of(version).count() == 1


def test_a_new_text_goes_back_to_compliance_and_the_old_approval_stays_with_the_old_text() -> None:
    old = make_version()
    new = actions.revise_document(document=old.document, text="Another text.", reason="a typo", by=make_lead())
    old.refresh_from_db()
    assert (old.state, new.state, new.number) == ("approved", "pending", 2)
    assert Document.objects.get().latest == new
    assert not Document.objects.approved().exists()
    assert list(DocumentVersion.objects.approved()) == [old]


# Changing


def test_a_revision_of_an_older_text_is_refused() -> None:
    version = make_version()
    actions.revise_document(document=version.document, text="Second.", reason="why", by=make_lead(), based_on=1)
    caught = refusal(
        lambda: actions.revise_document(
            document=version.document, text="Third.", reason="why", by=make_lead(), based_on=1
        )
    )
    assert (type(caught), caught.rule) == (Conflict, "stale_version")


def test_a_revision_says_why_and_changes_something() -> None:
    version = make_version("The same.\n")
    with pytest.raises(Invalid):
        actions.revise_document(document=version.document, text="Other.", reason="", by=make_lead())
    same = refusal(
        lambda: actions.revise_document(document=version.document, text="The same.\n", reason="why", by=make_lead())
    )
    assert same.rule == "unchanged"


def test_a_document_can_go_back_to_its_own_earlier_text() -> None:
    version = make_version("The first.\n")
    document = version.document
    actions.revise_document(document=document, text="The second.\n", reason="why", by=make_lead())
    back = actions.revise_document(document=document, text="The first.\n", reason="back", by=make_lead())
    assert (back.number, back.sha256) == (3, version.sha256)


def test_trimming_cuts_at_the_end_of_a_paragraph() -> None:
    version = actions.paste_document(text=LONG, title="Log", by=None)
    short = actions.trim_document(document=version.document, tokens=500, by=make_lead(), reason="too long")
    text = queries.text_of(short)
    assert LONG.startswith(text.rstrip("\n"))
    assert text.endswith("salt.\n")
    assert 450 < short.tokens <= 500
    assert (short.origin, short.number, short.state) == (Origin.TRIM, 2, "pending")


def test_trimming_into_a_bucket_keeps_its_target() -> None:
    version = actions.paste_document(text=LONG * 8, title="Log", by=None)
    assert version.tokens > 9_830
    short = actions.trim_document(document=version.document, bucket="8k", by=make_lead())
    assert (short.bucket, short.tokens <= 8192) == ("8k", True)


def test_trimming_refuses_what_it_cannot_do() -> None:
    document = actions.paste_document(text=LONG, title="Log", by=None).document
    with pytest.raises(Invalid):
        actions.trim_document(document=document, tokens=10**6, by=make_lead())
    with pytest.raises(Invalid):
        actions.trim_document(document=document, bucket="9k", by=make_lead())
    with pytest.raises(Invalid):
        actions.trim_document(document=document, by=make_lead())
    assert refusal(lambda: actions.trim_document(document=document, tokens=3, by=make_lead())).rule == (
        "no_paragraph_fits"
    )
    with pytest.raises(NotAllowed):
        actions.trim_document(document=document, tokens=500, by=make_expert())


def test_joining_gives_each_text_a_visible_heading() -> None:
    first, second = make_version("First text.\n", title="One"), make_version("Second text.\n", title="Two")
    both = actions.join_documents(documents=[first.document, second.document], title="Both", by=make_lead())
    assert queries.text_of(both) == "==== 1. One ====\n\nFirst text.\n\n==== 2. Two ====\n\nSecond text.\n"
    assert (both.document.multi, both.document.licence, both.state) == (True, "CC0", "pending")


def test_only_texts_in_one_language_are_joined() -> None:
    english, chinese = make_version(), make_version(language="Chinese")
    with pytest.raises(Invalid):
        actions.join_documents(documents=[english.document, chinese.document], title="Both", by=make_lead())
    with pytest.raises(Invalid):
        actions.join_documents(documents=[english.document, english.document], title="Twice", by=make_lead())


def test_a_correction_is_recorded_and_a_stale_one_refused() -> None:
    lead = make_lead()
    document = make_version().document
    actions.correct_document(document=document, version=1, by=lead, title="A better title", language="zh")
    assert (document.title, document.language, document.version) == ("A better title", "Chinese", 2)
    assert history_of(document).get().data["changed"]["language"] == ["English", "Chinese"]
    with pytest.raises(Conflict):
        actions.correct_document(document=document, version=1, by=lead, title="Another")
    with pytest.raises(NotAllowed):
        actions.correct_language(document=document, language="English", by=make_expert())


def test_a_correction_cannot_touch_anything_else(django_user_model: type[User]) -> None:
    document = make_version().document
    with pytest.raises(Invalid):
        actions.correct_document(document=document, version=1, by=make_lead(), imported_by=None)


def test_lists_never_load_a_text() -> None:
    make_version()
    sql = str(Document.objects.for_list().query) + str(DocumentVersion.objects.for_list().query)
    assert DocumentText._meta.db_table not in sql
