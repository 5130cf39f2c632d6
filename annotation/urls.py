"""Pages of samples and of the desk."""

from django.urls import URLPattern, path

from annotation.views import audit, desk, drafting, editing, judging, samples, standardize
from annotation.views.common import with_claim

app_name = "annotation"
urlpatterns: list[URLPattern] = [
    path("samples/", samples.sample_list, name="sample_list"),
    path("samples/next", samples.sample_next, name="sample_next"),
    path("samples/draft/", drafting.samples_draft, name="samples_draft"),
    path("samples/draftings/", drafting.drafting_list, name="drafting_list"),
    path("samples/draftings/<int:pk>/", drafting.drafting_detail, name="drafting_detail"),
    path("samples/draftings/<int:pk>/cancel", drafting.drafting_cancel, name="drafting_cancel"),
    path("samples/<int:pk>/", samples.sample_detail, name="sample_detail"),
    path("samples/<int:pk>/draft", samples.sample_draft, name="sample_draft"),
    path("samples/<int:pk>/claim", samples.sample_claim, name="sample_claim"),
    path("samples/<int:pk>/release", samples.sample_release, name="sample_release"),
    path("samples/<int:pk>/take-over", samples.sample_take_over, name="sample_take_over"),
    path("samples/<int:pk>/adopt", samples.sample_adopt, name="sample_adopt"),
    path("samples/<int:pk>/verify/", desk.sample_verify, name="sample_verify"),
    path("samples/<int:pk>/verify/glance", desk.sample_glance, name="sample_glance"),
    path("samples/<int:pk>/verify/claim", desk.desk_claim, name="desk_claim"),
    path("samples/<int:pk>/select", judging.sample_select, name="sample_select"),
    path("samples/<int:pk>/submit", judging.sample_submit, name="sample_submit"),
    path("samples/<int:pk>/discard-same", judging.sample_discard_same, name="sample_discard_same"),
    path("samples/<int:pk>/audit/", audit.sample_audit, name="sample_audit"),
    path("samples/<int:pk>/approve", audit.sample_approve, name="sample_approve"),
    path("samples/<int:pk>/reject", audit.sample_reject, name="sample_reject"),
    path("samples/<int:pk>/remarks", audit.remarks_save, name="remarks_save"),
    path("samples/<int:pk>/withdraw", audit.sample_withdraw, name="sample_withdraw"),
    path("remarks/<int:pk>/answer", audit.remark_answer, name="remark_answer"),
    path("samples/<int:pk>/standardize/", standardize.sample_standardize, name="sample_standardize"),
    path("samples/<int:pk>/standardize/preview", standardize.standardize_preview, name="standardize_preview"),
    path("samples/<int:pk>/standardize/save", standardize.standardize_save, name="standardize_save"),
    path("samples/<int:pk>/standardize/autosave", standardize.standardize_autosave, name="standardize_autosave"),
    path("samples/<int:pk>/standardize/compare", standardize.standardize_compare, name="standardize_compare"),
    path("samples/<int:pk>/standardize/versions/", standardize.standardize_versions, name="standardize_versions"),
    path("samples/<int:pk>/reopen", standardize.standardize_reopen, name="standardize_reopen"),
    path("candidates/<int:pk>/read", judging.candidate_read, name="candidate_read"),
    path("candidates/<int:pk>/edit", editing.candidate_edit, name="candidate_edit"),
    path("candidates/<int:pk>/edit/<str:part>", editing.candidate_part, name="candidate_part"),
    path("candidates/<int:pk>/save/<str:part>", editing.candidate_save, name="candidate_save"),
    path("candidates/<int:pk>/check", editing.candidate_check, name="candidate_check"),
    path("candidates/<int:pk>/around", editing.candidate_around, name="candidate_around"),
    path("candidates/<int:pk>/edits", editing.candidate_edits, name="candidate_edits"),
    path("candidates/<int:pk>/undo", editing.candidate_undo, name="candidate_undo"),
    path("candidates/<int:pk>/take-back", editing.candidate_take_back, name="candidate_take_back"),
    path("candidates/<int:pk>/task-a", judging.candidate_task_a, name="candidate_task_a"),
    path("candidates/<int:pk>/task-b", judging.candidate_task_b, name="candidate_task_b"),
    path("candidates/<int:pk>/challenge", judging.candidate_challenge, name="candidate_challenge"),
    path("candidates/<int:pk>/overrule", judging.candidate_overrule, name="candidate_overrule"),
    path("candidates/<int:pk>/task-c", judging.candidate_task_c, name="candidate_task_c"),
    path("candidates/<int:pk>/discard", judging.candidate_discard, name="candidate_discard"),
]

# Whatever is asked goes with the claim's number that the page was shown, if it sends one.
for pattern in urlpatterns:
    pattern.callback = with_claim(pattern.callback)
