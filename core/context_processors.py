"""What the shell shows on every page."""

import secrets
from typing import Any

from django.conf import settings
from django.http import HttpRequest


def shell(request: HttpRequest) -> dict[str, Any]:
    return {
        "demo": getattr(settings, "LBP_DEMO", False),
        "simulated_models": settings.LBP_PANEL == "demo",
        # One value per rendered page: a form that carries it has one effect however often it is sent.
        "once": secrets.token_urlsafe(12),
    }
