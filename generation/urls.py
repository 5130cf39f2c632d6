from django.urls import path

from generation import views

app_name = "generation"
urlpatterns = [
    path("runs/", views.run_list, name="run_list"),
    path("runs/<int:pk>/", views.run_detail, name="run_detail"),
    path("runs/<int:pk>/cancel", views.run_cancel, name="run_cancel"),
    path("runs/<int:pk>/retry", views.run_retry, name="run_retry"),
    path("runs/calls/<int:pk>/", views.call_detail, name="call_detail"),
    path("models/", views.model_list, name="model_list"),
    path("models/<int:pk>/", views.model_edit, name="model_edit"),
    path("models/<int:pk>/pause", views.model_pause, name="model_pause"),
    path("models/<int:pk>/resume", views.model_resume, name="model_resume"),
]
