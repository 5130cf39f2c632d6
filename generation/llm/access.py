"""What may be reached, and with which key: the operator decides, never a lead alone, and no library."""

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings

from generation.llm.failures import Failure, FailureKind
from generation.llm.terms import Request

KEY_NAME = re.compile(r"^[A-Z][A-Z0-9_]{0,79}$")

# Where each is reached when a lead gives no address; nothing leaves for another host, whatever the library or the
# machine's variables say. Providers that find credentials by themselves (cloud accounts) are left out on purpose.
HOSTS: Mapping[str, str] = {
    "anthropic": "api.anthropic.com",
    "deepinfra": "api.deepinfra.com",
    "deepseek": "api.deepseek.com",
    "fireworks_ai": "api.fireworks.ai",
    "gemini": "generativelanguage.googleapis.com",
    "minimax": "api.minimax.io",
    "mistral": "api.mistral.ai",
    "nebius": "api.studio.nebius.ai",
    "novita": "api.novita.ai",
    "openai": "api.openai.com",
    "vercel_ai_gateway": "ai-gateway.vercel.sh",
    "zai": "api.z.ai",
}
KNOWN_PROVIDERS = frozenset(HOSTS)
# Servers with the same interface as OpenAI's; they live at an address of the operator's list.
COMPATIBLE_PROVIDERS = frozenset({"hosted_vllm"})
DEMO = "demo"


def address_fault(api_base: str) -> str:
    """Why this address may not be used; empty when it may. Only the operator's list decides."""
    try:
        parts = urlsplit(api_base)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "not_an_address"
    if parts.scheme not in {"http", "https"} or not host or parts.username or parts.password:
        return "not_an_address"
    allowed = {entry.strip().lower() for entry in settings.LBP_MODEL_HOSTS}
    return "" if host in allowed or f"{host}:{port}" in allowed else "host_not_allowed"


def host_of(request: Request) -> str:
    """The only host that the request may leave for."""
    if request.api_base:
        return (urlsplit(request.api_base).hostname or "").lower()
    return HOSTS.get(request.provider, "")


def is_key_variable(name: str) -> bool:
    return bool(KEY_NAME.match(name)) and name.startswith(settings.LBP_KEY_PREFIX) and name != settings.LBP_KEY_PREFIX


def key_for(request: Request) -> str:
    """The key to send, after everything that can be refused before a request was refused."""
    if request.provider == DEMO:
        return "none"
    if request.provider not in KNOWN_PROVIDERS | COMPATIBLE_PROVIDERS:
        raise Failure(FailureKind.NOT_SENT, words="This provider is not on the list.")
    if not request.api_base and request.provider in COMPATIBLE_PROVIDERS:
        raise Failure(FailureKind.NOT_SENT, words="This provider needs an address.")
    if request.api_base and address_fault(request.api_base):
        raise Failure(FailureKind.NOT_SENT, words="The address is not on the operator's list (LBP_MODEL_HOSTS).")
    if not request.key_variable:
        # A word of our own, or LiteLLM would look for a key of this machine and send that.
        return "no-key"
    if not is_key_variable(request.key_variable):
        raise Failure(FailureKind.NOT_SENT, words=f"The key's variable must begin with {settings.LBP_KEY_PREFIX}.")
    key = os.environ.get(request.key_variable, "")
    if not key:
        raise Failure(FailureKind.AUTH, words=f"The variable {request.key_variable} is not set; nothing was sent.")
    return key
