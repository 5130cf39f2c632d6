"""Stage 4 and the quality audit: who may sit down, what a review keeps, and the one decision of two reviews."""

from review.actions.adjudication import (
    adjudicate_case,
    can_adjudicate_case,
    can_save_decision,
    record_look,
    save_decision,
    take_case,
)
from review.actions.predictions import can_send_predictions_again, send_predictions_again
from review.actions.quality import (
    ATTRIBUTES,
    can_draw_audit,
    can_replace_audited,
    can_score_audited,
    draw_audit,
    record_look_at_scores,
    replace_audited,
    score_audited,
)
from review.actions.reviews import can_save_review, can_submit_review, save_review, submit_review
from review.actions.seats import (
    assign_reviewers,
    can_assign_reviewers,
    can_free_seat,
    can_give_back_seat,
    can_take_seat,
    free_seat,
    give_back_seat,
    next_review,
    take_seat,
)

__all__ = [
    "ATTRIBUTES",
    "adjudicate_case",
    "assign_reviewers",
    "can_adjudicate_case",
    "can_assign_reviewers",
    "can_draw_audit",
    "can_free_seat",
    "can_give_back_seat",
    "can_replace_audited",
    "can_save_decision",
    "can_save_review",
    "can_score_audited",
    "can_send_predictions_again",
    "can_submit_review",
    "can_take_seat",
    "draw_audit",
    "free_seat",
    "give_back_seat",
    "next_review",
    "record_look",
    "record_look_at_scores",
    "replace_audited",
    "save_decision",
    "save_review",
    "score_audited",
    "send_predictions_again",
    "submit_review",
    "take_case",
    "take_seat",
]
