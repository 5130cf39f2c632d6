"""What can be done with a document, and by whom.

* Leads bring documents in, correct what is recorded about them, and make new texts of them: trimmed, cut,
  joined, revised.
* Compliance is cleared by a person, whatever their role: annotator, expert or lead. It is no stage work on a sample,
  so the rule that leads do none does not touch it, and a lead who brought a text in may clear it: what counts is that
  a person looked, and who it was. To take a decision back (withdraw an approval, approve what was rejected) is for
  experts and leads.

`by=None` is the system: a command on the machine itself.
"""

from documents.actions.compliance import Seen, approve_version, reject_version, watch_names
from documents.actions.correcting import (
    BULK,
    CORRECTABLE,
    correct_document,
    correct_documents,
    correct_language,
    rebucket_documents,
)
from documents.actions.cutting import cut_document, part_title, propose_parts
from documents.actions.importing import (
    Sent,
    cancel_batch,
    import_document,
    import_pieces,
    paste_document,
    start_batch,
    too_many,
)
from documents.actions.joining import join_documents, joined_facts, refuse_unjoinable
from documents.actions.permissions import (
    can_approve_version,
    can_cancel_batch,
    can_correct_document,
    can_correct_documents,
    can_cut_document,
    can_import_document,
    can_join_documents,
    can_reject_version,
    can_remember_position,
    can_revise_document,
    can_see_record,
    can_trim_document,
    can_watch_names,
)
from documents.actions.reading import remember_position
from documents.actions.shaping import revise_document, trim_document
from documents.actions.storing import LANGUAGE_NAMES, MAX_NOTE, Facts
from documents.batches import Report

__all__ = [
    "BULK",
    "CORRECTABLE",
    "LANGUAGE_NAMES",
    "MAX_NOTE",
    "Facts",
    "Report",
    "Seen",
    "Sent",
    "approve_version",
    "can_approve_version",
    "can_cancel_batch",
    "can_correct_document",
    "can_correct_documents",
    "can_cut_document",
    "can_import_document",
    "can_join_documents",
    "can_reject_version",
    "can_remember_position",
    "can_revise_document",
    "can_see_record",
    "can_trim_document",
    "can_watch_names",
    "cancel_batch",
    "correct_document",
    "correct_documents",
    "correct_language",
    "cut_document",
    "import_document",
    "import_pieces",
    "join_documents",
    "joined_facts",
    "part_title",
    "paste_document",
    "propose_parts",
    "rebucket_documents",
    "refuse_unjoinable",
    "reject_version",
    "remember_position",
    "revise_document",
    "start_batch",
    "too_many",
    "trim_document",
    "watch_names",
]
