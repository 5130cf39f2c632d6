"""Pages of answer review, adjudication and quality audit."""

from review.views.adjudicating import case_adjudicate, case_decision_save, case_free_seat, case_take
from review.views.agreeing import agreement
from review.views.lists import case_assign, case_send_again, review_list, review_next
from review.views.quality import quality, quality_replace, quality_score
from review.views.reviewing import case_begin, case_give_back, case_review, case_save

__all__ = [
    "agreement",
    "case_adjudicate",
    "case_assign",
    "case_begin",
    "case_decision_save",
    "case_free_seat",
    "case_give_back",
    "case_review",
    "case_save",
    "case_send_again",
    "case_take",
    "quality",
    "quality_replace",
    "quality_score",
    "review_list",
    "review_next",
]
