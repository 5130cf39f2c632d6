"""What leads change: people, the benchmark's figures, targets of single cells."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from benchmark.taxonomy import Language, UnknownTask, secondary_task
from core import history
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, Words
from documents.actions import rebucket_documents
from leading.inviting import (
    accept_invitation,
    can_use_link,
    invite,
    make_reset_link,
    reset_own_password,
    revoke_invitation,
    send_link,
)
from leading.models import CellTarget
from leading.notifying import mark_seen
from leading.people import (
    active_people,
    add_person,
    can_lead,
    change_role,
    change_work,
    end_sessions,
    remove_authenticator,
    require_lead,
    reset_password,
    set_active,
)
from leading.queries import CellKey, cells, live_samples

__all__ = [
    "FIGURES",
    "accept_invitation",
    "active_people",
    "add_person",
    "can_lead",
    "can_use_link",
    "change_role",
    "change_settings",
    "change_work",
    "end_sessions",
    "invite",
    "make_reset_link",
    "mark_seen",
    "remove_authenticator",
    "require_lead",
    "reset_own_password",
    "reset_password",
    "revoke_invitation",
    "send_link",
    "set_active",
    "set_cell_target",
    "set_cell_targets",
]

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
    require_lead(by)
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
    require_lead(by)
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


@transaction.atomic
def set_cell_targets(*, targets: Mapping[CellKey, int | None], by: User) -> int:
    """Set the targets of these cells; None: the general figure holds for the cell again, whatever it becomes. Returns
    how many changed."""
    require_lead(by)
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
