"""Where the calls of one provider leave, a few at a time and in order. One of them waits for what has to be waited for;
the others wait behind it. The database is asked again when something has changed, or after 2 s."""

import asyncio
import time
from collections import defaultdict
from contextlib import suppress

from django.conf import settings

from generation.limiting import Wait

# So many ask the database at the same time: one waits for its commit while another is served.
ASKING = 4
# Another process may have made room; nobody tells this one.
LOOK_AGAIN_SECONDS = 2.0
# A call that had to wait too long is left to the reconciler, and so are those behind it, for so long.
SHUT_SECONDS = 15.0


class Door:
    """One provider's, in one process."""

    def __init__(self, hall: "Hall") -> None:
        self.hall = hall
        self.queue = asyncio.Semaphore(ASKING)
        self.turn = asyncio.Lock()
        self.freed = asyncio.Event()
        self.waits_for_all = False
        self.out = 0
        self._shut_until = 0.0

    @property
    def shut_seconds(self) -> float:
        return max(0.0, self._shut_until - time.monotonic())

    def shut(self, wait: Wait) -> None:
        self._shut_until = time.monotonic() + (SHUT_SECONDS if wait.seconds is None else wait.seconds)

    def is_too_long(self, wait: Wait, *, since: float, patience: float | None) -> bool:
        """As long as calls of this process are out, one of them comes back and makes room: worth waiting for."""
        if patience is None:
            return False
        if wait.seconds is not None:
            return wait.seconds > patience
        out = self.hall.out if wait.for_all else self.out
        return not out and time.monotonic() - since > patience

    async def wait(self, wait: Wait, freed: asyncio.Event) -> None:
        """`freed`: the one that stood here before the database was asked, so that nothing is missed meanwhile."""
        if wait.seconds is not None:
            await self.hall.sleep(wait.seconds)
            return
        self.waits_for_all = wait.for_all
        await _within(LOOK_AGAIN_SECONDS, freed)
        self.waits_for_all = False

    def wake(self) -> None:
        freed, self.freed = self.freed, asyncio.Event()
        freed.set()

    def let_out(self, weight: int) -> None:
        self.out, self.hall.out, self.hall.weight = self.out + 1, self.hall.out + 1, self.hall.weight + weight

    def give_back(self, weight: int) -> None:
        self.out, self.hall.out, self.hall.weight = self.out - 1, self.hall.out - 1, self.hall.weight - weight

    def take_back(self, weight: int) -> None:
        """A call has come back: whoever waits may ask again."""
        self.give_back(weight)
        self.hall.came_back(self)


class Hall:
    """All doors of one loop: how much is out, and whether anything more may leave."""

    def __init__(self) -> None:
        self.doors: defaultdict[str, Door] = defaultdict(lambda: Door(self))
        self.out = 0
        self.weight = 0
        self.closing = asyncio.Event()

    def has_no_room_for(self, weight: int) -> bool:
        """Requests that are out hold their text in memory. One alone may always leave."""
        return self.out > 0 and self.weight + weight > settings.LBP_TOKENS_IN_FLIGHT

    def came_back(self, door: Door) -> None:
        for other in self.doors.values():
            if other is door or other.waits_for_all:
                other.wake()

    def close(self) -> None:
        """Nothing leaves any more; whoever waits goes home."""
        self.closing.set()
        for door in self.doors.values():
            door.wake()

    async def sleep(self, seconds: float) -> None:
        await _within(seconds, self.closing)


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
