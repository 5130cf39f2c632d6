"""`manage.py render_prompts FILE.json`: both prompts of a form's parts, and the findings."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.interchange import render_row


class Command(BaseCommand):
    help = (
        "Compute the two standardized prompts from {language, secondary_task, task_description, elements, "
        "supplementary, example, answer} and print {question_nonthinking, question_thinking, findings}. "
        "Exit 1 when a finding is an error, 2 when the file is no such object."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE.json")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            row = json.loads(options["file"].read_text(encoding="utf-8-sig"))
            rendered = render_row(row)
        except (OSError, ValueError) as fault:
            raise CommandError(str(fault), returncode=2) from fault
        self.stdout.write(json.dumps(rendered, ensure_ascii=False, indent=2))
        if any(finding["severity"] == "error" for finding in rendered["findings"]):
            raise SystemExit(1)
