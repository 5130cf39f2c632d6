"""The panels of models as data: the real one and the simulated one, loaded once and edited by leads afterwards."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

from generation.llm import DEMO, provider_of
from generation.models import LanguageModel

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
