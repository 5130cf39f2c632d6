"""What every test shares."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, transaction
from django.test import TransactionTestCase
from django.utils import translation
from playwright.sync_api import Browser

from core.append_only import APPEND_ONLY_TABLES, protect, unprotect
from tests.browsing import CHROMIUM, Requests, chromium

SHARED_DATA = Path(os.environ.get("LBP_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

# Django's own name for what empties the tables after a transactional test.
NAME = "_fixture_teardown"
# What every migrated database holds.
KEPT = {"auth_permission", "django_content_type", "django_migrations"}

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
APPS = ("annotation", "benchmark", "core", "documents", "generation", "ground", "leading", "release", "review")
PURE = tuple(f"tests/{app}/" for app in APPS)
# These write rows as others do, and try something else: pages in the browser, texts, replies, files, the shell.
NOT_ABOUT_ROWS = tuple(
    f"tests/{name}" if "::" in name else f"tests/{name}.py"
    for name in (
        "core/test_browser",
        "core/test_preferences",
        "core/test_shell",
        "documents/test_compliance_browser",
        "documents/test_limits",
        "documents/test_shaping",
        "documents/test_verbatim",
        "generation/test_models_page",
        "generation/test_preview",
        "generation/test_provider_answers",
        "generation/test_scoring",
        "leading/test_access.py::test_every_address_and_method_answers_everybody_as_the_table_says",
        "leading/test_schema_contract.py::test_every_operation_answers_as_it_is_described",
        "release/test_verifying",
    )
)
DATABASE = {"db", "transactional_db", "live_server", "product"}
# Starting the product takes longer than what is tried on it: one process of the suite does a whole module.
STARTS_THE_PRODUCT = "product"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What cannot run here is skipped and says why. What needs no database is marked, so that `-m` can pass it over."""
    for item in items:
        asked = DATABASE & set(getattr(item, "fixturenames", ()))
        asked |= {name for name in ("django_db", "postgres", "redis") if item.get_closest_marker(name)}
        if item.nodeid.startswith(NOT_ABOUT_ROWS) or (item.nodeid.startswith(PURE) and not asked):
            item.add_marker("once")
        if STARTS_THE_PRODUCT in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    # The longest first: at the end the other processes would wait for them.
    items.sort(key=lambda item: STARTS_THE_PRODUCT not in getattr(item, "fixturenames", ()))
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


@contextmanager
def unprotected() -> Iterator[None]:
    """The tables that can only grow, without the triggers that see to it."""
    with connection.cursor() as cursor:
        for table in APPEND_ONLY_TABLES:
            unprotect(cursor, connection.vendor, table)
        try:
            yield
        finally:
            for table in APPEND_ONLY_TABLES:
                protect(cursor, connection.vendor, table)


def delete_all_rows() -> None:
    """What Django's flush leaves behind, in a hundredth of its time: that truncates every table, most of them empty,
    each at the cost of a new file."""
    with transaction.atomic(), connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if name not in KEPT]
        cursor.execute("SELECT " + ", ".join(f'EXISTS (SELECT 1 FROM "{name}")' for name in tables))  # noqa: S608
        for name, has_rows in zip(tables, cursor.fetchone(), strict=True):
            if has_rows:
                cursor.execute(f'DELETE FROM "{name}"')  # noqa: S608 -- names of our own tables


@pytest.fixture(autouse=True, scope="session")
def _emptying_append_only_tables() -> Iterator[None]:
    """Transactional tests empty every table afterwards, which the append-only triggers rightly refuse."""
    emptied = getattr(TransactionTestCase, NAME)
    requests = Requests()

    def empty(self: TransactionTestCase) -> None:
        requests.wait()
        with unprotected():
            if connection.vendor == "postgresql":
                delete_all_rows()
            else:
                emptied(self)

    setattr(TransactionTestCase, NAME, empty)
    yield
    setattr(TransactionTestCase, NAME, emptied)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(autouse=True)
def _each_test_begins_in_english() -> None:
    """A request in Chinese leaves its thread in Chinese, as the next request sets its own language anyway."""
    translation.activate("en")
