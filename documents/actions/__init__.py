"""What can be done with a document, and by whom.

* Leads bring documents in, correct what is recorded about them, and make new texts of them: trimmed, joined, revised.
* Compliance is cleared by a person, whatever their role: annotator, expert or lead. It is no stage work on a sample,
  so the rule that leads do none does not touch it, and a lead who brought a text in may clear it: what counts is that
  a person looked, and who it was. To take a decision back (withdraw an approval, approve what was rejected) is for
  experts and leads.

`by=None` is the system: a command on the machine itself.
"""

from documents.actions.compliance import Seen, approve_version, reject_version, watch_names
from documents.actions.correcting import CORRECTABLE, correct_document, correct_language, rebucket_documents
from documents.actions.importing import Report, import_document, import_pieces, paste_document
from documents.actions.permissions import (
    can_approve_version,
    can_correct_document,
    can_import_document,
    can_join_documents,
    can_reject_version,
    can_revise_document,
    can_trim_document,
    can_watch_names,
)
from documents.actions.shaping import join_documents, revise_document, trim_document
from documents.actions.storing import LANGUAGE_NAMES, MAX_NOTE, Facts

__all__ = [
    "CORRECTABLE",
    "LANGUAGE_NAMES",
    "MAX_NOTE",
    "Facts",
    "Report",
    "Seen",
    "approve_version",
    "can_approve_version",
    "can_correct_document",
    "can_import_document",
    "can_join_documents",
    "can_reject_version",
    "can_revise_document",
    "can_trim_document",
    "can_watch_names",
    "correct_document",
    "correct_language",
    "import_document",
    "import_pieces",
    "join_documents",
    "paste_document",
    "rebucket_documents",
    "reject_version",
    "revise_document",
    "trim_document",
    "watch_names",
]
