from django.urls import path

from leading import guidelines_views, notice_views, people_views, progress_views, trail_views, views

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
    path("trail/", trail_views.trail, name="trail"),
    path("guidelines/edit/", guidelines_views.edit, name="guidelines_edit"),
    path("guidelines/versions/", guidelines_views.versions, name="guidelines_versions"),
    path("notifications/", notice_views.notifications, name="notifications"),
    path("notifications/count/", notice_views.notification_count, name="notification_count"),
    path("notifications/seen/", notice_views.notifications_seen, name="notifications_seen"),
    path("people/", people_views.people, name="people"),
    path("people/invite/", people_views.invite, name="invite"),
    path("people/invitations/<int:pk>/revoke/", people_views.invitation_revoke, name="invitation_revoke"),
    path("people/<int:pk>/", people_views.person_detail, name="person_detail"),
    path("people/<int:pk>/work/", people_views.person_work, name="person_work"),
    path("people/<int:pk>/role/", people_views.person_role, name="person_role"),
    path("people/<int:pk>/active/", people_views.person_active, name="person_active"),
    path("people/<int:pk>/password/", people_views.person_password, name="person_password"),
    path("people/<int:pk>/reset-link/", people_views.person_reset_link, name="person_reset_link"),
    path("people/<int:pk>/authenticator/", people_views.person_authenticator, name="person_authenticator"),
    path("invitation/<str:token>/", people_views.invitation_open, name="invitation_open"),
    path("reset/<str:token>/", people_views.reset_open, name="reset_open"),
]
