from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.refusals import Invalid
from core.workflow import Role
from leading import actions


class Command(BaseCommand):
    help = "Add a person. Prints the password once when none is given."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the user name to sign in with")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--email", default="")
        parser.add_argument(
            "--languages", nargs="*", default=[], help="of their work, such as English; all if left out"
        )
        parser.add_argument("--tasks", nargs="*", default=[], help="secondary tasks by code or name; all if left out")
        parser.add_argument("--password", default="", help="made up and printed once when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person, password = actions.add_person(
                name=options["name"],
                role=options["role"],
                email=options["email"],
                password=options["password"],
                languages=options["languages"],
                tasks=options["tasks"],
                by=None,
            )
        except Invalid as refusal:
            lines = [f"{field}: {word}" for field, words in refusal.errors.items() for word in words]
            raise CommandError("\n".join(lines)) from refusal
        self.stdout.write(f"{person.username} is now {person.role}.")
        if not options["password"]:
            self.stdout.write(f"Password, shown this once: {password}")
