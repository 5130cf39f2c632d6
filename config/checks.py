"""Checks of a deployment that Django cannot know of (`manage.py check --deploy`)."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register
from redis import Redis, RedisError

SECONDS = 3.0


@register(deploy=True)
def redis_keeps_what_it_is_given(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A Redis that evicts keys drops queued messages. Rows are taken up again, but late."""
    if not settings.REDIS_URL:
        return []
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=SECONDS, socket_connect_timeout=SECONDS) as redis:
            policy = redis.config_get("maxmemory-policy").get("maxmemory-policy")
    except RedisError as error:
        return [Warning(f"Redis did not tell its policy ({type(error).__name__}).", id="config.W001")]
    if policy != "noeviction":
        return [Warning(f"Redis has maxmemory-policy {policy}; it must be noeviction.", id="config.W002")]
    return []
