"""Whether bytes are Chinese in GB18030.

Many files in Big5, Shift-JIS, EUC or Windows-1252 are valid GB18030 by accident. So GB18030 is taken only when at least
95 % of what is not ASCII are common Chinese characters or punctuation, and when a longer text also holds the words that
no Chinese text does without.
"""

COMMON_SHARE = 0.95
# Every Chinese text of some length, modern or classical, is full of these.
EVERYDAY = frozenset(
    "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成"
    "事只作当想看文无手十用主行方又如前所本见经头面公同三已老从动两长曰者其此与则乃何二条款法第定規规应或及"
)
EVERYDAY_SHARE = 0.15
LONG_ENOUGH = 200
# One broken byte pair in an English text is a Chinese character by accident.
TOO_FEW = 4


def as_chinese(data: bytes) -> str:
    """The text that the bytes are in GB18030; empty where they are not valid or not Chinese."""
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        return ""
    return text if reads_as_chinese(text) else ""


def reads_as_chinese(text: str) -> bool:
    """Whether a text decoded from GB18030 is the Chinese it seems to be."""
    others = [letter for letter in text if letter > "\x7f"]
    if len(others) < TOO_FEW or sum(map(is_common, others)) < COMMON_SHARE * len(others):
        return False
    if len(others) < LONG_ENOUGH:
        return True
    return sum(letter in EVERYDAY for letter in others) >= EVERYDAY_SHARE * len(others)


def is_common(letter: str) -> bool:
    """A character of GB2312's two levels, or punctuation; kana, Greek and Cyrillic rows do not count."""
    try:
        code = letter.encode("gb2312")
    except UnicodeEncodeError:
        return "\u2010" <= letter <= "\u203b" or "\u3000" <= letter <= "\u301f" or "\uff01" <= letter <= "\uff5e"
    return len(code) == 2 and (code[0] >= 0xB0 or code[0] in (0xA1, 0xA2, 0xA3))
