from django.urls import path

from documents import views

app_name = "documents"
urlpatterns = [
    path("documents/", views.document_list, name="document_list"),
    path("documents/import/", views.document_import, name="document_import"),
    path("documents/names/", views.watched_names, name="watched_names"),
    path("documents/<int:pk>/", views.document_detail, name="document_detail"),
    path("documents/<int:pk>/correct/", views.document_correct, name="document_correct"),
    path("documents/<int:pk>/trim/", views.document_trim, name="document_trim"),
    path("documents/<int:pk>/revise/", views.document_revise, name="document_revise"),
    path("documents/versions/<int:pk>/text", views.document_text, name="document_text"),
    path("documents/<int:pk>/changes/", views.document_changes, name="document_changes"),
    path("documents/versions/<int:pk>/findings", views.version_findings, name="version_findings"),
    path("documents/versions/<int:pk>/decide/", views.version_decide, name="version_decide"),
]
