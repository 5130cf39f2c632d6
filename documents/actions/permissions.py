"""Who may do what with a document."""

from django.utils.translation import gettext as _

from core.models import User
from core.refusals import NotAllowed
from documents.models import Document, DocumentVersion, ImportBatch
from documents.workflow import VersionState


def can_import_document(user: User | None) -> bool:
    return user is None or user.is_lead


def can_cancel_batch(user: User, batch: ImportBatch) -> bool:
    return user.is_lead


def can_correct_document(user: User | None, document: Document) -> bool:
    return user is None or user.is_lead


def can_correct_documents(user: User | None) -> bool:
    return user is None or user.is_lead


def can_see_record(user: User | None) -> bool:
    """Who cleared what, when and why, as a file: for those who may take such a decision back."""
    return user is None or not user.is_annotator


def can_revise_document(user: User | None, document: Document) -> bool:
    """Experts too: they order a document's reconstruction, and whoever carries it out acts in their name."""
    return user is None or user.is_lead or user.does_stage_work


def can_trim_document(user: User | None, document: Document) -> bool:
    return user is None or user.is_lead


def can_cut_document(user: User | None, document: Document) -> bool:
    return user is None or user.is_lead


def can_join_documents(user: User | None) -> bool:
    return user is None or user.is_lead


def can_approve_version(user: User, version: DocumentVersion) -> bool:
    return user.is_active and (version.state == VersionState.PENDING or not user.is_annotator)


def can_reject_version(user: User, version: DocumentVersion) -> bool:
    return can_approve_version(user, version)


def can_remember_position(user: User, version: DocumentVersion) -> bool:
    """Whoever may open a text may leave a bookmark in it."""
    return user.is_active


def can_watch_names(user: User) -> bool:
    return user.is_active and user.is_lead


def refuse_unless(allowed: bool) -> None:
    if not allowed:
        raise NotAllowed(_("This is not for your role to do."))
