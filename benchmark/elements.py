"""What an element is: one line of an answer, compared without regard to case and spacing."""

# Everything that some reader of the exported file could take for the end of a line.
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"

# Chinese characters, as the inside of a character class.
HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"


def comparable(text: str) -> str:
    """The form in which lines are compared: lower case, runs of white space as one space, none at the ends."""
    return " ".join(text.lower().split())


def holds_line_end(text: str) -> bool:
    return any(mark in text for mark in LINE_ENDS)


def with_line_feeds(text: str) -> str:
    """The text with CRLF and CR line ends as LF, and no white space around it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
