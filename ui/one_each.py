"""Who is let in to what takes long: one request a name at a time, and few in all.

Requests that wait in the server's common threads keep pages from being answered. These wait here,
where waiting takes no thread, and whoever hung up meanwhile is passed by.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(slots=True)
class _Line:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    people: int = 0


class OneEach:
    """Lets requests in, fairly among names.

    Args:
        most: So many at once, whatever their names.
    """

    def __init__(self, most: int) -> None:
        self._all = asyncio.Semaphore(most)
        self._lines: dict[Hashable, _Line] = {}

    @asynccontextmanager
    async def turn(self, name: Hashable, request: Request) -> AsyncIterator[bool]:
        """Wait for a turn, and hold it; say whether there is still somebody to answer.

        Args:
            name: Of whom or what only one at a time is let in.
            request: Who waits.
        """
        line = self._lines.setdefault(name, _Line())
        line.people += 1
        try:
            async with line.lock, self._all:
                yield not await request.is_disconnected()
        finally:
            line.people -= 1
            if not line.people:
                del self._lines[name]
