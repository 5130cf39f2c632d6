"""manage.py count_tokens FILE... [--json]"""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from core.models import BenchmarkSettings
from core.refusals import Refused
from documents import extracting, wording
from documents.tokenizing import count_tokens


class Command(BaseCommand):
    help = "Count the Qwen3 tokens of files, and name the bucket or the distance to the nearest two."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--encoding", default="", help="the files' encoding, where it cannot be found")
        parser.add_argument("--json", action="store_true", help="one object per line: path, tokens, bucket")

    def handle(self, *args: Any, **options: Any) -> None:
        lengths = BenchmarkSettings.load().lengths
        refused = False
        for path in options["files"]:
            try:
                text, _encoding, _counts = extracting.read_file(
                    path.read_bytes(), file_name=path.name, encoding=options["encoding"]
                )
            except (OSError, Refused) as error:
                refused = True
                reason = (error.strerror or "") if isinstance(error, OSError) else str(error)
                self._say(options["json"], {"path": str(path), "tokens": None, "bucket": None, "reason": reason})
                continue
            tokens = count_tokens(text)
            bucket = lengths.bucket_of(tokens)
            line: dict[str, Any] = {"path": str(path), "tokens": tokens, "bucket": bucket}
            if bucket is None:
                line["reason"] = wording.distance_in_words(tokens, lengths)
            self._say(options["json"], line)
        if refused:
            raise SystemExit(1)

    def _say(self, as_json: bool, line: dict[str, Any]) -> None:
        if as_json:
            self.stdout.write(json.dumps(line, ensure_ascii=False))
        elif line["tokens"] is None:
            self.stderr.write(f"{line['path']}: {line['reason']}")
        else:
            self.stdout.write(
                f"{line['tokens']:>9}  {line['bucket'] or '-':>5}  {line['path']}  {line.get('reason', '')}"
            )
