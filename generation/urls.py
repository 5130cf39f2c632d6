from django.urls import path

from generation.views import calls, models, money, preview, runs

app_name = "generation"
urlpatterns = [
    path("runs/", runs.run_list, name="run_list"),
    path("runs/cancel/", runs.runs_cancel, name="runs_cancel"),
    path("runs/budget/", money.budget, name="budget"),
    path("runs/preview/", preview.run_preview, name="run_preview"),
    path("runs/calls/", calls.call_list, name="call_list"),
    path("runs/calls/again/", calls.calls_again, name="calls_again"),
    path("runs/calls/<int:pk>/", calls.call_detail, name="call_detail"),
    path("runs/<int:pk>/", runs.run_detail, name="run_detail"),
    path("runs/<int:pk>/cancel", runs.run_cancel, name="run_cancel"),
    path("runs/<int:pk>/retry", runs.run_retry, name="run_retry"),
    path("runs/<int:pk>/budget", money.run_budget, name="run_budget"),
    path("models/", models.model_list, name="model_list"),
    path("models/new/", models.model_add, name="model_add"),
    path("models/limits", money.provider_limit, name="provider_limit"),
    path("models/trials/<int:pk>/", models.trial_detail, name="trial_detail"),
    path("models/<int:pk>/", models.model_edit, name="model_edit"),
    path("models/<int:pk>/pause", models.model_pause, name="model_pause"),
    path("models/<int:pk>/resume", models.model_resume, name="model_resume"),
    path("models/<int:pk>/give-up", models.model_give_up, name="model_give_up"),
    path("models/<int:pk>/try", models.model_try, name="model_try"),
]
