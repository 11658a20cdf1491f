"""Making music with a model: filters, rules, guards, and the stream of events.

Torch is imported only by what makes music: settings and lengths are checked without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from musicgen.generation.length import LengthPlan, fit_ending
from musicgen.generation.settings import AttributeSettings, SamplingSettings

if TYPE_CHECKING:
    from musicgen.generation.events import (
        EventMade,
        Finished,
        Prefilled,
        SteppedBack,
        StreamEvent,
    )
    from musicgen.generation.settled import SettledEvents
    from musicgen.generation.stream import stream_events
    from musicgen.generation.values import event_values

__all__ = [
    "AttributeSettings",
    "EventMade",
    "Finished",
    "LengthPlan",
    "Prefilled",
    "SamplingSettings",
    "SettledEvents",
    "SteppedBack",
    "StreamEvent",
    "event_values",
    "fit_ending",
    "stream_events",
]

_ROOMS = {
    "EventMade": "events",
    "Finished": "events",
    "Prefilled": "events",
    "SteppedBack": "events",
    "StreamEvent": "events",
    "SettledEvents": "settled",
    "event_values": "values",
    "stream_events": "stream",
}


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return getattr(import_module(f"musicgen.generation.{_ROOMS[name]}"), name)
    raise AttributeError(f"module 'musicgen.generation' has no attribute {name!r}")
