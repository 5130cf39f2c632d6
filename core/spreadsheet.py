"""Cells of CSV files that people open in spreadsheets."""

from typing import Any


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers."""
    if isinstance(value, str) and value.lstrip(" ")[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"}:
        return f"'{value}"
    return value
