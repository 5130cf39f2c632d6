"""The embedded broker: kombu's folder of messages, with each message put there in one step.

kombu opens a message's file under its final name and then writes it. A worker that looks every tenth of a second
sometimes reads it in between: an empty message, upon which Celery ends the whole worker.
"""

import os
import uuid
from time import monotonic
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.encoding import str_to_bytes
from kombu.utils.json import dumps

ALIAS = "folder"


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        path = os.path.join(self.data_folder_out, name)
        unfinished = f"{path}.part"
        try:
            with open(unfinished, "wb") as file:
                file.write(str_to_bytes(dumps(payload)))
            os.replace(unfinished, path)
        except OSError as error:
            raise filesystem.ChannelError(f"Cannot add a message to {self.data_folder_out}") from error


class Transport(filesystem.Transport):
    Channel = Channel


TRANSPORT_ALIASES[ALIAS] = f"{__name__}:Transport"
