from typing import Any

from django.core.management.base import BaseCommand

from config.preparing import prepare


class Command(BaseCommand):
    help = "Compile the translations and bring the database up to date."

    def handle(self, *args: Any, **options: Any) -> None:
        prepare()
        self.stdout.write("Prepared.")
