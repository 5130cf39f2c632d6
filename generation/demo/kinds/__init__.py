"""The question kinds of the simulated models, and which of them serve which secondary task."""

from generation.demo.asking import Kind
from generation.demo.kinds.choice import CHOICE_KINDS
from generation.demo.kinds.figures import FIGURE_KINDS
from generation.demo.kinds.ranking import RANKING_KINDS
from generation.demo.kinds.sets import SET_KINDS
from generation.demo.kinds.summaries import SUMMARY_KINDS

KINDS: tuple[Kind, ...] = (*RANKING_KINDS, *CHOICE_KINDS, *SUMMARY_KINDS, *SET_KINDS, *FIGURE_KINDS)
_BY_NAME = {kind.name: kind for kind in KINDS}

_TASK_KINDS = {
    "T1.1": ("rank_by_count", "rank_by_first", "rank_by_last"),
    "T1.2": ("part_by_first", "part_by_last", "part_by_count"),
    "T2.1": ("order_passages", "order_terms_first", "order_terms_last"),
    "T2.2": ("order_part_passages", "order_part_terms"),
    "T3.1": ("choose_verbatim", "choose_earliest", "choose_latest", "choose_most_frequent"),
    "T3.2": ("choose_next", "choose_in_part"),
    "T4.1": ("summary_whole", "summary_whole_terms"),
    "T4.2": ("summary_part", "summary_term"),
    "T5.1": ("cite_passages", "cite_term"),
    "T5.2": ("cite_one",),
    "T6.1": ("line_classes", "term_classes"),
    "T6.2": ("members_of_part", "members_twice"),
    "T6.3": ("order_by_count", "order_by_lines"),
    "T7.1": ("conflicts",),
    "T7.2": ("rule_term", "rule_length"),
    "T7.3": ("once_only", "not_after"),
    "T8.1": ("records",),
    "T8.2": ("part_counts", "part_shares"),
    "T8.3": ("last_lines", "counters"),
    "T9.1": ("dropped", "added"),
    "T9.2": ("part_dropped", "part_added"),
    "T10.1": ("induce",),
    "T10.2": ("induce_part",),
    "T11.1": ("choose_most_frequent", "choose_latest", "choose_earliest"),
    "T11.2": ("choose_in_part", "choose_next"),
}
#: Where a document holds too little for a task's own kinds.
_LAST_RESORTS = {
    "NDCG": ("rank_by_first", "part_by_first"),
    "Pairwise": ("order_terms_first", "order_signs"),
    "Accuracy": ("choose_first_term", "choose_verbatim"),
    "Summary": ("summary_part", "summary_whole"),
    "F1": ("once_only", "members_of_part"),
    "SubEM": ("part_counts", "last_lines"),
}


def kinds_for(task: str) -> tuple[Kind, ...]:
    return tuple(_BY_NAME[name] for name in _TASK_KINDS[task])


def last_resorts(metric: str) -> tuple[Kind, ...]:
    return tuple(_BY_NAME[name] for name in _LAST_RESORTS[metric])


def knows_task(task: str) -> bool:
    return task in _TASK_KINDS
