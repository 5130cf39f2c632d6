"""What every test shares."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connections
from django.test import TransactionTestCase

from core.append_only import APPEND_ONLY_TABLES, protect, unprotect

SHARED_DATA = Path(os.environ.get("LBP_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

# Django's own name for what empties the tables after a transactional test.
NAME = "_fixture_teardown"


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
