from django.apps import AppConfig


class GenerationConfig(AppConfig):
    name = "generation"

    def ready(self) -> None:
        from generation import embedding  # noqa: PLC0415 -- settings are read

        embedding.use_the_chosen()
