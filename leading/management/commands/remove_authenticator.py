from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.models import User
from core.refusals import Refused
from leading import actions


class Command(BaseCommand):
    help = "Remove a person's lost authenticator and recovery codes: for the only lead, whom no other lead can help."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the person's user name")

    def handle(self, *args: Any, **options: Any) -> None:
        person = User.objects.filter(username=options["name"]).first()
        if person is None:
            raise CommandError(f"there is nobody called {options['name']}")
        try:
            actions.remove_authenticator(person=person, by=None)
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"{person.username} signs in with the password alone, and sets up a new authenticator.")
