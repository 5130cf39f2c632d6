import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core import sealing
from core.models import TrailSeal


class Command(BaseCommand):
    help = (
        "Hold the audit trail against its seals. Names every line that was changed, removed, inserted or reordered, "
        "and every seal that does not hold; exit 1 if there is any."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", type=Path, help="an exported file (JSONL) instead of the trail itself")
        parser.add_argument("--filtered", action="store_true", help="the file holds only some of the lines")
        parser.add_argument("--seal", default="", metavar="DIGEST", help="noted earlier: it must still be there")

    def handle(self, *args: Any, **options: Any) -> None:
        lines = _read(options["file"]) if options["file"] else None
        found = 0
        for fault in sealing.verify(lines, whole=not options["filtered"]):
            found += 1
            self.stdout.write(str(fault))
        if options["seal"] and not TrailSeal.objects.filter(digest=options["seal"]).exists():
            found += 1
            self.stdout.write(f"seal {options['seal']}: seal_missing")
        newest = TrailSeal.objects.order_by("-number").first()
        self.stdout.write(f"{found} faults; {sealing.unsealed()} lines are not sealed yet")
        if newest:
            self.stdout.write(f"newest seal {newest.number}, to line {newest.last_id}: {newest.digest}")
        if found:
            sys.exit(1)


def _read(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                try:
                    line = json.loads(text)
                    yield {name: line[name] for name in sealing.FIELDS}
                except (ValueError, KeyError, TypeError) as error:
                    raise CommandError(f"line {number} of the file is not a line of the trail", returncode=2) from error
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", returncode=2) from error
