"""Settings of a worker whose broker gives a message out again after 5 s, as if the worker were gone (T-52)."""

from config.settings.development import *  # noqa: F403
from config.settings.development import CELERY_BROKER_TRANSPORT_OPTIONS as OPTIONS

CELERY_BROKER_TRANSPORT_OPTIONS = {**OPTIONS, "visibility_timeout": 5}
