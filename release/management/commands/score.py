"""Score replies by the benchmark's metrics."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmark.interchange import BadRow, score_row
from benchmark.metrics import default_embedder


class Command(BaseCommand):
    help = (
        "Each line of FILE is an object {secondary_task or metric, language, answer, prediction}; it is printed again"
        " with `score` added. A line that cannot be scored is named, and the exit status is 1."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.jsonl")
        parser.add_argument(
            "--public", action="store_true", help="score summaries as the public evaluator does, identifier included"
        )

    def handle(self, *args: Any, file: Path, public: bool, **options: Any) -> None:
        refused = 0
        for number, line in lines_of(file):
            try:
                row = score_row(json.loads(line), public=public, embedder=default_embedder())
            except (BadRow, ValueError, RecursionError) as fault:
                words = str(fault) if isinstance(fault, BadRow) else "This is not JSON."
                self.stderr.write(f"line {number}: {words}")
                refused += 1
                continue
            self.stdout.write(json.dumps(row, ensure_ascii=False))
        if refused:
            sys.exit(1)


def lines_of(file: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    try:
        with file.open(encoding="utf-8-sig", newline="\n") as opened:
            for number, line in enumerate(opened, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}", returncode=2) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not UTF-8: {error.reason} at byte {error.start}.", returncode=1) from error
