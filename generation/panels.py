"""The panels of models as data: the real one and the simulated one, loaded once and edited by leads afterwards."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from generation import demo
from generation.llm import (
    COMPATIBLE_PROVIDERS,
    DEMO,
    KNOWN_PROVIDERS,
    address_fault,
    is_key_variable,
    provider_of,
)
from generation.models import LanguageModel
from generation.workflow import Kind

# Below it a thinking model spends its whole output on thoughts.
LEAST_THINKING_OUTPUT = 4096
MOST_TOKENS = 1_000_000_000
COOLEST_THINKING = 0.5

FILES = {"real": "models.json", "demo": "demo_models.json"}


def ensure_panel(name: str) -> None:
    """Load the models of a panel that are not there yet; what a lead has changed stays as it is."""
    entries = json.loads((Path(__file__).parent / "data" / FILES[name]).read_text(encoding="utf-8"))["models"]
    for position, entry in enumerate(entries):
        LanguageModel.objects.get_or_create(name=entry["name"], defaults=_fields(name, position, entry))


def key_variable_for(litellm_id: str) -> str:
    """The variable that holds a provider's key by default, such as LBP_KEY_GEMINI."""
    provider = provider_of(litellm_id)
    return "" if provider == DEMO else f"{settings.LBP_KEY_PREFIX}{provider.upper()}"


def _fields(panel: str, position: int, entry: dict[str, Any]) -> dict[str, Any]:
    limits, price = entry["max_output_tokens"], entry.get("usd_per_million_tokens") or {}
    return {
        "panel": panel,
        "tier": entry["tier"],
        "drafting": entry["drafting"],
        "kind": entry["kind"],
        "litellm_id": entry["litellm_id"],
        "key_variable": key_variable_for(entry["litellm_id"]),
        "context_tokens": entry["context_tokens"],
        "truncate_input_to_tokens": entry["truncate_input_to_tokens"],
        "max_output_nonthinking": limits["non_thinking"],
        "max_output_thinking": limits["thinking"],
        "temperature": entry["temperature"],
        "usd_per_million_input": _price(price.get("input")),
        "usd_per_million_output": _price(price.get("output")),
        "price_read_on": date.fromisoformat(price["read_on"]) if price.get("read_on") else None,
        "note": entry.get("note", ""),
        "position": position,
    }


def _price(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(str(value))


# --- what a lead may set ---------------------------------------------------------------------------------------------


def faults_of(model: LanguageModel) -> dict[str, str]:
    """What would be refused, or paid for nothing, if this model were asked: a message for each field."""
    faults = _address_faults(model) | _thinking_faults(model)
    for name in ("context_tokens", "truncate_input_to_tokens", "max_output_nonthinking", "max_output_thinking"):
        tokens = getattr(model, name)
        if tokens is not None and not 1 <= tokens <= MOST_TOKENS:
            faults[name] = _("A number of tokens is a whole number from 1 up.")
    if model.truncate_input_to_tokens > model.context_tokens:
        faults["truncate_input_to_tokens"] = _("The input is longer than the model's context.")
    for name in ("usd_per_million_input", "usd_per_million_output", "usd_per_million_cached"):
        price = getattr(model, name)
        if price is not None and price < 0:
            faults[name] = _("A price is not negative.")
    if model.temperature is not None and not 0 <= model.temperature <= 2:
        faults["temperature"] = _("A temperature lies between 0 and 2.")
    return faults


def _address_faults(model: LanguageModel) -> dict[str, str]:
    provider, faults = provider_of(model.litellm_id), {}
    if provider == DEMO:
        known = model.litellm_id in demo.NAMES
        return {} if known else {"litellm_id": _("There is no simulated model of this name.")}
    if provider not in KNOWN_PROVIDERS | COMPATIBLE_PROVIDERS:
        known_names = ", ".join(sorted(KNOWN_PROVIDERS | COMPATIBLE_PROVIDERS))
        faults["litellm_id"] = _("The id begins with one of these providers: %(names)s.") % {"names": known_names}
    elif not model.litellm_id.rpartition("/")[2].strip():
        faults["litellm_id"] = _("Name the model after the provider, such as openai/NAME.")
    if model.api_base and address_fault(model.api_base) == "not_an_address":
        faults["api_base"] = _("This is not an address such as https://host/v1.")
    elif model.api_base and address_fault(model.api_base):
        faults["api_base"] = _("This host is not on the operator's list (LBP_MODEL_HOSTS).")
    elif not model.api_base and provider in COMPATIBLE_PROVIDERS:
        faults["api_base"] = _("This provider needs an address.")
    if model.key_variable and not is_key_variable(model.key_variable):
        faults["key_variable"] = _("A key's variable begins with %(prefix)s and has capitals, digits and _ only.") % {
            "prefix": settings.LBP_KEY_PREFIX
        }
    return faults


def _thinks_at_one_temperature(model: LanguageModel) -> bool:
    """Anthropic's models, and OpenAI's own; what stands at an address of its own is another's."""
    provider = provider_of(model.litellm_id)
    return provider == "anthropic" or (provider == "openai" and not model.api_base)


def _thinking_faults(model: LanguageModel) -> dict[str, str]:
    """Thinking refuses, or is spoilt by, a low temperature and a small output limit: said before money is spent."""
    faults: dict[str, str] = {}
    if model.kind == Kind.INSTRUCT:
        return faults
    if model.temperature is not None and model.temperature < COOLEST_THINKING:
        faults["temperature"] = _("A thinking model needs a temperature of 0.5 or more, or none.")
    if _thinks_at_one_temperature(model) and model.temperature not in (None, 1.0):
        faults["temperature"] = _("With thinking on, this provider takes a temperature of 1 only, or none.")
    if model.max_output_thinking is not None and model.max_output_thinking < LEAST_THINKING_OUTPUT:
        faults["max_output_thinking"] = _("A thinking model needs room for at least 4,096 tokens of output.")
    return faults
