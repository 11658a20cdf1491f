"""The synthesizer's time: it heeds events only between blocks of 64 samples.

An event that falls on such an instant by its MIDI tick would be heeded there or a block later,
as rounding has it. So every event is set half a block before the block that it belongs to: then a
piece and a part of it, whose ticks differ, sound the same to the sample.

Shapes: E events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.audio.sound import SAMPLE_RATE
from musicgen.midi.checks import TEMPO
from musicgen.midi.events import Events

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.midi.timing import TempoMap

BLOCK = 64
"""Samples that the synthesizer computes at once (RustySynth's default)."""

BLOCKS_A_SECOND = SAMPLE_RATE // BLOCK
DIVISION = BLOCKS_A_SECOND
"""Ticks a quarter note at 120 bpm, so that a tick is half a block."""

_HAIR = 1e-6  # of a block: what rounding may add to a time


def blocks_of(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the first block that begins at each time or later, int64 of the same shape."""
    return np.ceil(seconds * BLOCKS_A_SECOND - _HAIR).astype(np.int64)


def in_blocks(events: Events, clock: TempoMap) -> Events:
    """Return channel events in one track whose ticks are half blocks.

    Args:
        events: Channel events and tempi (E,).
        clock: Their clock; the tempi are left out after it was heeded.
    """
    order = np.lexsort((events.track, events.tick))  # stable: of one track as the file has them
    order = order[~events.is_meta(TEMPO)[order]]
    columns = {
        name: getattr(events, name)[order] for name in ("status", "data1", "data2", "begin", "end")
    }
    blocks = blocks_of(clock.seconds(events.tick[order]))
    last = int(blocks_of(clock.seconds(np.array([events.end_ticks.max(initial=0)])))[0])
    return replace(
        events,
        division=DIVISION,
        end_ticks=np.array([tick_of(last)], dtype=np.int64),
        track=np.zeros(len(order), dtype=np.int32),
        tick=np.maximum(2 * blocks - 1, 0),
        **columns,
    )


def tick_of(block: int) -> int:
    """Return the tick at which an event is heeded at the beginning of a block."""
    return max(2 * block - 1, 0)
