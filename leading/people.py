"""People: added, given a role and work, let in and kept out, by leads; each with its line in the trail."""

import secrets
from collections.abc import Sequence
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import end_claims_of
from annotation.models import Claim, Submission
from benchmark.taxonomy import SECONDARY_TASKS, Language, UnknownTask, secondary_task
from core import history
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, Words
from core.text import clean_text
from core.workflow import Role
from leading.models import Invitation, ResetLink
from review.models import AnswerReview
from review.workflow import CaseState, ReviewState

Errors = dict[str, Words | list[Words]]
# Recovery codes alone are no second factor.
AUTHENTICATORS = Authenticator.objects.exclude(type=Authenticator.Type.RECOVERY_CODES)


def people() -> QuerySet[User]:
    """Everybody with what they have done. Each count is a query of its own inside the one: joined, they multiply."""

    def counted(rows: QuerySet[Any], whose: str) -> Coalesce:
        of_one = rows.filter(**{whose: OuterRef("pk")}).order_by().values(whose).annotate(n=Count("pk")).values("n")
        return Coalesce(Subquery(of_one, output_field=IntegerField()), 0)

    return User.objects.annotate(
        submitted=counted(Submission.objects.all(), "submitted_by"),
        reviewed=counted(AnswerReview.objects.filter(state=ReviewState.SUBMITTED), "reviewer"),
        audited=counted(Submission.objects.all(), "audited_by"),
        open_claims=counted(Claim.objects.filter(ended_at=None), "holder"),
        has_authenticator=Exists(AUTHENTICATORS.filter(user=OuterRef("pk"))),
    ).order_by("role", "username")


def open_claims_of(person: User) -> QuerySet[Claim]:
    """What ends with the account."""
    rows = Claim.objects.filter(holder=person, ended_at=None)
    return rows.select_related("sample__document", "sample__document_version").order_by("claimed_at", "pk")


def begun_reviews_of(person: User) -> QuerySet[AnswerReview]:
    """Whose seats go to others once the person is gone."""
    rows = AnswerReview.objects.filter(reviewer=person, state=ReviewState.DRAFT, case__state=CaseState.OPEN)
    return rows.select_related("case__sample").order_by("begun_at", "pk")


def can_lead(user: User) -> bool:
    return user.is_active and user.is_lead


def require_lead(by: User | None) -> None:
    if by is not None and not can_lead(by):
        raise NotAllowed(_("Only a lead may do this."))


@transaction.atomic
def add_person(
    *,
    name: str,
    role: str,
    by: User | None,
    email: str = "",
    password: str = "",
    full_name: str = "",
    languages: Sequence[str] = (),
    tasks: Sequence[str] = (),
) -> tuple[User, str]:
    """Make an account. Returns it with its password, which is made up when none is given and shown this once.

    `by=None` is the operator at the command line. Raises Invalid with the fields that are wrong.
    """
    require_lead(by)
    person, password = make_account(
        name=name, role=role, email=email, password=password, full_name=full_name, languages=languages, tasks=tasks
    )
    history.record("add_person", person, by=by, role=role)
    return person, password


def make_account(
    *,
    name: str,
    role: str,
    email: str,
    password: str,
    full_name: str,
    languages: Sequence[str],
    tasks: Sequence[str],
) -> tuple[User, str]:
    """The account and its password. Who may have it made, and the line in the trail, are the caller's."""
    name, email, full_name = clean_text(name).strip(), clean_text(email).strip(), clean_text(full_name).strip()
    errors: Errors = {}
    if not name or any(character.isspace() for character in name) or "@" in name:
        errors["name"] = _("A user name has at least one character and neither spaces nor “@”.")
    elif User.objects.filter(username__iexact=name).exists():
        errors["name"] = _("The user name “%(name)s” is taken.") % {"name": name}
    check_role(role, errors)
    check_email(email, errors)
    if password:
        check_password(password, User(username=name, email=email), errors)
    work = work_in_order(languages, tasks, errors)
    if errors:
        raise Invalid(errors)
    password = password or secrets.token_urlsafe(12)
    try:
        with transaction.atomic():
            person = User.objects.create_user(
                name, email=email, password=password, role=role, first_name=full_name, **work
            )
    except IntegrityError as error:
        raise Invalid({"name": _("The user name “%(name)s” is taken.") % {"name": name}}) from error
    return person, password


def check_role(role: str, errors: Errors) -> None:
    if role not in Role.values:
        errors["role"] = _("A role is annotator, expert or lead.")


def check_email(email: str, errors: Errors) -> None:
    if not email:
        return
    try:
        validate_email(email)
    except ValidationError as error:
        errors["email"] = list(error.messages)
    else:
        if User.objects.filter(email__iexact=email).exists():
            errors["email"] = _("Somebody has this e-mail address already.")


def check_password(password: str, person: User, errors: Errors) -> None:
    try:
        validate_password(password, person)
    except ValidationError as error:
        errors["password"] = list(error.messages)


def work_in_order(languages: Sequence[str], tasks: Sequence[str], errors: Errors) -> dict[str, list[str]]:
    """Languages and task codes in the order of the benchmark; what is wrong goes into `errors`."""
    if set(languages) - {str(language) for language in Language}:
        errors["languages"] = _("The languages are English and Chinese.")
    codes: list[str] = []
    for task in tasks:
        try:
            codes.append(secondary_task(task).code)
        except UnknownTask:
            errors["tasks"] = _("This is no secondary task.")
    ordered = [task.code for task in SECONDARY_TASKS if task.code in codes]
    return {
        "work_languages": [str(language) for language in Language if language in set(languages)],
        "work_tasks": ordered,
    }


@transaction.atomic
def change_work(*, person: User, by: User, languages: Sequence[str] = (), tasks: Sequence[str] = ()) -> User:
    """Of which languages and secondary tasks `next` offers samples; empty: of all. What is begun stays theirs."""
    require_lead(by)
    errors: Errors = {}
    work = work_in_order(languages, tasks, errors)
    if errors:
        raise Invalid(errors)
    person.work_languages, person.work_tasks = work["work_languages"], work["work_tasks"]
    person.save(update_fields=["work_languages", "work_tasks"])
    history.record("change_work", person, by=by, languages=person.work_languages, tasks=person.work_tasks)
    return person


@transaction.atomic
def change_role(*, person: User, role: str, by: User) -> User:
    require_lead(by)
    if role not in Role.values:
        raise Invalid({"role": _("A role is annotator, expert or lead.")})
    if person == by:
        raise Invalid({"role": _("Nobody changes their own role: ask another lead.")})
    was, person.role = person.role, role
    person.save(update_fields=["role"])
    if was == Role.LEAD:
        _revoke_links_by(person)
    history.record("change_role", person, by=by, role=role, was=was)
    return person


@transaction.atomic
def set_active(*, person: User, active: bool, by: User) -> User:
    """Let a person in or keep them out. Their work and figures stay; open claims and sessions end with the account."""
    require_lead(by)
    if person == by:
        raise Invalid({"person": _("Nobody deactivates themselves: ask another lead.")})
    person.is_active = active
    person.save(update_fields=["is_active"])
    if not active:
        end_claims_of(person, by=by)
        end_sessions(person)
        _revoke_links_by(person)
        _revoke(ResetLink.objects.filter(person=person))
    history.record("activate_person" if active else "deactivate_person", person, by=by)
    return person


def _revoke_links_by(person: User) -> None:
    """What somebody made as a lead opens nothing once they are none."""
    _revoke(Invitation.objects.filter(made_by=person))
    _revoke(ResetLink.objects.filter(made_by=person))


def _revoke(links: QuerySet[Any]) -> None:
    links.filter(used_at=None, revoked_at=None).update(revoked_at=timezone.now())


def end_sessions(person: User) -> None:
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(person.pk):
            session.delete()


@transaction.atomic
def reset_password(*, person: User, by: User) -> str:
    """A new password, shown this once; every session of the person ends."""
    require_lead(by)
    password = secrets.token_urlsafe(12)
    person.set_password(password)
    person.save(update_fields=["password"])
    end_sessions(person)
    history.record("reset_password", person, by=by)
    return password


def has_authenticator(person: User) -> bool:
    return bool(AUTHENTICATORS.filter(user=person).exists())


@transaction.atomic
def remove_authenticator(*, person: User, by: User | None) -> User:
    """Of who has lost it, recovery codes with it; every session of the person ends. `by=None` is the operator."""
    require_lead(by)
    if person == by:
        raise Invalid({"person": _("Nobody removes their own authenticator here: ask another lead.")})
    if not has_authenticator(person):
        raise Conflict(_("%(name)s has set up no authenticator.") % {"name": person.name}, rule="no_authenticator")
    Authenticator.objects.filter(user=person).delete()
    end_sessions(person)
    history.record("remove_authenticator", person, by=by)
    return person


def active_people(roles: Sequence[str] = ()) -> list[User]:
    people = User.objects.filter(is_active=True).order_by("id")
    return list(people.filter(role__in=roles) if roles else people)
