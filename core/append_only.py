"""Tables that only grow: triggers refuse UPDATE and DELETE, on SQLite and on PostgreSQL.

Used in migrations: `migrations.RunPython(protector("core_event"), remover("core_event"))`.
"""

from collections.abc import Callable
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.utils import CursorWrapper

APPEND_ONLY_TABLES: tuple[str, ...] = ("core_event", "core_trailseal", "core_guidelinesversion", "release_releaseitem")


def protect(cursor: CursorWrapper, vendor: str, table: str) -> None:
    if vendor == "postgresql":
        cursor.execute(
            f"CREATE OR REPLACE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{table} is append-only'; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()"
        )
        return
    for verb in ("UPDATE", "DELETE"):
        cursor.execute(
            f"CREATE TRIGGER {table}_append_only_{verb.lower()} BEFORE {verb} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def unprotect(cursor: CursorWrapper, vendor: str, table: str) -> None:
    if vendor == "postgresql":
        cursor.execute(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
        return
    for verb in ("update", "delete"):
        cursor.execute(f"DROP TRIGGER IF EXISTS {table}_append_only_{verb}")


def protector(table: str) -> Callable[[Any, BaseDatabaseSchemaEditor], None]:
    def run(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        with schema_editor.connection.cursor() as cursor:
            protect(cursor, schema_editor.connection.vendor, table)

    return run


def remover(table: str) -> Callable[[Any, BaseDatabaseSchemaEditor], None]:
    def run(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
        with schema_editor.connection.cursor() as cursor:
            unprotect(cursor, schema_editor.connection.vendor, table)

    return run
