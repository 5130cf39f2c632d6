"""What a reader in the child answers."""

from dataclasses import dataclass, field
from typing import Any

# Of UTF-8, as everywhere: a text beyond it is refused anyway, so that a reader may stop there.
MAX_TEXT = 16 * 1024 * 1024

# documents.formats.remarking has the words for them.
REMARKS = frozenset(
    {
        "suspicious_text",
        "damaged_pages",
        "pages_without_text",
        "restricted",
        "tracked_changes",
        "comments_left_out",
        "footnotes",
        "endnotes",
        "hidden_text",
        "macros",
        "embedded_objects",
        "missing_chapters",
    }
)


@dataclass(frozen=True)
class Answer:
    """A plain text, the title that the file itself gives, remarks: {"rule", "count", "position", ...}, and how many
    shapes of a font were read as letters (`forms`)."""

    text: str
    title: str = ""
    remarks: list[dict[str, Any]] = field(default_factory=list)
    forms: int = 0


def remark(rule: str, count: int = 0, **more: Any) -> dict[str, Any]:
    return {"rule": rule, "count": count, **more}


def one_line(text: str) -> str:
    # Longer than a title may be, so that what is cut off can be said.
    return " ".join(text.split())[:2000]
