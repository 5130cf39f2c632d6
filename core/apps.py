from django.apps import AppConfig
from django.core.signals import request_finished, request_started


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        from core import guidelines  # noqa: PLC0415 -- it needs the models

        request_started.connect(guidelines.begin_request)
        request_finished.connect(guidelines.end_request)
