"""One POST, one effect: the first answer is kept under the sender's key and given again to every repetition.

Kept: success, redirects, and refusals of the pipeline's rules (409, 422). Not kept: what never reached an action
(400, 401, 403, 404, 429) and crashes (5xx), so that these can be tried again under the same key.
"""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from time import sleep

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from core.models import IdempotencyKey, User
from core.refusals import Conflict, RuleBroken

KEPT = frozenset({200, 201, 202, 204, 301, 302, 303, 409, 422})
KEPT_HEADERS = (
    "Content-Type",
    "Location",
    "HX-Redirect",
    "HX-Trigger",
    "HX-Retarget",
    "HX-Reswap",
    "HX-Location",
)
MAX_KEY = 100
# A first attempt that has not answered after this long died with its process.
ABANDONED_AFTER = timedelta(minutes=2)
PATIENCE = 0.1
FORGOTTEN_AFTER = timedelta(days=2)


@dataclass(frozen=True)
class Begun:
    """Either `replay` holds the stored answer, or the caller goes on and calls `finish` with its own."""

    row: IdempotencyKey
    replay: HttpResponse | None = None


def fingerprint(request: HttpRequest) -> str:
    """What the key stands for: method, path, query and body. The CSRF token differs between pages and is left out."""
    digest = hashlib.sha256()
    digest.update(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type in {
        "multipart/form-data",
        "application/x-www-form-urlencoded",
    }:
        for name, values in sorted(request.POST.lists()):
            if name != "csrfmiddlewaretoken":
                digest.update(repr((name, values)).encode("utf-8", "surrogatepass"))
        for name, files in sorted(request.FILES.lists()):
            digest.update(repr((name, [(file.name, file.size) for file in files])).encode("utf-8", "surrogatepass"))
    else:
        digest.update(request.body)
    return digest.hexdigest()


def begin(*, person: AbstractBaseUser, key: str, mark: str, wait: timedelta = timedelta(0)) -> Begun:
    """Take the key, or find its stored answer. A first attempt that is still at work is waited for as long as `wait`:
    a browser shows the answer to the second click, which should be the first one's."""
    assert isinstance(person, User)
    key = key[:MAX_KEY]
    _forget(person, key)
    until = timezone.now() + wait
    while True:
        row = _take(person, key, mark)
        if row is not None:
            return Begun(row)
        first = IdempotencyKey.objects.filter(person=person, key=key).first()
        if first is None:
            continue  # given up in this moment: the key is free again
        if first.fingerprint != mark:
            raise RuleBroken(
                _("This Idempotency-Key was used for another request. Use a new key for a new request."),
                rule="idempotency_key_reused",
            )
        if first.finished_at is not None:
            return Begun(first, _stored_answer(first))
        if timezone.now() >= until:
            raise Conflict(
                _("The same request is still being worked on. Wait a moment."),
                rule="request_in_progress",
            )
        sleep(PATIENCE)


def _forget(person: User, key: str) -> None:
    now = timezone.now()
    same = IdempotencyKey.objects.filter(person=person, key=key)
    same.filter(created_at__lt=now - FORGOTTEN_AFTER).delete()
    same.filter(finished_at=None, created_at__lt=now - ABANDONED_AFTER).delete()


def _take(person: User, key: str, mark: str) -> IdempotencyKey | None:
    try:
        with transaction.atomic():
            return IdempotencyKey.objects.create(person=person, key=key, fingerprint=mark)
    except IntegrityError:
        return None


def _stored_answer(row: IdempotencyKey) -> HttpResponse:
    headers = {**row.headers, "Idempotency-Replayed": "true"}
    return HttpResponse(bytes(row.body), status=row.status, headers=headers)


def finish(begun: Begun, response: HttpResponseBase) -> None:
    if response.status_code not in KEPT or not isinstance(response, HttpResponse):
        abandon(begun)
        return
    # An update, not a save: a row that was taken for abandoned meanwhile must not come back.
    IdempotencyKey.objects.filter(pk=begun.row.pk).update(
        finished_at=timezone.now(),
        status=response.status_code,
        headers={name: response[name] for name in KEPT_HEADERS if name in response},
        body=response.content,
    )


def abandon(begun: Begun) -> None:
    IdempotencyKey.objects.filter(pk=begun.row.pk).delete()
