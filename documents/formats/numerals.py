"""How lists count: 3, c, C, iii, III, 三."""

from collections.abc import Callable

DIGITS = "零一二三四五六七八九"
ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def letters(number: int) -> str:
    """a ... z, then aa, bb, ... as word processors count."""
    if not 1 <= number <= 780:
        return str(number)
    return "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * ((number - 1) // 26 + 1)


def roman(number: int) -> str:
    if not 1 <= number < 4000:
        return str(number)
    written = ""
    for value, sign in ROMAN:
        written += sign * (number // value)
        number %= value
    return written


def chinese(number: int) -> str:
    """一 ... 十, 十一, 二十, 一百零五, up to 9,999."""
    if not 1 <= number <= 9999:
        return str(number)
    written, gap = "", False
    for place, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // place % 10
        if digit == 0:
            gap = bool(written)
            continue
        written += ("零" if gap else "") + DIGITS[digit] + unit
        gap = False
    return written[1:] if written.startswith("一十") else written


def digit_by_digit(number: int) -> str:
    return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(abs(number)))


def circled(number: int) -> str:
    return chr(0x2460 + number - 1) if 1 <= number <= 20 else str(number)


def upper(count: Callable[[int], str]) -> Callable[[int], str]:
    return lambda number: count(number).upper()


def padded(number: int) -> str:
    return f"{number:02}"


# By the names that HTML (`type`) and WordprocessingML (`w:numFmt`) give them.
HTML: dict[str, Callable[[int], str]] = {"1": str, "a": letters, "A": upper(letters), "i": roman, "I": upper(roman)}
WORD: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": padded,
    "lowerLetter": letters,
    "upperLetter": upper(letters),
    "lowerRoman": roman,
    "upperRoman": upper(roman),
    "chineseCounting": chinese,
    "chineseCountingThousand": chinese,
    "taiwaneseCountingThousand": chinese,
    "japaneseCounting": chinese,
    "ideographDigital": digit_by_digit,
    "japaneseDigitalTenThousand": digit_by_digit,
    "decimalEnclosedCircle": circled,
    "decimalEnclosedCircleChinese": circled,
}
