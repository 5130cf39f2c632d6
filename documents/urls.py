from django.urls import path

from documents import views

app_name = "documents"
urlpatterns = [
    path("documents/", views.document_list, name="document_list"),
    path("documents/import/", views.document_import, name="document_import"),
    path("documents/<int:pk>/", views.document_detail, name="document_detail"),
    path("documents/<int:pk>/correct/", views.document_correct, name="document_correct"),
    path("documents/<int:pk>/trim/", views.document_trim, name="document_trim"),
    path("documents/<int:pk>/revise/", views.document_revise, name="document_revise"),
    path("documents/versions/<int:pk>/text", views.document_text, name="document_text"),
    path("documents/versions/<int:pk>/outline", views.document_outline, name="document_outline"),
    path("documents/versions/<int:pk>/position", views.document_position, name="document_position"),
    path("documents/versions/<int:pk>/decide/", views.version_decide, name="version_decide"),
]
