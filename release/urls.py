from django.urls import path

from release import difficulty_views, views

app_name = "release"
# A version begins with a letter or digit, so nothing below `-` is one.
urlpatterns = [
    path("releases/", views.release_list, name="release_list"),
    path("releases/-/label/", views.label_all, name="label_all"),
    path("releases/-/labels/", views.labels, name="labels"),
    path("releases/-/difficulty/", difficulty_views.difficulty, name="difficulty"),
    path("releases/-/difficulty/<int:pk>/", difficulty_views.difficulty_label, name="difficulty_label"),
    path("releases/<str:version>/", views.release_detail, name="release_detail"),
    path("releases/<str:version>/state/", views.release_state, name="release_state"),
    path("releases/<str:version>/withdraw/", views.release_withdraw, name="release_withdraw"),
    path("releases/<str:version>/retry/", views.release_retry, name="release_retry"),
    path("releases/<str:version>/cancel/", views.release_cancel, name="release_cancel"),
    path("releases/<str:version>/compare/", views.release_compare, name="release_compare"),
    path("releases/<str:version>/download/", views.release_download, name="release_download"),
]
