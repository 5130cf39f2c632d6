"""The demo: people with one printed password, documents in both languages, simulated models, first samples in drafting.

Everything goes through the same actions a person uses. Called again, it only adds what is missing.
"""

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import transaction

from annotation import actions as annotating
from annotation.models import Sample
from benchmark.taxonomy import Language
from core.models import BenchmarkSettings, User
from core.refusals import Refused
from core.workflow import Role
from documents import actions as clearing
from documents.models import Document, DocumentVersion
from documents.tokenizing import count_tokens
from documents.workflow import VersionState
from generation.panels import ensure_panel
from leading.demo_texts import DemoText, demo_texts

EXPERTS, ANNOTATORS = 5, 6
# The documents a fresh demo leaves for a person to clear.
LEFT_TO_CLEAR = frozenset({"64k"})
FIRST_SAMPLES = (
    ("English", "8k", "T1.1"),
    ("English", "8k", "T6.3"),
    ("Chinese", "8k", "T3.2"),
    ("Chinese", "8k", "T8.2"),
)


def password() -> str:
    return str(getattr(settings, "LBP_DEMO_PASSWORD", "longbench-demo"))


def ensure_people() -> dict[str, User]:
    """lead, expert1 .. expert5, annotator1 .. annotator6. An account that exists keeps its password."""
    names = [("lead", Role.LEAD)]
    names += [(f"expert{number}", Role.EXPERT) for number in range(1, EXPERTS + 1)]
    names += [(f"annotator{number}", Role.ANNOTATOR) for number in range(1, ANNOTATORS + 1)]
    people = {}
    hashed = make_password(password())
    for name, role in names:
        person = User.objects.filter(username=name).first()
        if person is None:
            words = name.rstrip("0123456789").capitalize() + (" " + name[-1] if name[-1].isdigit() else "")
            person = User.objects.create(username=name, password=hashed, role=role, first_name=words)
        people[name] = person
    return people


def ensure_document(made: DemoText, *, by: User) -> Document:
    document = Document.objects.filter(title=made.title).first()
    if document is not None:
        return document
    version = clearing.import_document(
        data=made.text.encode(),
        file_name="demo.txt",
        by=by,
        language=made.language,
        title=made.title,
        domain=made.domain,
        format=made.format,
        multi=made.multi,
        licence=made.licence,
    )
    return version.document


def ensure_documents(*, by: User, cleared_by: User) -> list[Document]:
    documents = []
    for made in demo_texts(count_tokens):
        document = ensure_document(made, by=by)
        documents.append(document)
        version = DocumentVersion.objects.get(pk=document.latest_id or 0)
        if made.bucket not in LEFT_TO_CLEAR and version.state == VersionState.PENDING:
            clearing.approve_version(version=version, by=cleared_by, note="")
    return documents


def ensure_demo() -> list[str]:
    """Everything the demo needs; fast when it is there already. Returns the log-ins as lines to print."""
    BenchmarkSettings.load()
    ensure_panel("demo")
    people = ensure_people()
    if not Document.objects.exists():
        _first_content(people)
    return [f"Sign in as {', '.join(people)}.", f"The password of each, in this demo only: {password()}"]


def _first_content(people: dict[str, User]) -> None:
    ensure_documents(by=people["lead"], cleared_by=people["annotator6"])
    for language, bucket, task_code in FIRST_SAMPLES:
        document = Document.objects.filter(
            language=Language(language), latest__bucket=bucket, latest__state=VersionState.APPROVED
        ).first()
        if document is not None and not Sample.objects.filter(document=document, task_code=task_code).exists():
            start_sample(document=document, task_code=task_code, by=people["lead"])


def start_sample(*, document: Document, task_code: str, by: User) -> Sample | None:
    """A sample in drafting, or None when the pair is taken."""
    try:
        with transaction.atomic():
            sample = annotating.create_sample(document=document, task_code=task_code, by=by)
            annotating.draft_sample(sample=sample, by=by)
    except Refused:
        return None
    return sample
