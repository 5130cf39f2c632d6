"""Why a file cannot be read, without words: `asking` has them."""

from typing import Any


class Fault(Exception):
    """`rule` is a name that `asking.WORDS` knows; `details` are its figures: numbers and short names."""

    def __init__(self, rule: str, **details: Any) -> None:
        super().__init__(rule)
        self.rule = rule
        self.details = details
