"""manage.py import_documents PATH... [--language L] ... [--json]"""

import json
from argparse import ArgumentParser
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.refusals import Invalid
from documents import actions, decoding
from documents.actions import Facts, Report
from documents.unpacking import pieces_of_path


class Command(BaseCommand):
    help = "Bring documents in: files, folders, archives (zip, tar.gz) and JSONL. They wait for compliance afterwards."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
        parser.add_argument("--language", default="", help="English or Chinese; found from the script when left out")
        parser.add_argument("--domain", default="")
        parser.add_argument("--format", default="", dest="form")
        parser.add_argument("--multi", action="store_true", help="each text joins several documents")
        parser.add_argument("--licence", default="")
        parser.add_argument("--source-url", default="")
        parser.add_argument("--encoding", default="", help="the files' encoding, where it cannot be found")
        parser.add_argument(
            "--json",
            action="store_true",
            help="one object per line: path, status (accepted, flagged, refused), reason, id, tokens, bucket",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        facts = Facts(
            language=self._known_language(options["language"]),
            domain=options["domain"],
            format=options["form"],
            multi=options["multi"],
            licence=options["licence"],
            source_url=options["source_url"],
        )
        self._check_encoding(options["encoding"])
        pieces = chain.from_iterable(map(pieces_of_path, options["paths"]))
        seen: Counter[str] = Counter()
        for report in actions.import_pieces(pieces=pieces, by=None, facts=facts, encoding=options["encoding"]):
            seen[report.status] += 1
            self._say(options["json"], report)
            self._show_progress(seen)
        if self._has_terminal() and seen:
            self.stderr.write("")
        if seen["refused"]:
            raise SystemExit(1)

    def _has_terminal(self) -> bool:
        """Progress is for people who look on while the report itself goes elsewhere."""
        return self.stderr.isatty() and not self.stdout.isatty()

    def _show_progress(self, seen: Counter[str]) -> None:
        if self._has_terminal():
            counts = ", ".join(f"{seen[status]} {status}" for status in ("accepted", "flagged", "refused"))
            self.stderr.write(f"\r{seen.total()} texts: {counts}", ending="")

    def _known_language(self, name: str) -> str:
        if name.lower() not in actions.LANGUAGE_NAMES:
            raise CommandError("--language is English or Chinese.", returncode=2)
        return actions.LANGUAGE_NAMES[name.lower()]

    def _check_encoding(self, name: str) -> None:
        try:
            decoding.known_encoding(name)
        except Invalid as error:
            raise CommandError(f"--encoding: {error}", returncode=2) from None

    def _say(self, as_json: bool, report: Report) -> None:
        version = report.version
        if as_json:
            line = {
                "path": report.path,
                "status": report.status,
                "reason": report.reason,
                "id": version.document_id if version else None,
                "tokens": version.tokens if version else None,
                "bucket": (version.bucket or None) if version else None,
            }
            self.stdout.write(json.dumps(line, ensure_ascii=False))
            return
        measure = f"{version.tokens} tokens, {version.bucket or 'no bucket'}" if version else report.rule
        more = "; ".join(filter(None, [report.reason, *report.normalisation]))
        self.stdout.write(f"{report.status:8}  {report.path}  {measure}" + (f"  ({more})" if more else ""))
