"""Pages of stage 1: the list and its record, bringing in, one document with its compliance, new texts, and the text."""

from documents.views.batches import batch_cancel, batch_detail, batch_list, batch_report
from documents.views.compliance import document_changes, document_detail, version_decide
from documents.views.correcting import document_correct_many
from documents.views.cutting import document_cut
from documents.views.findings import version_findings
from documents.views.importing import document_import
from documents.views.joining import document_join
from documents.views.listing import document_list
from documents.views.naming import watched_names
from documents.views.reading import document_outline, document_position, document_text
from documents.views.record import document_record
from documents.views.shaping import document_correct, document_revise
from documents.views.trimming import document_trim, document_trim_measure

__all__ = [
    "batch_cancel",
    "batch_detail",
    "batch_list",
    "batch_report",
    "document_changes",
    "document_correct",
    "document_correct_many",
    "document_cut",
    "document_detail",
    "document_import",
    "document_join",
    "document_list",
    "document_outline",
    "document_position",
    "document_record",
    "document_revise",
    "document_text",
    "document_trim",
    "document_trim_measure",
    "version_decide",
    "version_findings",
    "watched_names",
]
