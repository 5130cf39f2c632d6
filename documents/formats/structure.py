"""JSON: the file's own text is the document, once it is known to be JSON (RFC 8259: no NaN, no Infinity)."""

import json
import math
from typing import NoReturn

from documents.formats.answers import Answer
from documents.formats.faults import Fault


def read(data: bytes, until: float = math.inf) -> Answer:
    """`data` is UTF-8. Raises Fault `json` with line and column; nesting beyond Python's limit (about 1,000) raises
    RecursionError, cleanly, which the child calls `too_deep`."""
    text = data.decode()
    try:
        # Numbers are only looked over: one of 400 digits is JSON, and nothing to reckon with.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise Fault("json", line=error.lineno, column=error.colno, position=error.pos) from None
    return Answer(text)


def _no_constant(name: str) -> NoReturn:
    raise Fault("json_constant", name=name)
