"""The door to stages 2b and 3: everything a page, a program or another app may ask of samples and candidates.

Each action is keyword only, checks who and what first, changes in one transaction and writes the audit line there.
Refusals are those of `core.refusals`; their `rule` names are part of the API.
"""

from annotation.auditing import (
    answer_remark,
    approve_sample,
    can_answer_remark,
    can_approve_sample,
    can_reject_sample,
    reject_sample,
    save_remarks,
)
from annotation.challenging import (
    can_challenge_candidate,
    can_judge_task_c,
    can_overrule_answer,
    challenge_candidate,
    judge_task_c,
    overrule_answer,
)
from annotation.claims import (
    can_claim_for_judging,
    can_claim_sample,
    can_join_sample,
    can_release_claim,
    can_take_over_sample,
    claim_for_judging,
    claim_next,
    claim_sample,
    end_claims_of,
    join_sample,
    possible_holders,
    release_claim,
    take_over_sample,
)
from annotation.drafting import (
    can_cancel_drafting,
    can_draft_sample,
    can_draft_samples,
    cancel_drafting,
    draft_sample,
    draft_samples,
)
from annotation.duplicates import discard_candidates
from annotation.editing import can_edit_candidate, can_undo_edit, edit_candidate, undo_edit
from annotation.planning import can_create_sample, create_sample
from annotation.reconstructing import (
    accept_sample,
    adopt_document_version,
    can_adopt_document_version,
    dispute_sample,
    open_review,
    reconstruct_sample,
)
from annotation.standardizing import (
    can_reopen_sample,
    can_standardize_sample,
    complete_standardization,
    reopen_sample,
    save_standardization,
)
from annotation.submitting import (
    can_select_candidate,
    can_submit_sample,
    select_candidate,
    submit_sample,
)
from annotation.taking_back import can_take_back_verdict, take_back_verdict
from annotation.timing import can_tell_time, tell_time
from annotation.verifying import (
    can_discard_candidate,
    can_exhaust_sample,
    can_judge_task_a,
    can_judge_task_b,
    can_read_candidate,
    discard_candidate,
    exhaust_sample,
    judge_task_a,
    judge_task_b,
    read_candidate,
)
from annotation.withdrawing import can_withdraw_submission, withdraw_submission

__all__ = [
    "accept_sample",
    "adopt_document_version",
    "answer_remark",
    "approve_sample",
    "can_adopt_document_version",
    "can_answer_remark",
    "can_approve_sample",
    "can_cancel_drafting",
    "can_challenge_candidate",
    "can_claim_for_judging",
    "can_claim_sample",
    "can_create_sample",
    "can_discard_candidate",
    "can_draft_sample",
    "can_draft_samples",
    "can_edit_candidate",
    "can_exhaust_sample",
    "can_join_sample",
    "can_judge_task_a",
    "can_judge_task_b",
    "can_judge_task_c",
    "can_overrule_answer",
    "can_read_candidate",
    "can_reject_sample",
    "can_release_claim",
    "can_reopen_sample",
    "can_select_candidate",
    "can_standardize_sample",
    "can_submit_sample",
    "can_take_back_verdict",
    "can_take_over_sample",
    "can_tell_time",
    "can_undo_edit",
    "can_withdraw_submission",
    "cancel_drafting",
    "challenge_candidate",
    "claim_for_judging",
    "claim_next",
    "claim_sample",
    "complete_standardization",
    "create_sample",
    "discard_candidate",
    "discard_candidates",
    "dispute_sample",
    "draft_sample",
    "draft_samples",
    "edit_candidate",
    "end_claims_of",
    "exhaust_sample",
    "join_sample",
    "judge_task_a",
    "judge_task_b",
    "judge_task_c",
    "open_review",
    "overrule_answer",
    "possible_holders",
    "read_candidate",
    "reconstruct_sample",
    "reject_sample",
    "release_claim",
    "reopen_sample",
    "save_remarks",
    "save_standardization",
    "select_candidate",
    "submit_sample",
    "take_back_verdict",
    "take_over_sample",
    "tell_time",
    "undo_edit",
    "withdraw_submission",
]
