from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.tasks import seconds_since_pulse


class Command(BaseCommand):
    help = "Tell whether the worker takes up messages (the health check of docker-compose.yml). Exit 1 when not."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--within", type=float, default=300.0, metavar="SECONDS", help="default: %(default)s")

    def handle(self, *args: Any, **options: Any) -> None:
        age = seconds_since_pulse()
        if age is None:
            raise CommandError("No worker has taken up a message yet.")
        if age > options["within"]:
            raise CommandError(f"The last message was taken up {age:.0f} s ago.")
        self.stdout.write(f"The last message was taken up {age:.0f} s ago.")
