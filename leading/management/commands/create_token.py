from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.authentication import issue_token
from core.models import User
from core.workflow import Scope


class Command(BaseCommand):
    help = "Make an API token for a person and print it, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the person's user name")
        parser.add_argument("--scope", choices=Scope.values, default=Scope.READ.value)
        parser.add_argument("--days", type=int, default=90, help="days until it expires (default: 90)")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["name"], is_active=True).first()
        if person is None:
            raise CommandError(f"there is no active person called {options['name']}")
        if not 1 <= options["days"] <= 3650:
            raise CommandError("--days is 1 to 3650")
        _token, text = issue_token(
            person=person, name="from the command line", scope=options["scope"], days=options["days"], by=None
        )
        self.stdout.write(text)
