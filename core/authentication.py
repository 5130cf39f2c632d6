"""Programs sign in with `Authorization: Bearer TOKEN`: a token has an owner, a scope and an end; its hash is kept."""

import hashlib
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from core import history
from core.models import ApiToken, User
from core.workflow import Scope

if TYPE_CHECKING:
    from rest_framework.views import APIView


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def issue_token(*, person: User, name: str, scope: str, days: int, by: User | None) -> tuple[ApiToken, str]:
    """Make a token and return it with its text, which nobody can read again."""
    text = f"lbp_{secrets.token_urlsafe(32)}"
    token = ApiToken.objects.create(
        person=person,
        name=name,
        digest=digest(text),
        scope=Scope(scope),
        expires_at=timezone.now() + timedelta(days=days),
    )
    history.record("issue_token", token, by=by, scope=scope, days=days)
    return token, text


class TokenAuthentication(BaseAuthentication):
    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != self.keyword.lower().encode():
            return None
        if len(words) != 2:
            raise AuthenticationFailed(_("Send one token: Authorization: Bearer TOKEN."))
        token = ApiToken.objects.select_related("person").filter(digest=digest(words[1].decode("latin-1"))).first()
        if token is None or not token.is_usable(at=timezone.now()) or not token.person.is_active:
            raise AuthenticationFailed(_("This token is unknown, expired or revoked."))
        return token.person, token

    def authenticate_header(self, request: HttpRequest) -> str:
        return self.keyword


class SignedInWithinScope(BasePermission):
    """Signed in, and a read token only reads."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        if not (request.user and request.user.is_authenticated):
            return False
        token = request.auth
        if isinstance(token, ApiToken) and request.method not in SAFE_METHODS and token.scope != Scope.WRITE:
            raise PermissionDenied(_("This token may only read. Use one with the scope “write”."))
        return True
