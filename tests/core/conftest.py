from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils import translation

from core.models import User
from tests.core import urls
from tests.factories import make_annotator


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def effects() -> Iterator[list[str]]:
    """What the tests' own pages did."""
    urls.EFFECTS.clear()
    yield urls.EFFECTS
    urls.EFFECTS.clear()


@pytest.fixture
def annotator(db: None) -> User:
    return make_annotator()


@pytest.fixture
def page(annotator: User) -> Client:
    """A browser with an annotator signed in; a crash is a page, as in production."""
    client = Client(raise_request_exception=False)
    client.force_login(annotator)
    return client
