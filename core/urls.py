from django.urls import path

from core import views

app_name = "core"
urlpatterns = [
    path("healthz", views.health, name="health"),
    path("preferences/", views.preferences, name="preferences"),
    path("preferences/language/", views.set_language, name="set_language"),
    path("preferences/theme/", views.set_theme, name="set_theme"),
    path("preferences/tokens/", views.issue_api_token, name="token_issue"),
    path("preferences/tokens/<int:pk>/revoke/", views.revoke_api_token, name="token_revoke"),
    path("guidelines/", views.guidelines, name="guidelines"),
    path("guidelines/read/", views.guidelines_read, name="guidelines_read"),
]
