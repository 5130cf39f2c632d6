"""Lines about rights: copyright notices and licences, to the end of their line."""

import re
from collections.abc import Iterator

from documents.findings.kinds import Finding, Kind
from documents.findings.sight import Sight, places_of

_COPYRIGHT_WORDS = (b"copyright", b"(c)", b"all rights reserved")
_COPYRIGHT_SIGNS = (
    *("版权所有", "著作权归", "版权归", "保留所有权利", "保留一切权利"),
    *("翻印必究", "转载请注明", "禁止转载", "不得转载"),
)
# Statutes say so of many things: of rights only where the sentence goes on to copying or using a text.
_WITHOUT_LEAVE = ("未经许可", "未经授权", "未经书面许可", "未经书面授权", "未经同意")
_OF_A_TEXT = (
    "转载|复制|翻印|摘编|摘录|引用|镜像|出版|发行|传播|改编|汇编|抄袭"
    "|商业使用|商业用途|任何形式使用|使用本[书文站网作内]"
)
_COPYRIGHT = re.compile(
    r"(?:©|\([Cc]\) ?(?:19|20)[0-9]{2}|(?i:copyright)(?: ?\([Cc]\)| ?©|:| (?:19|20)[0-9]{2})"
    rf"|(?i:all rights reserved)|{'|'.join(_COPYRIGHT_SIGNS)}"
    rf"|(?:{'|'.join(_WITHOUT_LEAVE)})(?=[^\n。；;]{{0,24}}(?:{_OF_A_TEXT}))(?![^\n。；;]{{0,60}}(?:罚款|处罚|徒刑|拘留|责令)))"
    r"[^\n]{0,160}"
)

_LICENCE_WORDS = (b"licen", b"general public", b"creative commons", b"cc0-1.0", b"cc-by", b"cc by", b"public domain")
_LICENCE_SIGNS = ("知识共享", "公有领域", "许可协议")
_LICENCE = re.compile(
    r"(?<![A-Za-z])(?i:licen[sc]ed under|creative commons|CC0-1\.0|CC[ -]BY(?:-[A-Z]{2})*"
    r"|GNU (?:lesser |affero )?general public|apache licen[sc]e|MIT licen[sc]e|BSD licen[sc]e"
    r"|project gutenberg licen[sc]e|SPDX-Licen[sc]e-Identifier|in the public domain)[^\n]{0,120}"
    r"|知识共享|公有领域|许可协议[^\n]{0,80}"
)
# The longest that a phrase begins before the word by which it was found: "project gutenberg licence".
_LEAD = 20
_LONGEST = 200


def copyright_in(sight: Sight) -> Iterator[Finding]:
    places = sorted(
        [
            *sight.words(_COPYRIGHT_WORDS),
            *sight.signs((*_COPYRIGHT_SIGNS, *_WITHOUT_LEAVE)),
            *places_of(sight.text, "©"),
        ]
    )
    last = 0
    for at in places:
        match = _COPYRIGHT.match(sight.text, at) if at >= last else None
        if match:
            last = match.end()
            yield Finding(Kind.COPYRIGHT, *match.span())


def licences_in(sight: Sight) -> Iterator[Finding]:
    places = sorted([*sight.words(_LICENCE_WORDS), *sight.signs(_LICENCE_SIGNS)])
    last = 0
    for at in places:
        if at < last:
            continue
        match = _LICENCE.search(sight.text, max(last, at - _LEAD), at + _LONGEST)
        if match and match.start() <= at:
            last = match.end()
            yield Finding(Kind.LICENCE, *match.span())
