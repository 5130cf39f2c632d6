from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The package that assembles the site; an app only so that its commands and checks are found."""

    name = "config"
    verbose_name = "Site"
