"""Freeze a release and write its files."""

import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.refusals import Refused
from release import building
from release.actions import make_release
from release.exporting import refuse_filled, write_files
from release.models import Release
from release.queries import left_out_of
from release.readiness import Reason
from release.workflow import ReleaseState

# Longer than the lease of a worker that died, after which the making goes on here.
WAIT_SECONDS = 1800


class Command(BaseCommand):
    help = (
        "Freeze the accepted, labelled samples as VERSION and write the files into DIR. Prints what was left out and"
        " why. A version that is frozen already is written again, byte for byte."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the release: letters, digits, dots, underscores, hyphens")
        parser.add_argument("--out", type=Path, metavar="DIR", help="an absent or empty folder for the files")
        parser.add_argument(
            "--allow-incomplete", action="store_true", help="also when cells hold fewer samples than their target"
        )

    def handle(self, *args: Any, version: str, out: Path | None, allow_incomplete: bool, **options: Any) -> None:
        try:
            self._release(version, out, allow_incomplete)
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=1) from refusal

    def _release(self, version: str, out: Path | None, allow_incomplete: bool) -> None:
        if out is not None:
            refuse_filled(out.absolute())
        release = Release.objects.filter(version=version).first()
        if release is None:
            release = make_release(version=version, by=None, allow_incomplete=allow_incomplete)
        elif release.state in {ReleaseState.FROZEN, ReleaseState.WITHDRAWN}:
            self.stdout.write(f"{version} is frozen already; its files are written again.")
        self._refuse_unfinished(self._built(release))
        if release.state == ReleaseState.WITHDRAWN:
            self.stderr.write(f"{version} was withdrawn: {release.withdrawn_reason}")
        folder = out if out is not None else building.stored_folder(release)
        if out is not None:
            write_files(release, out)
        else:
            building.ensure_files(release)
        self._report(release, folder)

    def _built(self, release: Release) -> Release:
        """Make it here, or wait while the running product's worker, who was faster, makes it."""
        building.build(release)
        for _second in range(WAIT_SECONDS):
            if release.state != ReleaseState.BUILDING:
                break
            time.sleep(1)
            building.build(release)
        return release

    def _refuse_unfinished(self, release: Release) -> None:
        if release.state == ReleaseState.FAILED:
            raise CommandError(f"{release.version} could not be made: {release.error}", returncode=1)
        if release.state == ReleaseState.CANCELLED:
            raise CommandError(f"{release.version} was cancelled. A lead can try it again on its page.", returncode=1)
        if release.state == ReleaseState.BUILDING:
            raise CommandError(
                f"{release.version} is still being made by another process. Run the command again to write its files.",
                returncode=1,
            )

    def _report(self, release: Release, folder: Path) -> None:
        left_out = list(left_out_of(release))
        for row in left_out:
            for reason in row.reasons:
                why = Reason.from_json(reason).message
                self.stdout.write(f"left out: {row.sample.label} ({row.sample.public_id}): {why}")
        for name, values in release.statistics["without_samples"].items():
            if values:
                self.stdout.write(f"warning: no sample has {name} {', '.join(values)}")
        if not release.manifest["complete"]:
            balance = release.statistics["balance"]
            short = f"{balance['cells_below_target']} of {balance['cells']}"
            self.stdout.write(f"warning: incomplete, {short} cells hold fewer samples than their target")
        self.stdout.write(f"{release.version}: {release.total} samples, {len(left_out)} left out, written to {folder}")
