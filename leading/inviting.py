"""One-time links: an invitation makes an account, a reset link a new password. Given by e-mail or on paper.

The link's text is returned by the action that makes it and never again: its hash is kept. It goes into no log and into
no stored answer.
"""

import logging
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Conflict, Invalid, RuleBroken
from core.text import clean_text
from leading.models import Invitation, OneTimeLink, ResetLink, new_digest
from leading.people import (
    Errors,
    check_email,
    check_password,
    check_role,
    end_sessions,
    make_account,
    require_lead,
    work_in_order,
)
from leading.workflow import LinkState

log = logging.getLogger(__name__)

MOST_DAYS = 90
RESET_DAYS = 3
# It writes messages into the log, where nobody waits for a link.
NO_MAIL_SERVER = "django.core.mail.backends.console.EmailBackend"


def can_use_link(link: OneTimeLink) -> bool:
    return link.state == LinkState.OPEN


def invitation_of(token: str) -> Invitation | None:
    return Invitation.objects.filter(digest=new_digest(token)).select_related("made_by").first()


def reset_link_of(token: str) -> ResetLink | None:
    return ResetLink.objects.filter(digest=new_digest(token)).select_related("made_by", "person").first()


def open_invitations() -> list[Invitation]:
    """Those that nobody has used and nobody revoked, the newest first; expired ones for as long as they were valid."""
    rows = Invitation.objects.filter(used_at=None, revoked_at=None, expires_at__gt=timezone.now() - timedelta(days=30))
    return list(rows.select_related("made_by").order_by("-pk"))


# Inviting --------------------------------------------------------------------------------------------------------


@transaction.atomic
def invite(
    *,
    role: str,
    by: User,
    email: str = "",
    languages: Sequence[str] = (),
    tasks: Sequence[str] = (),
    days: int = 14,
) -> tuple[Invitation, str]:
    """An invitation and the text that opens it, which nobody can read again."""
    require_lead(by)
    errors: Errors = {}
    email = clean_text(email).strip()
    check_role(role, errors)
    check_email(email, errors)
    if not 1 <= days <= MOST_DAYS:
        errors["days"] = _("From 1 to %(most)s days.") % {"most": MOST_DAYS}
    work = work_in_order(languages, tasks, errors)
    if errors:
        raise Invalid(errors)
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        digest=new_digest(token),
        role=role,
        languages=work["work_languages"],
        tasks=work["work_tasks"],
        email=email,
        made_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    history.record("invite", invitation, by=by, role=role, days=days)
    return invitation, token


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, by: User) -> Invitation:
    require_lead(by)
    now = timezone.now()
    if not Invitation.objects.filter(pk=invitation.pk, used_at=None, revoked_at=None).update(revoked_at=now):
        invitation.refresh_from_db()
        raise Conflict(why_closed(invitation), rule="link_closed", state=invitation.state)
    invitation.revoked_at = now
    history.record("revoke_invitation", invitation, by=by)
    return invitation


@transaction.atomic
def accept_invitation(*, invitation: Invitation, name: str, password: str, full_name: str = "") -> User:
    """The invited person makes their own account. Of two who come at once, one does."""
    held = Invitation.objects.select_for_update().get(pk=invitation.pk)
    _require_open(held)
    if not password:
        raise Invalid({"password": _("Choose a password.")})
    person, _password = make_account(
        name=name,
        role=held.role,
        email=held.email,
        password=password,
        full_name=full_name,
        languages=held.languages,
        tasks=held.tasks,
    )
    # SQLite has no row locks: the one whose update finds the row unused has come.
    now = timezone.now()
    if not Invitation.objects.filter(pk=held.pk, used_at=None, revoked_at=None).update(used_at=now, person=person):
        held.refresh_from_db()
        raise Conflict(why_closed(held), rule="link_closed", state=held.state)
    history.record("accept_invitation", person, by=person, role=held.role, invitation=held.pk)
    return person


# A forgotten password ------------------------------------------------------------------------------------------------


@transaction.atomic
def make_reset_link(*, person: User, by: User) -> tuple[ResetLink, str]:
    """A link with which the person chooses a new password; an earlier one opens no longer."""
    require_lead(by)
    if person == by:
        raise Invalid({"person": _("Change your own password under “Password and sign-in”.")})
    if not person.is_active:
        raise RuleBroken(_("%(name)s is deactivated. Activate the account first.") % {"name": person.name})
    now = timezone.now()
    ResetLink.objects.filter(person=person, used_at=None, revoked_at=None).update(revoked_at=now)
    token = secrets.token_urlsafe(32)
    try:
        with transaction.atomic():
            link = ResetLink.objects.create(
                digest=new_digest(token), person=person, made_by=by, expires_at=now + timedelta(days=RESET_DAYS)
            )
    except IntegrityError:
        raise Conflict(_("Another lead made a reset link at this moment. Make yours again.")) from None
    history.record("make_reset_link", person, by=by)
    return link, token


@transaction.atomic
def reset_own_password(*, link: ResetLink, password: str) -> User:
    """The new password holds and every session ends. Nobody is signed in by it: a second factor is still asked for."""
    _require_open(link)
    if not link.person.is_active:
        raise Conflict(why_closed(link), rule="link_closed")
    errors: Errors = {}
    check_password(password, link.person, errors)
    if errors:
        raise Invalid(errors)
    if not ResetLink.objects.filter(pk=link.pk, used_at=None, revoked_at=None).update(used_at=timezone.now()):
        link.refresh_from_db()
        raise Conflict(why_closed(link), rule="link_closed", state=link.state)
    person = link.person
    person.set_password(password)
    person.save(update_fields=["password"])
    end_sessions(person)
    history.record("use_reset_link", person, by=person)
    return person


# Both --------------------------------------------------------------------------------------------------------------


def _require_open(link: OneTimeLink) -> None:
    if not can_use_link(link):
        raise Conflict(why_closed(link), rule="link_closed", state=link.state)


def why_closed(link: OneTimeLink | None) -> str:
    """Why a link opens nothing, and what to do."""
    if link is None:
        return _("This link is not known here. Perhaps a part of it is missing: open it again as it was given to you.")
    if link.state == LinkState.USED:
        return _("This link was used already, and it opens once. If it was you, sign in; if not, tell a lead.")
    if link.state == LinkState.EXPIRED:
        return _("The time of this link is over. Ask a lead for a new one.")
    return _("This link was revoked. Ask a lead for a new one.")


def send_link(*, to: str, link: str, until: datetime, kind: str) -> bool:
    """Send the link by e-mail, in both languages: nobody knows yet which one the person reads. False: it did not go."""
    if settings.EMAIL_BACKEND == NO_MAIL_SERVER:
        return False
    words = []
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            words.append(render_to_string(f"leading/{kind}_mail.txt", {"link": link, "until": until}).strip())
    subject = _("Your invitation to LongBench Pro") if kind == "invitation" else _("Your new password at LongBench Pro")
    try:
        return bool(send_mail(subject, "\n\n".join(words) + "\n", None, [to]))
    except (SMTPException, OSError) as error:
        # Neither link nor address: a log is no place for them.
        log.warning("an e-mail with a one-time link could not be sent: %s", type(error).__name__)
        return False
