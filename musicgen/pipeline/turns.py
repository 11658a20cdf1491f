"""Takes that one thread makes by turns, an event each, their events read together.

A take depends on its seed alone: those that are made by turns are those that are made one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from musicgen.engine import Engine
from musicgen.pipeline.making import Progress, TakeStream
from musicgen.pipeline.take import Take

NameT = TypeVar("NameT", bound=Hashable)


class Turns(Generic[NameT]):
    """Streams that one thread makes by turns; they may come and go, and be of several models."""

    def __init__(self) -> None:
        self._playing: dict[NameT, TakeStream] = {}

    def __len__(self) -> int:
        """Return how many streams there are."""
        return len(self._playing)

    def add(self, name: NameT, stream: TakeStream) -> None:
        """Let a stream take part from the next round on."""
        self._playing[name] = stream
        if len(self._playing) > 1:
            for each in self._playing.values():
                each.by_turns = True

    def drop(self, name: NameT) -> TakeStream:
        """Return a stream that takes part no more."""
        return self._playing.pop(name)

    @property
    def room(self) -> int:
        """How many streams their engines can make by turns in one thread."""
        engines = [each.engine for each in self._playing.values() if each.engine is not None]
        return min((engine.takes_a_thread for engine in engines), default=1)

    def play(self) -> Iterator[tuple[NameT, Progress | Take | Exception]]:
        """Make at most an event of each stream, and yield what they tell.

        Those that yield a take, or what they raised, take part no more; the others go on.
        """
        is_waiting = self._read_together()
        for name, stream in list(self._playing.items()):
            if name in is_waiting:
                continue
            try:
                made = stream.step()
            except Exception as error:  # noqa: BLE001  it is told to whoever asked for the take
                made = error
            if isinstance(made, (Take, Exception)):
                self.drop(name)
            if made is not None:
                yield name, made

    def _read_together(self) -> set[NameT]:
        """Let each engine read the events of its takes; return whose are not all read."""
        waiting: set[NameT] = set()
        for engine in self._engines():
            begun = {
                name: stream.steps
                for name, stream in self._playing.items()
                if stream.engine is engine and stream.steps is not None
            }
            are_read = engine.read_together(list(begun.values()))
            waiting |= {name for name, is_read in zip(begun, are_read, strict=True) if not is_read}
        return waiting

    def _engines(self) -> list[Engine]:
        engines = {id(each.engine): each.engine for each in self._playing.values()}
        return [each for each in engines.values() if each is not None and each.takes_a_thread > 1]

    def close(self) -> None:
        """Stop those that are not done."""
        for stream in self._playing.values():
            stream.close()
        self._playing.clear()
