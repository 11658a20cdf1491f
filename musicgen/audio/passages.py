"""A passage of a piece as it will sound in the whole, also while the piece is not whole yet.

The synthesizer cannot be stopped and gone on with, so a passage is played from where nothing before
it is heard any more: the notes that still ring at its beginning are struck where they were. What
comes out differs from the whole by the rounding of 16-bit samples (tested).

Shapes: E events, N notes, S samples a channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.audio.blocks import BLOCK, BLOCKS_A_SECOND, tick_of
from musicgen.audio.instruments import font_contents
from musicgen.audio.playable import Playable, make_playable
from musicgen.audio.playing import ENGINES, Engine, play
from musicgen.audio.rendering import FADE_S
from musicgen.audio.sound import SAMPLE_RATE, fade_out
from musicgen.midi.events import Events, Row, to_bytes
from musicgen.midi.pairing import pair_notes
from musicgen.midi.precheck import events_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ECHO_BLOCKS = (
    3 * BLOCKS_A_SECOND
)  # after a key is let go its string and the room are heard so long
_LONGEST_RING_BLOCKS = 30 * BLOCKS_A_SECOND  # a piano is silent by then
_CHORUS_BLOCKS = 5 * BLOCKS_A_SECOND // 2  # the chorus turns once in 2.5 s: parts begin with a turn
_CONTROLLER, _PEDAL = 0xB, 64
_MARGIN_S = 0.2
_LONGEST_S = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Passage:
    """A part of a piece's sound.

    Attributes:
        samples: At the synthesizer's own level, float32 (2, S): those of the whole piece
            (`render`) are these times the sound's `gain`.
        begin: Which sample of the piece is the first.
        is_last: Whether the piece ends with it.
        engine: What made it.
    """

    samples: NDArray[np.float32]
    begin: int
    is_last: bool
    engine: str


def render_passage(
    midi: bytes,
    *,
    begin: int,
    length: int,
    is_whole: bool,
    engines: Sequence[tuple[str, Engine]] = ENGINES,
) -> Passage:
    """Play a passage of a MIDI file.

    Args:
        midi: The file, with all notes that begin before the passage's end at least.
        begin: First sample, a multiple of `BLOCK`.
        length: How many samples, a multiple of `BLOCK`; fewer come where the piece ends.
        is_whole: The file is whole: its end fades out.
        engines: As for `render`.

    Raises:
        MidiReadError: The bytes are no music.
        AudioError: Every engine failed.
        ValueError: The passage does not lie on blocks, or holds nothing.
    """
    if begin < 0 or length <= 0 or begin % BLOCK or length % BLOCK:
        raise ValueError(f"a passage lies on blocks of {BLOCK} samples, not {begin} + {length}")
    music = make_playable(midi, font_contents(), max_seconds=_LONGEST_S)
    piece_length = round(music.seconds * SAMPLE_RATE)
    end = min(begin + length, piece_length) if is_whole else begin + length
    if end <= begin:
        raise ValueError(f"the piece has {piece_length} samples, and none from {begin} on")
    part, lead_in = _part(music, begin // BLOCK, -(-end // BLOCK))
    raw, engine, _ = play(part, engines, may_be_silent=True)
    skip = begin - lead_in * BLOCK
    samples = raw[:, skip : skip + end - begin]
    samples = np.pad(samples, ((0, 0), (0, end - begin - samples.shape[1])))
    if is_whole:
        fade_out(samples, begin=begin, total=piece_length, fade_s=FADE_S)
    return Passage(
        samples=samples, begin=begin, is_last=is_whole and end == piece_length, engine=engine
    )


def _part(music: Playable, begin: int, end: int) -> tuple[Playable, int]:
    """Return what is to be played to hear the blocks `begin` to `end`, and its first block."""
    events = events_of(music.data)
    block = (events.tick + 1) // 2
    lead_in = _lead_in(events, block, begin)
    is_note = events.starts() | events.stops()
    kept = (block < end) & ~(is_note & (block < lead_in))
    tick = np.maximum(2 * (block - lead_in) - 1, 0)  # what was set before is set at once
    last = tick_of(end - lead_in + 1)
    part = replace(events, tick=tick, end_ticks=np.array([last])).select(kept)
    room = Row(track=0, tick=last, status=_CONTROLLER << 4, data1=3)
    heard = (music.notes.onset_s * BLOCKS_A_SECOND >= lead_in) & (
        music.notes.onset_s * BLOCKS_A_SECOND < end
    )
    notes, lead_in_s = music.notes.select(heard), lead_in / BLOCKS_A_SECOND
    shifted = replace(notes, onset_s=notes.onset_s - lead_in_s, end_s=notes.end_s - lead_in_s)
    return (
        replace(
            music,
            data=to_bytes(part.insert([room], first=False)),
            notes=shifted,
            is_drum=music.is_drum[heard],
            # The substitute damps its strings where the music is over.
            seconds=(end - lead_in) / BLOCKS_A_SECOND + _MARGIN_S,
        ),
        lead_in,
    )


def _lead_in(events: Events, block: NDArray[np.int64], begin: int) -> int:
    """Return the block from which on what is heard at `begin` was struck."""
    pairs = pair_notes(events)
    start, stop = block[pairs.start], block[pairs.stop]
    stop = _held_by_pedal(events, block, events.channel[pairs.start], stop)
    heard = (start < begin) & (stop + _ECHO_BLOCKS > begin)
    heard &= start > begin - _LONGEST_RING_BLOCKS
    first = int(start[heard].min(initial=begin))
    return max(first, 0) // _CHORUS_BLOCKS * _CHORUS_BLOCKS


def _held_by_pedal(
    events: Events, block: NDArray[np.int64], channel: NDArray[np.int16], stop: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return until when notes (N,) ring, given when their keys are let go."""
    of_pedal = events.is_message(_CONTROLLER) & (events.data1 == _PEDAL)
    until = stop.copy()
    for each in np.unique(events.channel[of_pedal]).tolist():
        at = np.flatnonzero(of_pedal & (events.channel == each))
        when, is_down = block[at], events.data2[at] >= 64
        # Where the pedal is next up, from each of its events on.
        lifted = np.where(is_down, np.iinfo(np.int64).max // 2, when)
        lifted = np.minimum.accumulate(lifted[::-1])[::-1]
        mine = np.flatnonzero(channel == each)
        last = np.searchsorted(when, stop[mine], side="right") - 1
        held = (last >= 0) & is_down[np.maximum(last, 0)]
        until[mine[held]] = lifted[last[held]]
    return until
