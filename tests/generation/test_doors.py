"""A provider's door: each call that comes back wakes one that waits, and no place stays empty for want of a word."""

import asyncio
import threading
import time

import pytest

from generation.limiting import Wait
from generation.sending.doors import Door, Hall, Queue
from generation.sending.rows import RowThreads


def test_each_call_that_comes_back_wakes_one_the_first_first() -> None:
    async def story() -> None:
        door = Hall().doors["openai"]
        woken: list[int] = []

        async def waits(number: int) -> None:
            await door.wait(Wait(), door.queue.take())
            woken.append(number)

        tasks = [asyncio.create_task(waits(number)) for number in range(3)]
        await asyncio.sleep(0)
        for _call in range(2):
            door.let_out(1)
        door.take_back(1)
        await asyncio.sleep(0.05)
        assert woken == [0]
        door.take_back(1)
        await asyncio.sleep(0.05)
        assert woken == [0, 1]
        door.hall.close()
        await asyncio.gather(*tasks)

    asyncio.run(story())


def test_who_leaves_although_it_was_woken_passes_the_word_on() -> None:
    queue = Queue()
    first, second, third = (queue.take() for _number in range(3))
    queue.wake_one()
    assert (first.is_set(), second.is_set()) == (True, False)
    queue.leave(first)  # it has found another place while it was woken
    assert second.is_set()
    queue.leave(third)  # never woken: nobody is told
    assert len(queue) == 0


def test_a_call_that_comes_back_while_the_database_is_asked_is_not_missed() -> None:
    async def story() -> float:
        door = Hall().doors["openai"]
        ticket = door.queue.take()
        door.let_out(1)
        door.take_back(1)  # between the question and its answer
        begun = time.monotonic()
        await door.wait(Wait(), ticket)
        return time.monotonic() - begun

    assert asyncio.run(story()) < 1


def test_who_waits_for_a_budget_is_woken_by_any_providers_call() -> None:
    async def story() -> None:
        hall = Hall()
        here, elsewhere = hall.doors["openai"], hall.doors["gemini"]
        waiting = asyncio.create_task(here.wait(Wait(for_all=True), here.queue.take()))
        await asyncio.sleep(0)
        elsewhere.let_out(1)
        elsewhere.take_back(1)
        await asyncio.wait_for(waiting, 1)

    asyncio.run(story())


def test_a_closed_hall_sends_everybody_home() -> None:
    async def story() -> None:
        hall = Hall()
        doors: list[Door] = [hall.doors["openai"], hall.doors["gemini"]]
        waiting = [asyncio.create_task(door.wait(Wait(), door.queue.take())) for door in doors]
        await asyncio.sleep(0)
        hall.close()
        await asyncio.wait_for(asyncio.gather(*waiting), 1)

    asyncio.run(story())


def test_what_is_urgent_is_done_before_what_came_earlier() -> None:
    done: list[str] = []
    gate = threading.Event()
    pool = RowThreads(1)
    pool.submit(gate.wait)
    last = pool.submit(lambda: done.append("reply"))
    pool.submit(lambda: done.append("place"), urgent=True)
    gate.set()
    last.result(timeout=5)
    assert done == ["place", "reply"]
    failing = pool.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failing.result(timeout=5)
    assert pool.submit(lambda: 7).result(timeout=5) == 7
    pool.shutdown()
