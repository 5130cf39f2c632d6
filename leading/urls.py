from django.urls import path

from leading import guidelines_views, progress_views, trail_views, views

app_name = "leading"
urlpatterns = [
    path("", views.work, name="work"),
    path("progress/", progress_views.progress, name="progress"),
    path("progress/work/", progress_views.progress_work, name="progress_work"),
    path("progress/outcomes/", progress_views.progress_outcomes, name="progress_outcomes"),
    path("plan/", progress_views.plan, name="plan"),
    path("plan/next/", progress_views.plan_next, name="plan_next"),
    path("plan/targets/", progress_views.plan_targets, name="plan_targets"),
    path("progress/figures/", views.figures, name="figures"),
    path("runs/costs/", views.cost_list, name="costs"),
    path("samples/<int:pk>/story/", views.sample_story, name="sample_story"),
    path("people/", views.people, name="people"),
    path("people/<int:pk>/work/", views.person_work, name="person_work"),
    path("people/<int:pk>/role/", views.person_role, name="person_role"),
    path("people/<int:pk>/active/", views.person_active, name="person_active"),
    path("people/<int:pk>/password/", views.person_password, name="person_password"),
    path("trail/", trail_views.trail, name="trail"),
    path("guidelines/edit/", guidelines_views.edit, name="guidelines_edit"),
    path("guidelines/versions/", guidelines_views.versions, name="guidelines_versions"),
]
