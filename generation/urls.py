from django.urls import URLPattern

app_name = "generation"
urlpatterns: list[URLPattern] = []
