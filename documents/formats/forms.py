"""Shapes that stand for letters: what the fonts of PDF files give instead of the character that was written.

A font that draws 日 (the character) and ⽇ (the radical of dictionaries) with one shape often gives the radical back,
and one that draws "fi" as one shape gives the ligature. In running text nobody means either.
"""

import re
import unicodedata

# The simplified and other forms, which Unicode does not decompose (its EquivalentUnifiedIdeograph.txt lists them).
SUPPLEMENT = dict(
    zip(
        "\u2ea0\u2ec4\u2ec5\u2ec6\u2ec9\u2ecb\u2ed1\u2ed3\u2ed4\u2ed7\u2ed8\u2ed9\u2eda\u2edb\u2edc\u2edd\u2ee2\u2ee3"
        "\u2ee4\u2ee5\u2ee6\u2ee7\u2ee8\u2ee9\u2eea\u2eeb\u2eec\u2eed\u2eee\u2eef\u2ef0\u2ef1\u2ef2",
        "民西见角贝车長长门雨青韦页风飞食马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀",
        strict=True,
    )
)
DECOMPOSED = {
    chr(code): unicodedata.normalize("NFKC", chr(code))
    for code in (0x2E9F, 0x2EF3, *range(0x2F00, 0x2FD6), *range(0xFB00, 0xFB07))
}
FORMS = SUPPLEMENT | DECOMPOSED
_FORM = re.compile(f"[{''.join(FORMS)}]")


def with_letters(text: str) -> tuple[str, int]:
    """The text with such shapes read as the letters they stand for, and how many there were."""
    return _FORM.subn(lambda found: FORMS[found[0]], text)
