"""Take a release's files into an empty system."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.models import User
from core.refusals import Refused
from release.actions import import_release


class Command(BaseCommand):
    help = (
        "Take the release in DIR into this system, which must hold no documents, samples or releases. Its samples can"
        " then be released again to the same JSON, JSONL and Parquet. All of it is taken or nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")
        parser.add_argument("--by", metavar="NAME", help="the lead in whose name it is imported; otherwise nobody's")

    def handle(self, *args: Any, folder: Path, by: str | None, **options: Any) -> None:
        person = User.objects.filter(username=by).first() if by else None
        if by and person is None:
            raise CommandError(f"There is nobody named {by} here.", returncode=1)
        try:
            made = import_release(folder=folder, by=person)
        except Refused as refusal:
            for fault in refusal.details.get("faults", ()):
                self.stdout.write(fault)
            raise CommandError(str(refusal), returncode=1) from refusal
        self.stdout.write(f"{made.version}: {made.samples.count()} samples imported, manifest {made.manifest_sha256}")
