"""The part of a file that new music goes on from, cut without changing an event of it.

Shapes: E events.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from symusic.core import ScoreTick as Score

from musicgen.errors import PromptError
from musicgen.midi.checks import TEMPO, tempos
from musicgen.midi.document import MidiDocument, MidiWarning, TrackFacts
from musicgen.midi.events import Events, Row, to_bytes
from musicgen.midi.facts import track_facts
from musicgen.midi.notes import NoteTable, note_table
from musicgen.midi.pairing import Pairing, pair_notes
from musicgen.midi.precheck import events_of
from musicgen.midi.timing import TempoMap
from musicgen.midi.views import view_for_symusic

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOLDING = (64, 66, 69)  # controllers that keep notes sounding: sustain, sostenuto, hold
PIANOS = range(8)  # programs of the General MIDI piano family
_LONGEST_RING_S = 10.0  # a pedal let up later than this after the cut is let up at the cut


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prompt:
    """Music to go on from.

    Attributes:
        name: The file's name.
        score: The part used, for reading notes from.
        data: The part used, as a MIDI file whose events are the file's own.
        cut_s: Where new music may begin, in seconds.
        notes: The notes used, drums left out, as the keys were held.
        tracks: Tracks with notes, drums among them.
        warnings: The file's, and what a piano model cannot take in of it.
        events: The part used, event by event.
        cut_tick: The first tick that is not before `cut_s`.
    """

    name: str
    score: Score = field(repr=False)
    data: bytes = field(repr=False)
    cut_s: float
    notes: NoteTable = field(repr=False)
    tracks: tuple[TrackFacts, ...]
    warnings: tuple[MidiWarning, ...]
    events: Events = field(repr=False)
    cut_tick: int

    @property
    def drums_only(self) -> bool:
        """Whether nothing but drums is left to go on from."""
        return not len(self.notes)


def tempo_map(events: Events) -> TempoMap:
    """Return the clock of a file's events."""
    return TempoMap.from_changes(*tempos(events), events.division)


def cut_prompt(document: MidiDocument, seconds: float | None = None) -> Prompt:
    """Take the first `seconds` of a document, or all of it.

    Notes that sound at the cut stay whole. A pedal that is down there comes up where the file says,
    or at the end of the part if that is far off or never. Of what else lies past the cut only the
    tempo changes stay under which those notes and pedals end.

    Raises:
        PromptError: `seconds` is no length, or no note begins by then.
    """
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise PromptError(
            f"The prompt's length is {seconds} seconds; it must be above 0.",
            hint="Leave it out to use the whole file.",
            code="prompt-length",
        )
    events = events_of(document.data)
    clock = tempo_map(events)
    pairing = pair_notes(events)
    cut_tick = int(events.tick[pairing.stop].max())
    cut_s = float(clock.seconds(cut_tick))
    if seconds is not None and seconds < cut_s:
        cut_s = float(seconds)
        # The first tick that is not before the cut; a hair's breadth forgives rounding.
        cut_tick = math.ceil(float(clock.ticks(seconds)) - 1e-6)
    events = _up_to(events, pairing, cut_tick, clock)
    if not events.starts().any():
        raise PromptError(
            f"No note begins in the first {seconds} seconds of the MIDI file.",
            hint="Ask for a longer prompt, or leave the length out to use the whole file.",
            code="prompt-empty",
        )
    score = Score.from_midi(to_bytes(view_for_symusic(events, pair_notes(events))))
    tracks = track_facts(score)
    return Prompt(
        name=document.name,
        score=score,
        data=to_bytes(events),
        cut_s=cut_s,
        notes=note_table(score),
        tracks=tracks,
        warnings=document.warnings + _piano_warnings(tracks),
        events=events,
        cut_tick=cut_tick,
    )


def _piano_warnings(tracks: tuple[TrackFacts, ...]) -> tuple[MidiWarning, ...]:
    drums = sum(track.notes for track in tracks if track.is_drum)
    others = [track for track in tracks if not track.is_drum and track.program not in PIANOS]
    warnings = []
    if drums:
        which = "one drum note" if drums == 1 else f"{drums} drum notes"
        message = f"The model does not hear the {which} of the music it goes on from."
        warnings.append(MidiWarning(code="drums-left-out", message=message))
    if others:
        message = (
            "One track of another instrument is heard as piano."
            if len(others) == 1
            else f"{len(others)} tracks of other instruments are heard as piano."
        )
        warnings.append(MidiWarning(code="read-as-piano", message=message))
    return tuple(warnings)


def _up_to(events: Events, pairing: Pairing, cut_tick: int, clock: TempoMap) -> Events:
    """Return what stands before `cut_tick`, and what must follow for it to end well."""
    keep = events.tick < cut_tick
    ends_kept = pairing.stop[keep[pairing.start]]
    keep[ends_kept] = True
    releases, missing = _pedal_releases(events, keep, cut_tick, clock)
    keep[releases] = True
    last_tick = int(events.tick[keep].max(initial=cut_tick))
    keep |= events.is_meta(TEMPO) & (events.tick < last_tick)
    cut = events.select(keep)
    ends = np.zeros_like(events.end_ticks)
    np.maximum.at(ends, cut.track, cut.tick)
    return replace(cut, end_ticks=ends).insert(missing)


def _pedal_releases(
    events: Events, kept: NDArray[np.bool_], cut_tick: int, clock: TempoMap
) -> tuple[list[int], list[Row]]:
    """Return the indices of the events that let up pedals held at the cut, and events to add.

    To add: for pedals that the file lets up too late or never, one at the last kept note's end.
    """
    latest = float(clock.ticks(clock.seconds(cut_tick) + _LONGEST_RING_S))
    last_note = int(events.tick[kept & (events.starts() | events.stops())].max(initial=cut_tick))
    controls = events.is_message(0xB)
    place = events.track * 16 + (events.status & 0x0F)
    found: list[int] = []
    rows: list[Row] = []
    for number in HOLDING:
        of_pedal = np.flatnonzero(controls & (events.data1 == number))
        for where in np.unique(place[of_pedal]).tolist():
            at = of_pedal[place[of_pedal] == where]
            before = at[events.tick[at] < cut_tick]
            if not len(before) or events.data2[before[-1]] < 64:
                continue
            after = at[(events.tick[at] >= cut_tick) & (events.data2[at] < 64)][:1].tolist()
            if after and events.tick[after[0]] <= latest:
                found += after
            else:
                track, channel = divmod(where, 16)
                rows.append(Row(track=track, tick=last_note, status=0xB0 | channel, data1=number))
    return found, rows
