"""CSV files that people open in spreadsheets: UTF-8 with the mark that Excel reads it by, and no cell that runs as a
formula."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MARK = "\ufeff"


class _Line:
    """A file whose line is what was written last."""

    def write(self, line: str) -> str:
        return line


def lines(head: Sequence[str], rows: Iterable[Sequence[Any]], *, mark: str = MARK) -> Iterator[str]:
    """The file, line by line: nothing is held in memory."""
    writer = csv.writer(_Line())
    yield mark + writer.writerow(head)
    for row in rows:
        yield writer.writerow([safe_cell(cell) for cell in row])


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front; numbers stay numbers."""
    if isinstance(value, str) and value.lstrip(" ")[:1] in {"=", "+", "-", "@", "\t", "\r", "\n"}:
        return f"'{value}"
    return value
