"""A panel of models that live on a local server, over the wire."""

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from generation import settling
from generation.models import LanguageModel
from tests.factories import make_model
from tests.fakes.openai_server import OpenAIServer

KEY = "sk-canary-key-7f3a9d"


@pytest.fixture
def server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        settings.LBP_MODEL_HOSTS = [server.host]
        settings.LBP_PANEL = "real"
        settings.LBP_CALL_DEADLINE_SECONDS = 10.0
        settings.LBP_CALL_ATTEMPTS = 3
        monkeypatch.setattr(settling, "FIRST_WAIT_SECONDS", 0.01)
        monkeypatch.setenv("LBP_KEY_LOCAL", KEY)
        yield server


def model_at(server: OpenAIServer, name: str = "alpha", **more: Any) -> LanguageModel:
    """A priced model of the real panel behind the local server."""
    given: dict[str, Any] = {
        "panel": "real",
        "litellm_id": f"openai/{name}",
        "api_base": server.address,
        "key_variable": "LBP_KEY_LOCAL",
        "usd_per_million_input": "1.25",
        "usd_per_million_output": "10",
    }
    made = make_model(name, **{**given, **more})
    made.refresh_from_db()
    return made
