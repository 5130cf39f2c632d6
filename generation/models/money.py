"""Sums of dollars in the database."""

from decimal import Decimal
from typing import Any

from django.db import models


class Dollars(models.DecimalField):
    """A DecimalField whose zero has no sign: what is released again can leave a -0.00000000 behind."""

    def from_db_value(self, value: Decimal | None, *context: Any) -> Decimal | None:
        return None if value is None else value + 0

    def deconstruct(self) -> Any:
        """In the database it is a plain DecimalField."""
        name, _path, args, keywords = super().deconstruct()
        return name, "django.db.models.DecimalField", args, keywords
