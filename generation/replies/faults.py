"""What can be wrong with a reply, by name."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    SUCCEEDED = "succeeded"
    PARTIAL = "partial"
    REPAIRABLE = "repairable"
    FAILED = "failed"


class FaultClass(StrEnum):
    EMPTY = "empty"
    NO_ANSWER_BUDGET = "no_answer_budget"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    NOT_JSON = "not_json"
    UNESCAPED_QUOTE = "unescaped_quote"
    SEVERAL_OBJECTS = "several_objects"
    ARRAY = "array"
    DUPLICATE_KEY = "duplicate_key"
    WRONG_COUNT = "wrong_count"
    MISSING_PART = "missing_part"
    WRONG_TYPE = "wrong_type"
    TOO_LONG = "too_long"
    WRONG_LANGUAGE = "wrong_language"
    RULE_BROKEN = "rule_broken"


#: Nothing is gained by asking again: the money is spent and the same would come back.
FINAL_FAULTS = frozenset({FaultClass.EMPTY, FaultClass.NO_ANSWER_BUDGET, FaultClass.TRUNCATED, FaultClass.REFUSED})


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a reply. `draft` counts from 1. `detail` is plain text for the model and for people."""

    kind: FaultClass
    detail: str
    draft: int | None = None

    def __str__(self) -> str:
        where = f"draft {self.draft}: " if self.draft else ""
        return f"{where}{self.detail} ({self.kind.value})"
