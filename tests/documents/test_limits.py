"""What is too much is said early and in words; what is odd but within the limits is counted in bounded time."""

import http.client
import socket
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client, override_settings
from pytest_django.live_server_helper import LiveServer
from rest_framework.test import APIClient

from documents import actions, batches
from documents.models import Document, ImportBatch
from tests.factories import make_lead

pytestmark = pytest.mark.django_db

WORDS = [
    ("one line", "The brig Heron came in with salt. " * 36_000),
    ("no space", "SaltBrigHeron" * 92_000),
    ("one letter", "a" * 1_200_000),
    ("one character", "好" * 400_000),
    ("newlines", "\n" * 599_990 + "The end.\n"),
]


@pytest.mark.parametrize(("name", "text"), WORDS)
def test_odd_texts_are_counted_within_ten_seconds(name: str, text: str) -> None:
    """B-19, B-20, T-13."""
    begun = time.process_time()  # a busy machine is no fault of the text
    version = actions.paste_document(text=text, title=name, by=make_lead())
    assert time.process_time() - begun < 10
    assert (version.chars, version.tokens > 0) == (len(text), True)


def multipart(name: str, data: bytes, more: str = "") -> tuple[bytes, str]:
    head = f'--X\r\nContent-Disposition: form-data; name="uploads"; filename="{name}"\r\n\r\n'
    return more.encode() + head.encode() + data + b"\r\n--X--\r\n", "multipart/form-data; boundary=X"


@pytest.mark.parametrize("path", ["/documents/import/", "/api/v1/batches/", "/api/v1/documents/"])
def test_300_mb_are_refused_before_a_byte_is_read(path: str) -> None:
    """B-03."""
    client = Client()
    client.force_login(make_lead())
    # The body is not there: had anything read it, it would have found its end.
    response = client.generic(
        "POST", path, b"", "multipart/form-data; boundary=X", CONTENT_LENGTH=str(300 * 1024 * 1024)
    )
    assert response.status_code == 413
    assert "256 MiB" in response.content.decode()
    assert response.headers["Connection"] == "close"
    assert response.headers["Content-Type"].startswith("application/problem" if "/api/" in path else "text/html")


def test_a_request_that_does_not_say_its_length_is_refused() -> None:
    client = Client()
    client.force_login(make_lead())
    response = client.generic("POST", "/documents/import/", b"", "text/plain", HTTP_TRANSFER_ENCODING="chunked")
    assert response.status_code == 411


@override_settings(LBP_MAX_UPLOAD=1_048_576)
def test_the_limit_is_the_same_by_page_and_api() -> None:
    """T-08."""
    lead = make_lead()
    client, program = Client(), APIClient()
    client.force_login(lead)
    program.force_authenticate(lead)
    for size, page, api in ((1_048_576, 302, 202), (1_048_577, 400, 400)):
        body, kind = multipart(f"{size}.txt", b"x" * size)
        assert client.generic("POST", "/documents/import/", body, kind).status_code == page
        sent = body.replace(b'name="uploads"', b'name="files"').replace(b"x", b"y")
        assert program.generic("POST", "/api/v1/batches/", sent.decode(), kind).status_code == api
    assert "at most 1 MiB" in client.generic("POST", "/documents/import/", body, kind).content.decode()


@override_settings(DATA_UPLOAD_MAX_NUMBER_FILES=5)
def test_too_many_files_by_the_api_are_a_problem_in_words() -> None:
    program = APIClient()
    program.force_authenticate(make_lead())
    part = '--X\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\na\r\n'
    response = program.generic("POST", "/api/v1/batches/", part * 6 + "--X--\r\n", "multipart/form-data; boundary=X")
    assert (response.status_code, response.json()["rule"]) == (413, "too_many_files")
    assert "zip" in response.json()["detail"]


@pytest.mark.django_db(transaction=True)
def test_a_connection_cut_in_the_middle_stores_nothing_and_the_retry_works(
    live_server: LiveServer, tmp_path: Any, settings: Any
) -> None:
    """B-55."""
    settings.MEDIA_ROOT = tmp_path
    client = Client()
    client.force_login(make_lead())
    cookie = f"sessionid={client.cookies['sessionid'].value}; csrftoken={'c' * 32}"
    token = f'--X\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{"c" * 32}\r\n'
    body, kind = multipart("log.txt", b"The Heron came in. " * 400_000, more=token)
    address = urlsplit(live_server.url)
    head = (
        f"POST /documents/import/ HTTP/1.1\r\nHost: {address.netloc}\r\nCookie: {cookie}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(head.encode() + body[: len(body) // 2])
    time.sleep(0.5)
    assert not ImportBatch.objects.exists()
    assert not any(path.is_file() for path in tmp_path.rglob("*"))

    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=30)
    connection.request("POST", "/documents/import/", body, {"Cookie": cookie, "Content-Type": kind})
    response = connection.getresponse()
    assert (response.status, ImportBatch.objects.count()) == (302, 1)
    connection.close()
    batches.work_off()
    assert Document.objects.count() == 1
