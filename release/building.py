"""Making a release: one snapshot of what is ready, then its files. It can be taken up again where it stopped."""

import json
import logging
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow
from celery import signature
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmark.metrics import default_embedder
from core import history
from core.jobs import hurry
from core.models import BenchmarkSettings
from core.refusals import Conflict, Refused, RuleBroken
from core.tasks import seal_trail
from documents.tokenizing import TOKENIZER_NAME
from release import formats
from release.collecting import Collected, collect
from release.exporting import write_files
from release.figures import Filled, Tally, Targets, unmet
from release.models import LeftOut, Release, ReleaseItem
from release.provenance import moment
from release.readiness import Report, cells_below, judge
from release.workflow import ReleaseState

logger = logging.getLogger(__name__)

TASK = "release.build_release"
# Renewed with every batch of samples written: whoever holds it longer without a sign of life has died.
LEASE = timedelta(minutes=3)
HELD = 1000


def stored_folder(release: Release) -> Path:
    """Where the files of a release lie for download. They can always be written again."""
    return Path(settings.MEDIA_ROOT) / "releases" / release.version


def unfinished() -> list[int]:
    """Releases being made that nobody is working on."""
    now = timezone.now()
    waiting = Release.objects.filter(state=ReleaseState.BUILDING).filter(Q(lease_until=None) | Q(lease_until__lt=now))
    return list(waiting.order_by("pk").values_list("pk", flat=True))


def work_off() -> int:
    """Make every release that waits, in this process. Returns how many were made or failed."""
    return sum(build(Release.objects.get(pk=pk)).state != ReleaseState.BUILDING for pk in unfinished())


def take_up_lost() -> int:
    """Send the worker to what no message reached or whose worker died."""
    lost = unfinished()
    for pk in lost:
        hurry(signature(TASK, args=(pk,), immutable=True))
    return len(lost)


def build(release: Release) -> Release:
    """Bring one release from `building` to `frozen`, or to `failed` with the reason. Does nothing in other states."""
    if not _take_lease(release):
        release.refresh_from_db()
        return release
    try:
        if not release.total:
            freeze(release)
        manifest = ensure_files(release)
        _finish(release, manifest)
    except Conflict:
        release.refresh_from_db()
    except Refused as refusal:
        _fail(release, str(refusal))
    except Exception as error:
        logger.exception("release %s could not be made", release.pk)
        _fail(release, _("A fault of the program: %(kind)s.") % {"kind": type(error).__name__})
    return release


def _take_lease(release: Release) -> bool:
    now = timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    taken = Release.objects.filter(free, pk=release.pk, state=ReleaseState.BUILDING).update(lease_until=now + LEASE)
    release.refresh_from_db()
    return bool(taken)


def _finish(release: Release, manifest: dict[str, Any]) -> None:
    with transaction.atomic():
        history.advance(release, "freeze", by=None, samples=release.total)
        release.manifest, release.progress, release.lease_until = manifest, release.total, None
        release.save(update_fields=["manifest", "progress", "lease_until"])
        hurry(seal_trail)


def _fail(release: Release, words: str) -> None:
    try:
        history.advance(release, "fail", by=None, reason=words, also={"error": words, "lease_until": None})
    except Conflict:
        logger.info("release %s was cancelled before it failed", release.pk)
    release.refresh_from_db()


def ensure_files(release: Release) -> dict[str, Any]:
    """The manifest of the stored files, which are written when they are not there, or are another database's."""
    folder = stored_folder(release)
    head = {name: release.manifest[name] for name in formats.MANIFEST_HEAD}
    if _stored_head(folder) == head:
        return {**head, "files": [formats.describe(folder / name) for name in formats.CONTENT_FILES]}
    shutil.rmtree(folder, ignore_errors=True)
    return write_files(release, folder, progress=lambda written: _note(release, written))


def _stored_head(folder: Path) -> dict[str, Any] | None:
    try:
        stored = json.loads((folder / formats.MANIFEST_FILE).read_bytes())
        return {name: stored[name] for name in formats.MANIFEST_HEAD}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _note(release: Release, written: int) -> None:
    """How far it is, and a longer lease. A release that nobody wants any more is not written on."""
    making = Release.objects.filter(pk=release.pk, state=ReleaseState.BUILDING)
    if release.state == ReleaseState.BUILDING and not making.update(
        progress=written, lease_until=timezone.now() + LEASE
    ):
        raise history.moved_on(release, Release.objects.values_list("state", flat=True).get(pk=release.pk))


# The snapshot ---------------------------------------------------------------------------------------------------


def freeze(release: Release) -> Release:
    """Freeze everything the files are made of, in one transaction, from what is read at one point in time.

    RuleBroken when nothing is ready, or when targets are unmet and the release was not allowed to be incomplete.
    """
    lengths = BenchmarkSettings.load().lengths
    targets = Targets.from_json(release.manifest["targets"])
    report = judge(collect(lengths, provenance=True), lengths, embedder=default_embedder())
    cells = report.balance(targets)
    refuse_empty(report)
    if not release.allow_incomplete:
        refuse_unmet(cells)
    ready = [verdict.collected for verdict in report.ready]
    statistics = _statistics(ready, targets, report)
    head = _head(release, report, statistics)
    with transaction.atomic():
        locked = Release.objects.select_for_update().get(pk=release.pk)
        if not locked.total:
            _store(locked, ready, report)
            Release.objects.filter(pk=release.pk).update(total=len(ready), statistics=statistics, manifest=head)
    release.refresh_from_db()
    return release


def refuse_empty(report: Report) -> None:
    if report.ready:
        return
    accepted = len(report.verdicts)
    if not accepted:
        words = _("No sample is accepted yet, so a release would be empty. Samples are released after answer review.")
    else:
        words = _(
            "%(accepted)d samples are accepted, but none can be released, so the release would be empty. The reasons:"
            " %(reasons)s."
        ) % {
            "accepted": accepted,
            "reasons": "; ".join(f"{row.group.label} ({row.failing})" for row in report.groups() if row.failing),
        }
    raise RuleBroken(words, rule="nothing_to_release", accepted=accepted)


def refuse_unmet(cells: list[Filled]) -> None:
    below = unmet(cells)
    if not below:
        return
    words = _(
        "%(below)d of %(cells)d cells hold fewer samples than their target; %(missing)d samples are missing. Allow an"
        " incomplete release, or fill them first."
    ) % {"below": len(below), "cells": len(cells), "missing": sum(filled.missing for filled in below)}
    raise RuleBroken(words, rule="targets_unmet", cells=cells_below(below))


def _statistics(ready: list[Collected], targets: Targets, report: Report) -> dict[str, Any]:
    tally = Tally(targets, report.lengths)
    for one in ready:
        tally.add(one.fields, one.provenance)
    return tally.statistics()


def _head(release: Release, report: Report, statistics: dict[str, Any]) -> dict[str, Any]:
    left_out = [
        {"id": verdict.collected.sample.public_id, "reasons": sorted({reason.check for reason in verdict.reasons})}
        for verdict in report.left_out
    ]
    return {
        "version": release.version,
        "made_at": moment(release.made_at),
        "schema_version": formats.SCHEMA_VERSION,
        "made_with": {"pyarrow": pyarrow.__version__},
        "lengths": formats.lengths_to_json(report.lengths),
        "tokenizer": TOKENIZER_NAME,
        "embedder": default_embedder().name,
        "targets": release.manifest["targets"],
        "complete": not statistics["balance"]["cells_below_target"],
        "counts": {
            "samples": statistics["samples"],
            "documents": statistics["documents"]["distinct"],
            "left_out": len(left_out),
        },
        "left_out": left_out,
    }


def _store(release: Release, ready: list[Collected], report: Report) -> None:
    ReleaseItem.objects.bulk_create(
        (
            ReleaseItem(
                release=release,
                position=position,
                sample=one.sample,
                document_version=one.sample.document_version,
                fields=one.fields,
                provenance=one.provenance,
            )
            for position, one in enumerate(ready, 1)
        ),
        batch_size=HELD,
    )
    LeftOut.objects.bulk_create(
        LeftOut(
            release=release,
            sample=verdict.collected.sample,
            reasons=[reason.to_json() for reason in verdict.reasons],
        )
        for verdict in report.left_out
    )
