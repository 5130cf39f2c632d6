from django.urls import URLPattern

app_name = "leading"
urlpatterns: list[URLPattern] = []
