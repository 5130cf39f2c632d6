"""What people do at the last stage: ask for labels, make a release, make it again, withdraw it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Sample
from annotation.workflow import SampleState
from core import history
from core.jobs import hurry
from core.models import BenchmarkSettings, User
from core.refusals import Invalid, NotAllowed, RuleBroken
from core.text import clean_text
from generation.workflow import RunState
from release import building, importing, pushing, queries, tasks
from release.collecting import collect
from release.figures import Targets
from release.formats import VERSION_NAME
from release.models import DifficultyLabel, Release, ReleaseImport
from release.queries import unlabelled, with_current_standardization
from release.readiness import judge

NAMED = 5


def can_lead_releases(user: User | None) -> bool:
    """Leads, and the operator at the command line, who is nobody of the people here."""
    return user is None or user.is_lead


can_label_samples = can_make_release = can_retry_release = can_withdraw_release = can_lead_releases
can_import_release = can_push_release = can_cancel_release = can_lead_releases


def _leads_only(user: User | None) -> None:
    if not can_lead_releases(user):
        raise NotAllowed(_("Only a lead may do this."))


# Difficulty ---------------------------------------------------------------------------------------------------------


def label_samples(*, samples: Sequence[Sample], by: User | None) -> list[DifficultyLabel]:
    """Ask for the difficulty of accepted samples. Those that have or await a current label are passed over.

    Raises RuleBroken, and does nothing, when one of them is not accepted or its document is not approved.
    """
    _leads_only(by)
    _refuse_unaccepted(samples)
    _refuse_blocked(samples)
    chosen = [sample.pk for sample in samples]
    runs = BenchmarkSettings.load().difficulty_runs
    with transaction.atomic():
        found = [_ask(sample, by, runs) for sample in unlabelled().filter(pk__in=chosen)]
        labels = [label for label in found if label is not None]
        for label in labels:
            history.record("ask_for_label", label.sample, by=by, runs_per_model=runs)
        hurry(tasks.work_off_labels)
    return labels


def _ask(sample: Sample, by: User | None, runs: int) -> DifficultyLabel | None:
    """A new label, or the one whose run was cancelled, asked for again."""
    current = with_current_standardization(Sample.objects.filter(pk=sample.pk)).get().current_id
    assert current is not None
    again: dict[str, Any] = {
        "run": None,
        "missing": [],
        "right": {},
        "refusal": "",
        "asked_by": by,
        "asked_at": timezone.now(),
    }
    label, is_new = DifficultyLabel.objects.get_or_create(
        standardization_id=current,
        defaults={"sample": sample, "asked_by": by, "runs_per_model": runs},
    )
    if is_new:
        return label
    cancelled = DifficultyLabel.objects.filter(pk=label.pk, difficulty="", run__state=RunState.CANCELLED)
    if not cancelled.update(**again, runs_per_model=runs):
        return None
    label.refresh_from_db()
    return label


def _refuse_unaccepted(samples: Sequence[Sample]) -> None:
    names = [sample.label for sample in samples if sample.state != SampleState.ACCEPTED]
    if names:
        words = _("Only accepted samples get a difficulty label. Not accepted: %(samples)s.")
        raise RuleBroken(words % {"samples": _named(names)}, rule="sample_not_accepted", samples=names)


def _refuse_blocked(samples: Sequence[Sample]) -> None:
    names = [sample.label for sample in samples if sample.is_blocked]
    if names:
        words = _("Nothing is sent to a model before its document is approved. Blocked: %(samples)s.")
        raise RuleBroken(words % {"samples": _named(names)}, rule="document_not_approved", samples=names)


def _named(names: Sequence[str]) -> str:
    few = ", ".join(names[:NAMED])
    return few if len(names) <= NAMED else _("%(few)s and %(more)d more") % {"few": few, "more": len(names) - NAMED}


# Releases -----------------------------------------------------------------------------------------------------------


def make_release(
    *, version: str, by: User | None, allow_incomplete: bool = False, targets: Targets | None = None
) -> Release:
    """Begin a release. The snapshot and the files are made by the worker.

    Raises Invalid (the name), RuleBroken `nothing_to_release` or `targets_unmet`.
    """
    _leads_only(by)
    version = _checked_name(version)
    settings = BenchmarkSettings.load()
    targets = targets or queries.targets()
    report = judge(collect(settings.lengths), settings.lengths)
    building.refuse_empty(report)
    if not allow_incomplete:
        building.refuse_unmet(report.balance(targets))
    try:
        with transaction.atomic():
            release = Release.objects.create(
                version=version, made_by=by, allow_incomplete=allow_incomplete, manifest={"targets": targets.to_json()}
            )
            history.record("make_release", release, by=by, version=version, allow_incomplete=allow_incomplete)
            hurry(tasks.build_release, release.pk)
    except IntegrityError as error:
        raise _taken(version) from error
    return release


def _checked_name(version: str) -> str:
    version = version.strip()
    if not VERSION_NAME.fullmatch(version):
        words = _(
            "A version is up to 40 letters, digits, dots, underscores and hyphens, and begins with a letter or digit."
        )
        raise Invalid({"version": words})
    if Release.objects.filter(version__iexact=version).exists():
        raise _taken(version)
    return version


def _taken(version: str) -> Invalid:
    words = _("There is a release %(version)s already. A release never changes: choose another name.")
    return Invalid({"version": words % {"version": version}}, rule="version_taken")


def retry_release(*, release: Release, by: User | None) -> Release:
    """Make a failed or cancelled release again, from what is ready now unless its snapshot was taken already."""
    _leads_only(by)
    with transaction.atomic():
        history.advance(release, "retry", by=by)
        release.error, release.lease_until = "", None
        release.save(update_fields=["error", "lease_until"])
        hurry(tasks.build_release, release.pk)
    return release


def cancel_release(*, release: Release, by: User | None) -> Release:
    """Stop making a release. Nothing of its files stays; it can be tried again."""
    _leads_only(by)
    with transaction.atomic():
        history.advance(release, "cancel", by=by, also={"lease_until": None})
    release.lease_until = None
    return release


def withdraw_release(*, release: Release, reason: str, by: User | None) -> Release:
    """Say that a release should no longer be used, and why. It is kept."""
    _leads_only(by)
    reason = clean_text(reason).strip()
    if not reason:
        raise Invalid({"reason": _("Say why the release is withdrawn.")})
    with transaction.atomic():
        history.advance(release, "withdraw", by=by, reason=reason)
        release.withdrawn_reason = reason
        release.save(update_fields=["withdrawn_reason"])
    return release


def import_release(*, folder: Path, by: User | None) -> ReleaseImport:
    """Take the files of a release into this system while it is empty; see `importing.import_release`."""
    _leads_only(by)
    return importing.import_release(folder, by=by)


def push_release(*, release: Release, repository: str, by: User | None) -> str:
    """Send a frozen release to a dataset repository of the Hugging Face Hub; returns the commit's address. See
    `pushing.push`."""
    _leads_only(by)
    address = pushing.push(release, repository)
    history.record("push_release", release, by=by, repository=repository, address=address)
    return address
