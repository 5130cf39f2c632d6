from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The package that assembles the site; an app only so that its commands, checks and words are found."""

    name = "config"
    verbose_name = "Site"

    def ready(self) -> None:
        from config import checks  # noqa: F401, PLC0415 -- checks register themselves on import
