import sys
from typing import Any

from django.core.management.base import BaseCommand

from leading import invariants


class Command(BaseCommand):
    help = "Ask the database whether the ten invariants hold. Prints violations; exit 1 if there is any."

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        for violation in invariants.violations():
            found += 1
            self.stdout.write(f"invariant {violation.invariant}: {violation.record} {violation.words}")
        self.stdout.write(f"{found} violations of {len(invariants.CHECKS)} invariants")
        if found:
            sys.exit(1)
