"""What must be there before the product can start. Quick when nothing has changed, so that every start may ask."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config.translations import catalogues


def prepare() -> None:
    """Translations compiled, folders and tables made, the cache's table, the panel of models."""
    catalogues.compile_all(settings.BASE_DIR)
    for folder in (settings.DATA_DIR, Path(settings.STATIC_ROOT), Path(settings.MEDIA_ROOT)):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if has_pending_migrations():
        call_command("migrate", interactive=False, verbosity=0)
    # Not a migration's table: a database that was migrated by hand does not have it yet.
    call_command("createcachetable", verbosity=0)
    call_if_there("generation.panels", "ensure_panel", settings.LBP_PANEL)


def has_pending_migrations() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def call_if_there(module: str, function: str, *args: Any) -> Any:
    """Call what a later stage of the product brings along; None where it is not there yet."""
    if find_spec(module) is None:
        return None
    return getattr(import_module(module), function)(*args)
