"""Check a release's files alone."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from release.verifying import verify


class Command(BaseCommand):
    help = "Check every checksum, the schema and every rule of a release on its files alone; no database is used."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="DIR")

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        faults = verify(folder)
        for fault in faults:
            self.stdout.write(str(fault))
        if faults:
            self.stderr.write(f"{len(faults)} faults.")
            sys.exit(1)
        self.stdout.write(f"{folder} is a sound release.")
