"""What all calls together may cost."""

from decimal import Decimal

from django.db import models
from django.db.models import Q

from generation.models.money import Dollars


class Spending(models.Model):
    """One row. `spent_usd` is what all calls have cost, `reserved_usd` the most that those now out can still cost;
    both move with the calls, in the same transactions. Nothing is sent that would take their sum beyond `budget_usd`.
    """

    budget_usd = Dollars(max_digits=14, decimal_places=4, null=True, blank=True)
    spent_usd = Dollars(max_digits=20, decimal_places=8, default=Decimal(0))
    reserved_usd = Dollars(max_digits=20, decimal_places=8, default=Decimal(0))
    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="spending_is_one_row")]

    def __str__(self) -> str:
        return "spending"
