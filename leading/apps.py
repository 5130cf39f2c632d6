from django.apps import AppConfig


class LeadingConfig(AppConfig):
    name = "leading"
