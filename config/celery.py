"""The Celery application. A message carries an id and nothing else; the row it names is the truth."""

import os
from pathlib import Path

from celery import Celery
from django.conf import settings

from config import broker  # noqa: F401 -- names the embedded broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.development")

app = Celery("longbench_pro")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def prepare_embedded_broker() -> None:
    """Make the folders of the embedded broker, which it does not make itself."""
    for name in ("data_folder_in", "control_folder"):
        folder = str(settings.CELERY_BROKER_TRANSPORT_OPTIONS.get(name, ""))
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)


@app.on_after_configure.connect
def _folders(sender: Celery, **kwargs: object) -> None:
    prepare_embedded_broker()
