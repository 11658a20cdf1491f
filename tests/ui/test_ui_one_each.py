"""Who asks for what takes long waits without keeping others from their pages."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from musicgen.ui.one_each import OneEach


def visitor(*, stays: bool = True):
    async def is_disconnected() -> bool:
        return not stays

    return SimpleNamespace(is_disconnected=is_disconnected)


def test_names_take_turns_however_often_one_of_them_asks():
    """Guards: 45 requests for one piece's sound, and a page that waited for two minutes."""

    async def meet() -> list[str]:
        door, served, gate = OneEach(2), [], asyncio.Event()

        async def ask(name: str) -> None:
            async with door.turn(name, visitor()):
                served.append(name)
                await gate.wait()

        many = [asyncio.create_task(ask("loud")) for _ in range(10)]
        await asyncio.sleep(0)
        others = [asyncio.create_task(ask(name)) for name in ("a", "b")]
        for _ in range(20):
            await asyncio.sleep(0)
        assert sorted(served) == ["a", "loud"], "one each, and two in all"
        gate.set()
        await asyncio.gather(*many, *others)
        assert door._lines == {}, "nothing is left of those who were served"
        return served

    served = asyncio.run(meet())
    assert served.index("b") <= 3
    assert len(served) == 12


def test_who_hung_up_is_passed_by():
    """Guards: work for thirty requests that were ended before it began."""

    async def meet() -> list[bool]:
        door = OneEach(1)
        found = []
        for stays in (False, True):
            async with door.turn("a", visitor(stays=stays)) as is_wanted:
                found.append(is_wanted)
        return found

    assert asyncio.run(meet()) == [False, True]


def test_who_breaks_off_leaves_the_place():
    async def meet() -> None:
        door, gate = OneEach(1), asyncio.Event()

        async def hold() -> None:
            async with door.turn("a", visitor()):
                await gate.wait()

        holds, waits = asyncio.create_task(hold()), asyncio.create_task(hold())
        await asyncio.sleep(0)
        waits.cancel()
        gate.set()
        await asyncio.gather(holds, waits, return_exceptions=True)
        assert door._lines == {}
        await asyncio.wait_for(hold(), 5)

    asyncio.run(meet())
