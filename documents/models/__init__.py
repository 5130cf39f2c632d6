"""Stage 1 in the database: documents and their versions, batches on their way in, findings, who read how far."""

from documents.models.batches import BatchFile, BatchLine, ImportBatch
from documents.models.compliance import Passage, VersionFindings, WatchedNames
from documents.models.documents import (
    LANGUAGE_CHOICES,
    Document,
    DocumentQuerySet,
    DocumentText,
    DocumentVersion,
    DocumentVersionQuerySet,
)
from documents.models.reading import ReadingPosition

__all__ = [
    "LANGUAGE_CHOICES",
    "BatchFile",
    "BatchLine",
    "Document",
    "DocumentQuerySet",
    "DocumentText",
    "DocumentVersion",
    "DocumentVersionQuerySet",
    "ImportBatch",
    "Passage",
    "ReadingPosition",
    "VersionFindings",
    "WatchedNames",
]
