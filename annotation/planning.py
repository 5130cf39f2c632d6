"""Pairing a cleared document with a secondary task."""

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.guards import require_lead
from annotation.models import Sample
from annotation.workflow import SampleState
from benchmark.taxonomy import SecondaryTask, UnknownTask, secondary_task
from core import history
from core.models import User
from core.refusals import Invalid, RuleBroken
from documents.models import Document
from generation.models import Run
from generation.workflow import Purpose


def task_named(name: str) -> SecondaryTask:
    """By code or exact name, as everywhere outside."""
    try:
        return secondary_task(name.strip())
    except UnknownTask:
        raise Invalid({"secondary_task": _("There is no secondary task of this code or name.")}) from None


def can_create_sample(user: User) -> bool:
    return user.is_lead


@transaction.atomic
def create_sample(*, document: Document, task_code: str, by: User) -> Sample:
    """Pair the document's newest version with a task. A pair exists once; exhausted samples do not count."""
    require_lead(by)
    task = task_named(task_code)
    document = Document.objects.select_for_update(of=("self",)).select_related("latest").get(pk=document.pk)
    version = document.latest
    if version is None or not version.is_approved:
        raise RuleBroken(
            _("“%(title)s” has not been approved, so it cannot carry a sample.") % {"title": document.title},
            rule="document_not_approved",
        )
    if not version.bucket:
        raise RuleBroken(
            _("“%(title)s” is in no bucket (%(tokens)s tokens). Trim or join it first.")
            % {"title": document.title, "tokens": version.tokens},
            rule="document_without_bucket",
        )
    _refuse_a_second(document, task)
    try:
        with transaction.atomic():
            sample = Sample.objects.create(
                document=document, document_version=version, task_code=task.code, created_by=by
            )
    except IntegrityError:
        _refuse_a_second(document, task)
        raise
    history.record("create", sample, by=by, document=document.pk, version=version.number, task=task.code)
    return sample


def _refuse_a_second(document: Document, task: SecondaryTask) -> None:
    pairs = Sample.objects.filter(document=document, task_code=task.code)
    existing = pairs.exclude(state=SampleState.EXHAUSTED).first()
    if existing is not None:
        raise RuleBroken(
            _("“%(title)s” carries %(task)s already: %(sample)s.")
            % {"title": document.title, "task": task.code, "sample": existing.label},
            rule="pair_exists",
            sample=existing.pk,
        )


def first_draft_number(sample: Sample) -> int:
    """The number after every earlier drafting of this pair: stored drafts are never taken for fresh ones."""
    runs = Run.objects.filter(
        purpose=Purpose.DRAFTING, document_version__document=sample.document, task_code=sample.task_code
    )
    last = runs.aggregate(last=Max("first_number"))["last"]
    return 1 if last is None else last + 1
