from django.urls import path

from leading import notice_views, people_views, views

app_name = "leading"
urlpatterns = [
    path("", views.work, name="work"),
    path("notifications/", notice_views.notifications, name="notifications"),
    path("notifications/count/", notice_views.notification_count, name="notification_count"),
    path("notifications/seen/", notice_views.notifications_seen, name="notifications_seen"),
    path("progress/", views.progress, name="progress"),
    path("progress/figures/", views.figures, name="figures"),
    path("runs/costs/", views.cost_list, name="costs"),
    path("samples/<int:pk>/story/", views.sample_story, name="sample_story"),
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
