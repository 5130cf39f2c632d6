"""What a person changes about themselves."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core import history
from core.authentication import issue_token
from core.models import ApiToken, User
from core.refusals import NotAllowed

PREFERENCES = ("language", "theme", "time_zone", "shortcuts")


def change_preferences(*, person: User, **values: str | bool) -> User:
    """Only what is given changes. Not audited: it changes nobody's work."""
    names = [name for name in PREFERENCES if name in values]
    for name in names:
        setattr(person, name, values[name])
    person.save(update_fields=names)
    return person


@transaction.atomic
def issue_api_token(*, by: User, name: str, scope: str, days: int) -> tuple[ApiToken, str]:
    return issue_token(person=by, name=name, scope=scope, days=days, by=by)


def can_revoke_api_token(user: User, token: ApiToken) -> bool:
    return token.person_id == user.pk or user.is_lead


@transaction.atomic
def revoke_api_token(*, token: ApiToken, by: User) -> ApiToken:
    if not can_revoke_api_token(by, token):
        raise NotAllowed(_("This token belongs to somebody else."))
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        history.record("revoke_token", token, by=by)
    return token
