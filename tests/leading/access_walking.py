"""Asking every address as everybody, and telling the answer in one word."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.test import Client

from core.models import User

# An answer in a word: `login` (led to the log-in), `401`, `403`, `404`, `405`; `ok` (2xx, or led elsewhere); `rule`
# (400, 409, 415, 422: let in, and refused for what was sent or for where the work stands).
RULES = {400, 409, 411, 413, 415, 422}


def word_of(response: HttpResponse) -> str:
    status = response.status_code
    if status in {301, 302, 303} and response.headers["Location"].startswith("/account/login/"):
        return "login"
    if status < 400:
        return "ok"
    return "rule" if status in RULES else str(status)


class _Undone(Exception):
    pass


@contextmanager
def undone() -> Iterator[None]:
    """What happens inside never happened."""
    try:
        with transaction.atomic():
            yield
            raise _Undone
    except _Undone:
        pass


def client_of(person: User | None) -> Client:
    client = Client(raise_request_exception=False)
    if person is not None:
        client.force_login(person)
    return client


def ask(client: Client, method: str, path: str, body: dict[str, Any], *, is_api: bool) -> HttpResponse:
    kind: dict[str, Any] = {"content_type": "application/json"} if is_api else {}
    with undone():
        answer: Any = client.post(path, body, **kind) if method == "POST" else client.generic(method, path)
    return answer
