"""What leads change: people, the benchmark's figures, targets of single cells."""

import secrets
from collections.abc import Mapping, Sequence

from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions import end_claims_of
from benchmark.taxonomy import SECONDARY_TASKS, Language, UnknownTask, secondary_task
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, NotAllowed, Words
from core.text import clean_text
from core.workflow import Role
from documents.actions import rebucket_documents
from leading.models import CellTarget
from leading.queries import CellKey, cells, live_samples


def can_lead(user: User) -> bool:
    return user.is_active and user.is_lead


def _guard(by: User | None) -> None:
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
    _guard(by)
    name, email, full_name = clean_text(name).strip(), clean_text(email).strip(), clean_text(full_name).strip()
    errors: dict[str, Words | list[Words]] = {}
    if not name or any(character.isspace() for character in name) or "@" in name:
        errors["name"] = _("A user name has at least one character and neither spaces nor “@”.")
    elif User.objects.filter(username__iexact=name).exists():
        errors["name"] = _("The user name “%(name)s” is taken.") % {"name": name}
    if role not in Role.values:
        errors["role"] = _("A role is annotator, expert or lead.")
    if email:
        try:
            validate_email(email)
        except ValidationError as error:
            errors["email"] = list(error.messages)
        else:
            if User.objects.filter(email__iexact=email).exists():
                errors["email"] = _("Somebody has this e-mail address already.")
    if password:
        try:
            validate_password(password, User(username=name, email=email))
        except ValidationError as error:
            errors["password"] = list(error.messages)
    work = _work(languages, tasks, errors)
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
    history.record("add_person", person, by=by, role=role)
    return person, password


def _work(
    languages: Sequence[str], tasks: Sequence[str], errors: dict[str, Words | list[Words]]
) -> dict[str, list[str]]:
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
    _guard(by)
    errors: dict[str, Words | list[Words]] = {}
    work = _work(languages, tasks, errors)
    if errors:
        raise Invalid(errors)
    person.work_languages, person.work_tasks = work["work_languages"], work["work_tasks"]
    person.save(update_fields=["work_languages", "work_tasks"])
    history.record("change_work", person, by=by, languages=person.work_languages, tasks=person.work_tasks)
    return person


@transaction.atomic
def change_role(*, person: User, role: str, by: User) -> User:
    _guard(by)
    if role not in Role.values:
        raise Invalid({"role": _("A role is annotator, expert or lead.")})
    if person == by:
        raise Invalid({"role": _("Nobody changes their own role: ask another lead.")})
    was, person.role = person.role, role
    person.save(update_fields=["role"])
    history.record("change_role", person, by=by, role=role, was=was)
    return person


@transaction.atomic
def set_active(*, person: User, active: bool, by: User) -> User:
    """Let a person in or keep them out. Their work and figures stay; open claims and sessions end with the account."""
    _guard(by)
    if person == by:
        raise Invalid({"person": _("Nobody deactivates themselves: ask another lead.")})
    person.is_active = active
    person.save(update_fields=["is_active"])
    if not active:
        end_claims_of(person, by=by)
        end_sessions(person)
    history.record("activate_person" if active else "deactivate_person", person, by=by)
    return person


def end_sessions(person: User) -> None:
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(person.pk):
            session.delete()


@transaction.atomic
def reset_password(*, person: User, by: User) -> str:
    """A new password, shown this once; every session of the person ends."""
    _guard(by)
    password = secrets.token_urlsafe(12)
    person.set_password(password)
    person.save(update_fields=["password"])
    end_sessions(person)
    history.record("reset_password", person, by=by)
    return password


MOST_PER_CELL = 1000

FIGURES = (
    "tolerance_percent",
    "samples_per_cell",
    "difficulty_runs",
    "claim_idle_minutes",
    "claims_per_person",
)


@transaction.atomic
def change_settings(*, by: User, **figures: int) -> BenchmarkSettings:
    """Change figures of the benchmark. Existing samples keep their version and bucket; documents are measured anew."""
    _guard(by)
    settings = BenchmarkSettings.objects.select_for_update().get(pk=BenchmarkSettings.load().pk)
    was = {name: getattr(settings, name) for name in FIGURES}
    errors: dict[str, Words | list[Words]] = {}
    for name, value in figures.items():
        if name not in FIGURES:
            raise ValueError(f"{name} is not a figure of the benchmark")
        if value < 1:
            errors[name] = _("At least 1.")
    if not errors and figures.get("tolerance_percent", settings.tolerance_percent) >= 50:
        errors["tolerance_percent"] = _("Below 50, so that no two buckets overlap.")
    if figures.get("difficulty_runs", 1) not in {1, 3, 5, 7, 9}:
        errors["difficulty_runs"] = _("An odd number up to 9, so that a majority exists.")
    if errors:
        raise Invalid(errors)
    for name, value in figures.items():
        setattr(settings, name, value)
    settings.save()
    if was["tolerance_percent"] != settings.tolerance_percent:
        # Samples never move silently: their versions keep the bucket, and queries.out_of_bucket lists them.
        rebucket_documents(by=by, keep=set(live_samples().values_list("document_version", flat=True)))
    changed = {name: [was[name], value] for name, value in figures.items() if was[name] != value}
    history.record("change_settings", settings, by=by, changed=changed)
    return settings


@transaction.atomic
def set_cell_target(*, task_code: str, language: str, bucket: str, target: int, by: User) -> CellTarget:
    _guard(by)
    errors: dict[str, Words | list[Words]] = {}
    try:
        task_code = secondary_task(task_code).code
    except UnknownTask:
        errors["task_code"] = _("This is no secondary task.")
    if language not in [*Language]:
        errors["language"] = _("The languages are English and Chinese.")
    if bucket not in BenchmarkSettings.load().lengths.names():
        errors["bucket"] = _("This is no length bucket.")
    if target < 0:
        errors["target"] = _("At least 0.")
    if errors:
        raise Invalid(errors)
    cell, _made = CellTarget.objects.update_or_create(
        task_code=task_code, language=language, bucket=bucket, defaults={"target": target}
    )
    history.record("set_cell_target", cell, by=by, target=target)
    return cell


def active_people(roles: Sequence[str] = ()) -> list[User]:
    people = User.objects.filter(is_active=True).order_by("id")
    return list(people.filter(role__in=roles) if roles else people)


@transaction.atomic
def set_cell_targets(*, targets: Mapping[CellKey, int | None], by: User) -> int:
    """Set the targets of these cells; None: the general figure holds for the cell again, whatever it becomes. Returns
    how many changed."""
    _guard(by)
    kept = {cell.key: cell for cell in CellTarget.objects.select_for_update()}
    known = {cell.key for cell in cells()}
    if set(targets) - known:
        raise Invalid({"cells": _("There is no such cell.")})
    if any(target is not None and not 0 <= target <= MOST_PER_CELL for target in targets.values()):
        raise Invalid({"target": _("From 0 to %(n)s.") % {"n": MOST_PER_CELL}})
    now = {key: cell.target for key, cell in kept.items()}
    changed = {key: target for key, target in targets.items() if now.get(key) != target}
    freed = [kept[key].pk for key, target in changed.items() if target is None]
    CellTarget.objects.filter(pk__in=freed).delete()
    made = [
        CellTarget(task_code=task, language=language, bucket=bucket, target=target)
        for (task, language, bucket), target in changed.items()
        if target is not None
    ]
    CellTarget.objects.bulk_create(
        made, update_conflicts=True, unique_fields=["task_code", "language", "bucket"], update_fields=["target"]
    )
    if changed:
        named = [[*key, target] for key, target in changed.items()]
        history.record("set_cell_targets", BenchmarkSettings.load(), by=by, cells=named)
    return len(changed)
