"""XML read as a stream of events by expat, which follows no entity, no address and no schema of the document's."""

from collections.abc import Callable
from xml.parsers import expat

from documents.formats.faults import Fault

MAX_DEPTH = 2_000


def walk(
    data: bytes,
    *,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    words: Callable[[str], None],
    part: str,
    may_name_doctype: bool = False,
) -> None:
    """Names come without their namespace's address and with its usual prefix's place empty: `w:p` is `p`.

    Raises Fault `xml_doctype` at a DOCTYPE (`may_name_doctype`: at one that declares anything), `damaged`, `too_deep`.
    """
    depth = 0

    def begun(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise Fault("too_deep", limit=MAX_DEPTH)
        start(local(name), {local(key): value for key, value in attributes.items()})

    def ended(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(local(name))

    def doctype(name: str, system: str | None, public: str | None, declares: bool) -> None:
        if declares or not may_name_doctype:
            raise Fault("xml_doctype", part=part)

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler = begun
    parser.EndElementHandler = ended
    parser.CharacterDataHandler = words
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise Fault("damaged", part=part, line=error.lineno) from None
    except (ValueError, LookupError):
        # An encoding that expat does not know.
        raise Fault("damaged", part=part) from None


def local(name: str) -> str:
    return name.rpartition("}")[2]
