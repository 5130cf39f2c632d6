#!/usr/bin/env python
"""Django's command line for the LongBench Pro workbench."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")
    from django.core.management import execute_from_command_line  # noqa: PLC0415 -- Django is absent until set-up

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
