from django.urls import path

from documents import views

app_name = "documents"
urlpatterns = [
    path("documents/", views.document_list, name="document_list"),
    path("documents/import/", views.document_import, name="document_import"),
    path("documents/batches/", views.batch_list, name="batch_list"),
    path("documents/batches/<int:pk>/", views.batch_detail, name="batch_detail"),
    path("documents/batches/<int:pk>/cancel/", views.batch_cancel, name="batch_cancel"),
    path("documents/batches/<int:pk>/report.csv", views.batch_report, name="batch_report"),
    path("documents/record.csv", views.document_record, name="document_record"),
    path("documents/join/", views.document_join, name="document_join"),
    path("documents/correct/", views.document_correct_many, name="document_correct_many"),
    path("documents/names/", views.watched_names, name="watched_names"),
    path("documents/<int:pk>/", views.document_detail, name="document_detail"),
    path("documents/<int:pk>/correct/", views.document_correct, name="document_correct"),
    path("documents/<int:pk>/trim/", views.document_trim, name="document_trim"),
    path("documents/<int:pk>/trim/measure", views.document_trim_measure, name="document_trim_measure"),
    path("documents/<int:pk>/cut/", views.document_cut, name="document_cut"),
    path("documents/<int:pk>/revise/", views.document_revise, name="document_revise"),
    path("documents/versions/<int:pk>/text", views.document_text, name="document_text"),
    path("documents/versions/<int:pk>/outline", views.document_outline, name="document_outline"),
    path("documents/versions/<int:pk>/position", views.document_position, name="document_position"),
    path("documents/<int:pk>/changes/", views.document_changes, name="document_changes"),
    path("documents/versions/<int:pk>/findings", views.version_findings, name="version_findings"),
    path("documents/versions/<int:pk>/decide/", views.version_decide, name="version_decide"),
]
