"""The embedded broker: a message is there whole or not at all."""

import threading
from pathlib import Path
from queue import Empty

from kombu import Connection

from config import broker


def test_a_reader_in_a_hurry_never_meets_half_a_message(tmp_path: Path) -> None:
    options = {"data_folder_in": str(tmp_path), "data_folder_out": str(tmp_path), "control_folder": str(tmp_path)}
    wanted = 400
    received: list[int] = []
    with (
        Connection(f"{broker.ALIAS}://localhost", transport_options=options) as out,
        Connection(f"{broker.ALIAS}://localhost", transport_options=options) as back,
    ):
        sender, reader = out.default_channel, back.default_channel

        def send() -> None:
            for number in range(wanted):
                sender._put("jobs", {"number": number, "filling": "x" * 4000})

        thread = threading.Thread(target=send)
        thread.start()
        while thread.is_alive() or len(received) < wanted:
            try:
                received.append(reader._get("jobs")["number"])
            except Empty:
                if not thread.is_alive() and not list(tmp_path.glob("*.jobs.msg")):
                    break
        thread.join()
    assert sorted(received) == list(range(wanted))
    assert not list(tmp_path.glob("*.part"))
