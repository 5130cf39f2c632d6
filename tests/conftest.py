"""What every test shares."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, connections
from django.test import TransactionTestCase
from django.utils import translation

from core.append_only import APPEND_ONLY_TABLES, protect, unprotect

SHARED_DATA = Path(os.environ.get("LBP_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

# Django's own name for what empties the tables after a transactional test.
NAME = "_fixture_teardown"

CHROMIUM = shutil.which("chromium")
# marker -> is it here, and what to say when not
NEEDS = {
    "postgres": (lambda: connection.vendor == "postgresql", "needs PostgreSQL: set DATABASE_URL"),
    "redis": (lambda: bool(settings.REDIS_URL), "needs Redis: set REDIS_URL"),
    "browser": (lambda: CHROMIUM is not None, "needs Debian's Chromium: apt-get install chromium"),
}


def pytest_report_header() -> str:
    return (
        f"database: {connection.vendor}, Redis: {'yes' if settings.REDIS_URL else 'no'}, Chromium: {CHROMIUM or 'no'}"
    )


# Tests of these that ask for no database cannot reach one: the same on every database.
PURE = ("tests/benchmark/", "tests/documents/")
DATABASE = {"db", "transactional_db", "live_server", "product"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What cannot run here is skipped and says why. What needs no database is marked, so that `-m` can pass it over."""
    for item in items:
        asked = DATABASE & set(getattr(item, "fixturenames", ()))
        if item.nodeid.startswith(PURE) and not asked and not item.get_closest_marker("django_db"):
            item.add_marker("pure")
    for name, (is_here, words) in NEEDS.items():
        if not is_here():
            for item in items:
                if item.get_closest_marker(name):
                    item.add_marker(pytest.mark.skip(reason=words))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real documents and golden values that lie beside the repository on some machines."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no shared data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(autouse=True, scope="session")
def _emptying_append_only_tables() -> Iterator[None]:
    """Transactional tests empty every table afterwards, which the append-only triggers rightly refuse."""
    emptied = getattr(TransactionTestCase, NAME)

    def empty(self: TransactionTestCase) -> None:
        for name in connections:
            connection = connections[name]
            with connection.cursor() as cursor:
                for table in APPEND_ONLY_TABLES:
                    unprotect(cursor, connection.vendor, table)
        try:
            emptied(self)
        finally:
            for name in connections:
                connection = connections[name]
                with connection.cursor() as cursor:
                    for table in APPEND_ONLY_TABLES:
                        protect(cursor, connection.vendor, table)

    setattr(TransactionTestCase, NAME, empty)
    yield
    setattr(TransactionTestCase, NAME, emptied)


@pytest.fixture(autouse=True)
def _each_test_begins_in_english() -> None:
    """A request in Chinese leaves its thread in Chinese, as the next request sets its own language anyway."""
    translation.activate("en")
