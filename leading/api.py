from core.api import ViewSet

routes: list[tuple[str, type[ViewSet], str]] = []
