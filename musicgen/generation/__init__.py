"""Making music with a model: filters, rules, guards, and the stream of events."""

from __future__ import annotations

from musicgen.generation.events import (
    EventMade,
    Finished,
    Prefilled,
    SteppedBack,
    StreamEvent,
)
from musicgen.generation.length import LengthPlan, fit_ending
from musicgen.generation.settings import AttributeSettings, SamplingSettings
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
