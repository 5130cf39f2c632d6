"""Where the calls of one provider leave, a few at a time and in order. Whoever has to wait for a place is woken by a
call that comes back: each wakes one, which asks the database for the place that has become free. Nobody waits longer
than 2 s without asking, as another process may have made room.
"""

import asyncio
import time
from collections import defaultdict, deque
from contextlib import suppress

from django.conf import settings

from generation.limiting import Wait

# So many ask the database at the same time: one waits for its commit while another is served.
ASKING = 4
# Another process may have made room; nobody tells this one.
LOOK_AGAIN_SECONDS = 2.0
# A call that had to wait too long is left to the reconciler, and so are those behind it, for so long.
SHUT_SECONDS = 15.0


class Queue:
    """Those that wait for a place, the first to be woken first. A ticket is taken before the database is asked, so that
    no call comes back unheard meanwhile."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Event] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self) -> asyncio.Event:
        ticket = asyncio.Event()
        self._waiting.append(ticket)
        return ticket

    def drop(self, ticket: asyncio.Event) -> None:
        with suppress(ValueError):
            self._waiting.remove(ticket)

    def leave(self, ticket: asyncio.Event) -> None:
        """Its holder needs no place any more. Was it woken meanwhile, there is one for the next."""
        if ticket.is_set():
            self.wake_one()
        self.drop(ticket)

    def wake_one(self) -> None:
        if self._waiting:
            self._waiting.popleft().set()

    def wake_all(self) -> None:
        while self._waiting:
            self.wake_one()


class Door:
    """One provider's, in one process."""

    def __init__(self, hall: "Hall") -> None:
        self.hall = hall
        self.entrance = asyncio.Semaphore(ASKING)
        self.queue = Queue()
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

    async def wait(self, wait: Wait, ticket: asyncio.Event) -> None:
        if wait.seconds is not None:
            await self.hall.sleep(wait.seconds)
            return
        if not wait.for_all:
            await _within(LOOK_AGAIN_SECONDS, ticket)
            return
        # Any provider's call can make the room: whoever waits for that is woken by each that comes back.
        self.hall.waiting_for_all.add(ticket)
        try:
            await _within(LOOK_AGAIN_SECONDS, ticket)
        finally:
            self.hall.waiting_for_all.discard(ticket)

    def let_out(self, weight: int) -> None:
        self.out, self.hall.out, self.hall.weight = self.out + 1, self.hall.out + 1, self.hall.weight + weight

    def give_back(self, weight: int) -> None:
        self.out, self.hall.out, self.hall.weight = self.out - 1, self.hall.out - 1, self.hall.weight - weight

    def take_back(self, weight: int) -> None:
        """A call has come back: one of those that wait here may ask again, and whoever waits for any provider's."""
        self.give_back(weight)
        self.queue.wake_one()
        for ticket in self.hall.waiting_for_all:
            ticket.set()


class Hall:
    """All doors of one loop: how much is out, and whether anything more may leave."""

    def __init__(self) -> None:
        self.doors: defaultdict[str, Door] = defaultdict(lambda: Door(self))
        self.waiting_for_all: set[asyncio.Event] = set()
        self.out = 0
        self.weight = 0
        self.closing = asyncio.Event()

    def has_no_room_for(self, weight: int) -> bool:
        """Requests that are out hold their text in memory. One alone may always leave."""
        return self.out > 0 and self.weight + weight > settings.LBP_TOKENS_IN_FLIGHT

    def close(self) -> None:
        """Nothing leaves any more; whoever waits goes home."""
        self.closing.set()
        for door in self.doors.values():
            door.queue.wake_all()

    async def sleep(self, seconds: float) -> None:
        await _within(seconds, self.closing)


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, seconds)):
            await event.wait()
