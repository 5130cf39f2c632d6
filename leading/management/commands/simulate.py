from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leading.simulating import Simulation, Stuck


def positive(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ArgumentTypeError("0 or more")
    return number


class Command(BaseCommand):
    help = "Let simulated people and models take samples through every stage, by the actions that people use."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--samples", type=positive, required=True, help="samples to end accepted and labelled")
        parser.add_argument("--seed", type=int, required=True)
        parser.add_argument(
            "--fill",
            action="store_true",
            help="only accepted samples, over documents written for it: 300 fill every cell once, 1500 the benchmark",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from django.conf import settings  # noqa: PLC0415

        settings.LBP_SEND_MESSAGES = False  # the jobs run in this process
        try:
            simulation = Simulation(seed=options["seed"], say=self.stdout.write)
            made = simulation.fill(options["samples"]) if options["fill"] else simulation.run(options["samples"])
        except Stuck as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{len(made)} samples are accepted and labelled.")
        if not options["fill"]:
            self.stdout.write("Others wait at every stage.")
