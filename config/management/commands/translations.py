from argparse import ArgumentParser
from typing import Any

from babel.messages.pofile import PoFileError
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.translations import catalogues, checking


class Command(BaseCommand):
    help = "Check the Chinese catalogues against the sources, add what is missing to them, or compile them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=["check", "update", "compile"])
        parser.add_argument("--quiet", action="store_true", help="check: no notes, faults only")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            {"check": self.check_all, "update": self.update_all, "compile": self.compile_all}[options["what"]](options)
        except (PoFileError, SyntaxError) as error:
            raise CommandError(str(error)) from error

    def check_all(self, options: dict[str, Any]) -> None:
        report = checking.check(settings.BASE_DIR)
        if not options["quiet"]:
            for note in report.notes:
                self.stdout.write(f"note: {note}")
        for fault in report.faults:
            self.stderr.write(str(fault))
        if report.faults:
            raise CommandError(f"{len(report.faults)} faults; `manage.py translations update` adds missing entries")
        self.stdout.write("Every string is translated.")

    def update_all(self, options: dict[str, Any]) -> None:
        added = checking.update(settings.BASE_DIR)
        for owner, count in sorted(added.items()):
            self.stdout.write(f"{owner}: {count} added")
        if not added:
            self.stdout.write("Nothing to add.")

    def compile_all(self, options: dict[str, Any]) -> None:
        self.stdout.write(f"{catalogues.compile_all(settings.BASE_DIR)} compiled.")
