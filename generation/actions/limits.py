"""What may be sent and spent: limits per provider, the budget of a run, the budget of all calls together."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from core import history
from core.models import User
from core.refusals import Conflict, Invalid, NotAllowed, RuleBroken
from generation.budgeting import budget_fault, spending
from generation.models import ProviderLimit, Run, Spending
from generation.models.panels import PROVIDER_LENGTH
from generation.queries import known_providers

MOST = 2_000_000_000


def can_set_limits(user: User) -> bool:
    return user.is_lead


def set_provider_limit(
    *,
    provider: str,
    version: int,
    by: User,
    calls_in_flight: int | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
) -> ProviderLimit:
    """What one provider is asked at once and in any minute, from the next call on. `provider` as
    `LanguageModel.provider` names it; `version` 0 for one that has no limits yet. None: no limit."""
    _leads_only(by)
    limits = {
        "calls_in_flight": calls_in_flight,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
    }
    _check_limits(provider, limits)
    with transaction.atomic():
        held, _made = ProviderLimit.objects.get_or_create(provider=provider, defaults={"version": 0})
        held = ProviderLimit.objects.select_for_update().get(pk=held.pk)
        if held.version != version:
            raise _stale()
        changed = {name: [getattr(held, name), value] for name, value in limits.items() if getattr(held, name) != value}
        for name, value in limits.items():
            setattr(held, name, value)
        held.version += 1
        held.save()
        history.record("set_provider_limit", held, by=by, provider=provider, changed=changed)
    return held


def remove_provider_limit(*, provider: str, by: User, version: int | None = None) -> None:
    """From the next call on the provider is asked without limits. `version`: the one that was read, where one was."""
    _leads_only(by)
    with transaction.atomic():
        held = ProviderLimit.objects.select_for_update().filter(provider=provider).first()
        if held is None:
            raise RuleBroken(_("This provider has no limits."), rule="no_limits")
        if version is not None and held.version != version:
            raise _stale()
        history.record("remove_provider_limit", held, by=by, provider=provider)
        held.delete()


def _check_limits(provider: str, limits: dict[str, int | None]) -> None:
    errors = {
        name: _("A limit is a whole number from 1 up; leave it empty for none.")
        for name, value in limits.items()
        if value is not None and not 1 <= value <= MOST
    }
    known = known_providers()
    if not provider.strip() or len(provider) > PROVIDER_LENGTH:
        errors["provider"] = _("Name a provider.")
    elif provider not in known and not ProviderLimit.objects.filter(provider=provider).exists():
        errors["provider"] = _("No model is reached at a provider of this name. Known are: %(names)s.") % {
            "names": ", ".join(known) or "–"
        }
    if errors:
        raise Invalid(errors)


def set_budget(*, by: User, budget_usd: Decimal | None, version: int) -> Spending:
    """What all calls together may cost, from the next call on; None: no budget. Calls that it has refused are sent
    again when a lead says so (`retry_calls`)."""
    _leads_only(by)
    _check(budget_usd)
    with transaction.atomic():
        held = Spending.objects.select_for_update().get(pk=spending().pk)
        if held.version != version:
            raise _stale()
        before, held.budget_usd = held.budget_usd, budget_usd
        held.version += 1
        held.save(update_fields=["budget_usd", "version"])
        history.record("set_budget", held, by=by, changed={"budget_usd": [_plain(before), _plain(budget_usd)]})
    return held


def set_run_budget(*, run: Run, by: User, budget_usd: Decimal | None) -> Run:
    """What the calls of one run may cost together, what they have cost so far included; None: no budget of its own."""
    _leads_only(by)
    _check(budget_usd)
    with transaction.atomic():
        before = Run.objects.select_for_update().values_list("budget_usd", flat=True).get(pk=run.pk)
        Run.objects.filter(pk=run.pk).update(budget_usd=budget_usd)
        history.record("set_run_budget", run, by=by, changed={"budget_usd": [_plain(before), _plain(budget_usd)]})
    run.budget_usd = budget_usd
    return run


def _leads_only(by: User) -> None:
    if not can_set_limits(by):
        raise NotAllowed(_("Only a lead sets limits and budgets."))


def _check(budget_usd: Decimal | None) -> None:
    if fault := budget_fault(budget_usd):
        raise Invalid({"budget_usd": fault})


def _stale() -> Conflict:
    return Conflict(_("Somebody else changed this meanwhile. Compare before you save."), rule="stale_version")


def _plain(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)
