"""How often a program may ask: so many requests in a minute, counted for each token and for each signed-in person.

Comfort, not security: what may be spent and done is bounded where it is spent and done. So a cache that cannot be
reached stops nobody, and two requests at the border of a minute may both be the last one.
"""

import logging
import math
from time import time as clock
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache
from django.utils.translation import ngettext
from rest_framework.exceptions import ErrorDetail, Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from core.models import ApiToken

if TYPE_CHECKING:
    # It imports this module, to know what requests are counted by.
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

WINDOW_SECONDS = 60


class TooMany(Throttled):
    """429 with Retry-After; `wait` are the seconds until the next minute begins."""

    default_code = "too_many_requests"

    def __init__(self, limit: int, wait: int) -> None:
        super().__init__(wait)
        words = ngettext(
            "More than %(limit)s requests in one minute. Send it again in %(wait)s second.",
            "More than %(limit)s requests in one minute. Send it again in %(wait)s seconds.",
            wait,
        )
        self.detail = ErrorDetail(words % {"limit": limit, "wait": wait}, self.default_code)


class PerCaller(BaseThrottle):
    def allow_request(self, request: Request, view: "APIView") -> bool:
        limit: int = settings.LBP_API_REQUESTS_PER_MINUTE
        if not limit:
            return True
        now = clock()
        window = int(now // WINDOW_SECONDS)
        if _counted(f"api-rate:{self._caller(request)}:{window}") > limit:
            raise TooMany(limit, max(1, math.ceil((window + 1) * WINDOW_SECONDS - now)))
        return True

    def _caller(self, request: Request) -> str:
        """Each token by itself: one program that runs wild does not lock out its owner, nor their other programs."""
        if isinstance(request.auth, ApiToken):
            return f"token-{request.auth.pk}"
        if request.user and request.user.is_authenticated:
            return f"person-{request.user.pk}"
        return f"address-{self.get_ident(request)}"


def _counted(key: str) -> int:
    """How many there were with this one."""
    try:
        if cache.add(key, 1, timeout=2 * WINDOW_SECONDS):
            return 1
        return int(cache.incr(key))
    except ValueError:  # it went out of the cache between the two
        return 1
    except Exception as error:
        logger.warning("requests are not counted: the cache does not answer (%s)", type(error).__name__)
        return 0
