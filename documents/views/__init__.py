"""Pages of stage 1: the list, bringing in, one document with its compliance, new texts, and the text itself."""

from documents.views.compliance import document_changes, document_detail, version_decide
from documents.views.findings import version_findings
from documents.views.importing import document_import
from documents.views.listing import document_list
from documents.views.naming import watched_names
from documents.views.reading import document_text
from documents.views.shaping import document_correct, document_revise, document_trim

__all__ = [
    "document_changes",
    "document_correct",
    "document_detail",
    "document_import",
    "document_list",
    "document_revise",
    "document_text",
    "document_trim",
    "version_decide",
    "version_findings",
    "watched_names",
]
