"""The process in which a file is parsed. Bytes in, a line of JSON and the text out.

    python -I -c "..." <root> <kind> <memory> <seconds> <until>

`until` is when to stop in good order, by the system's monotonic clock. Standard output carries one line, {"ok": true,
"title", "remarks", "forms"} or {"ok": false, "rule", "details"}, then the text in UTF-8. Whatever else happens (a crash
or a signal) the parent understands as a damaged file.
"""

import codecs
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from documents.formats.answers import MAX_TEXT, Answer
from documents.formats.confining import confine
from documents.formats.faults import Fault

# kind -> the module with a `read(data: bytes, until: float) -> Answer`
READERS = {
    "html": "documents.formats.markup",
    "pdf": "documents.formats.pages",
    "docx": "documents.formats.word",
    "epub": "documents.formats.book",
    "json": "documents.formats.structure",
    "rows": "documents.formats.rows",
}
# Python loads a codec when it is first asked for: too late, once nothing can be opened. These are the ones of names in
# zip files, of XML, and of pypdf's character maps.
CODECS = (
    *("cp437", "cp1252", "latin-1", "ascii", "charmap", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"),
    *("gb2312", "gbk", "gb18030", "big5", "cp950", "cp932", "shift_jis", "euc_kr"),
)
# Room for a JSON file that becomes lines.
MAX_ANSWER = 160 * 1024 * 1024


def main(arguments: list[str]) -> int:
    kind, memory, seconds, until = arguments[0], int(arguments[1]), int(arguments[2]), float(arguments[3])
    try:
        module = import_module(READERS[kind])
    except ImportError:
        sys.stdout.write('{"ok": false, "rule": "unavailable", "details": {}}\n')
        return 0
    for name in CODECS:
        codecs.lookup(name)
    source = sys.stdin.buffer
    confine(memory=memory, seconds=seconds, written=MAX_ANSWER)
    head, body = _answer(lambda: module.read(source.read(), until), is_text=kind != "rows")
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + body)
    sys.stdout.buffer.flush()
    return 0


def _answer(read: Callable[[], Answer], *, is_text: bool) -> tuple[dict[str, Any], bytes]:
    try:
        answer = read()
        body = _whole(answer.text).encode()
    except Fault as fault:
        return {"ok": False, "rule": fault.rule, "details": fault.details}, b""
    except MemoryError:
        return {"ok": False, "rule": "limit_memory", "details": {}}, b""
    except RecursionError:
        return {"ok": False, "rule": "too_deep", "details": {}}, b""
    except Exception as error:
        # The parser's own words may hold what the document says: only the kind of error goes out.
        return {"ok": False, "rule": "damaged", "details": {"why": type(error).__name__}}, b""
    if is_text and len(body) > MAX_TEXT:
        return {"ok": False, "rule": "too_large", "details": {"size": len(body)}}, b""
    return {"ok": True, "title": _whole(answer.title), "remarks": answer.remarks, "forms": answer.forms}, body


def _whole(text: str) -> str:
    """Halves of surrogate pairs joined where both are there; one that stands alone is no character: U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
