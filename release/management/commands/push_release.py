"""Send a frozen release to the Hugging Face Hub."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.refusals import Refused
from release.actions import push_release
from release.models import Release


class Command(BaseCommand):
    help = (
        "Send the files of the frozen release VERSION to the dataset repository OWNER/NAME of the Hugging Face Hub, as"
        " one commit tagged with the version. The repository is made, private, when it is absent. HF_TOKEN holds the"
        " token."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version")
        parser.add_argument("repository", metavar="OWNER/NAME")

    def handle(self, *args: Any, version: str, repository: str, **options: Any) -> None:
        release = Release.objects.filter(version=version).first()
        if release is None:
            raise CommandError(f"There is no release {version}.", returncode=1)
        try:
            address = push_release(release=release, repository=repository, by=None)
        except Refused as refusal:
            raise CommandError(str(refusal), returncode=1) from refusal
        self.stdout.write(f"{version} is at {address}")
