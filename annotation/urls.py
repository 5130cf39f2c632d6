"""Pages of samples and of the desk."""

from django.urls import URLPattern, path

from annotation.views import audit, desk, drafting, samples, standardize

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
    path("samples/<int:pk>/select", desk.sample_select, name="sample_select"),
    path("samples/<int:pk>/submit", desk.sample_submit, name="sample_submit"),
    path("samples/<int:pk>/audit/", audit.sample_audit, name="sample_audit"),
    path("samples/<int:pk>/approve", audit.sample_approve, name="sample_approve"),
    path("samples/<int:pk>/reject", audit.sample_reject, name="sample_reject"),
    path("samples/<int:pk>/standardize/", standardize.sample_standardize, name="sample_standardize"),
    path("samples/<int:pk>/standardize/preview", standardize.standardize_preview, name="standardize_preview"),
    path("samples/<int:pk>/standardize/save", standardize.standardize_save, name="standardize_save"),
    path("samples/<int:pk>/standardize/autosave", standardize.standardize_autosave, name="standardize_autosave"),
    path("samples/<int:pk>/standardize/compare", standardize.standardize_compare, name="standardize_compare"),
    path("samples/<int:pk>/standardize/versions/", standardize.standardize_versions, name="standardize_versions"),
    path("samples/<int:pk>/reopen", standardize.standardize_reopen, name="standardize_reopen"),
    path("candidates/<int:pk>/read", desk.candidate_read, name="candidate_read"),
    path("candidates/<int:pk>/edit", desk.candidate_edit, name="candidate_edit"),
    path("candidates/<int:pk>/task-a", desk.candidate_task_a, name="candidate_task_a"),
    path("candidates/<int:pk>/task-b", desk.candidate_task_b, name="candidate_task_b"),
    path("candidates/<int:pk>/challenge", desk.candidate_challenge, name="candidate_challenge"),
    path("candidates/<int:pk>/answers", desk.candidate_answers, name="candidate_answers"),
    path("candidates/<int:pk>/overrule", desk.candidate_overrule, name="candidate_overrule"),
    path("candidates/<int:pk>/task-c", desk.candidate_task_c, name="candidate_task_c"),
    path("candidates/<int:pk>/discard", desk.candidate_discard, name="candidate_discard"),
]
