"""A MIDI file made ready for a synthesizer: instruments it has, an end, a length that is bearable.

Shapes: E events, N notes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.audio.blocks import in_blocks
from musicgen.audio.instruments import GM_NAMES, FontContents
from musicgen.errors import AudioError
from musicgen.midi import NoteTable, fold_pedal, muted_events, note_table, read_midi
from musicgen.midi.checks import TEMPO
from musicgen.midi.events import Events, Row, to_bytes
from musicgen.midi.precheck import events_of
from musicgen.midi.prompt import tempo_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRUM_CHANNEL = 9
TAIL_S = 0.9  # what still rings after the last key is let go
_HANGING_S = 30.0  # a note that outlasts the limit is heard for so long: by then a piano is silent
_PROGRAM, _CONTROLLER = 0xC, 0xB
_BANK_SELECTS, _VOLUMES = (0, 32), (7, 11)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Playable:
    """What a synthesizer is given.

    Attributes:
        data: A MIDI file of channel messages in one track that lasts a little longer than
            `seconds`; its ticks are half a block of the synthesizer (`blocks`).
        notes: Its notes as they ring, pedal folded in, (N,).
        is_drum: Which of them are drums, bool (N,).
        seconds: How long the sound shall be.
        turns_down: The file turns a volume down to nothing, or tracks are muted, so silence may be
            what is asked for.
        warnings: What differs from the file.
    """

    data: bytes
    notes: NoteTable
    is_drum: NDArray[np.bool_]
    seconds: float
    turns_down: bool
    warnings: tuple[str, ...]


def make_playable(
    midi: bytes, font: FontContents, *, max_seconds: float, muted: Collection[int] = ()
) -> Playable:
    """Prepare a MIDI file for sounding.

    Args:
        midi: The file.
        font: What instruments there are.
        max_seconds: How much of it is to be heard at most.
        muted: Tracks that are not, numbered among those with notes; the length stays.

    Raises:
        MidiReadError: The bytes are no music.
        AudioError: The first note comes after `max_seconds`.
    """
    document = read_midi(midi)
    score = document.score
    notes = note_table(score, include_drums=True)
    music_s, warnings = _length(notes, max_seconds)
    rung = fold_pedal(notes, score)
    rung = rung.select((rung.onset_s < music_s) & ~_of_tracks(rung, muted))
    drums = [index for index, track in enumerate(score.tracks) if track.is_drum]

    events = events_of(document.data)
    if muted:
        events = events.select(~muted_events(score, events, muted))
    clock = tempo_map(events)
    # A hair more: or rounding leaves the last key down.
    cut_tick = int(np.floor(clock.ticks(music_s) + 1e-6))
    events = events.select(_sounding(events) & (events.tick <= cut_tick))
    events, replaced = _with_instruments_of(font, events)
    # A synthesizer stops with the file's last event: one that does nothing makes room for the tail.
    last_tick = int(np.ceil(clock.ticks(music_s + TAIL_S + 0.1)))
    events = in_blocks(replace(events, end_ticks=np.array([last_tick])), clock)
    room = Row(track=0, tick=int(events.end_ticks[0]), status=_CONTROLLER << 4, data1=3)
    return Playable(
        data=to_bytes(events.insert([room], first=False)),
        notes=rung,
        is_drum=np.isin(rung.track, drums),
        seconds=music_s + TAIL_S,
        turns_down=bool(muted) or bool((_of_volume(events) & (events.data2 == 0)).any()),
        warnings=(*warnings, *replaced),
    )


def _of_tracks(notes: NoteTable, tracks: Collection[int]) -> NDArray[np.bool_]:
    """Which notes are of `tracks`, numbered among those with notes, bool (N,)."""
    used = np.unique(notes.track)
    return np.isin(np.searchsorted(used, notes.track), list(tracks))


def _length(notes: NoteTable, max_seconds: float) -> tuple[float, list[str]]:
    """Return the length of the music that is to be heard, and what to say about it."""
    end_s = float(notes.end_s.max(initial=0.0))
    if end_s <= max_seconds:
        return end_s, []
    onsets = notes.onset_s[notes.onset_s < max_seconds]
    if not len(onsets):
        raise AudioError(
            f"The first note comes after {_clock(float(notes.onset_s[0]))}; "
            f"sound is made of the first {_clock(max_seconds)}.",
            hint="Remove the silence at the beginning with a MIDI editor.",
            code="audio-too-long",
        )
    heard_s = min(max_seconds, float(onsets[-1]) + _HANGING_S)
    return heard_s, [f"The music lasts {_clock(end_s)}; the sound stops after {_clock(heard_s)}."]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _sounding(events: Events) -> NDArray[np.bool_]:
    """Which events a synthesizer needs, bool (E,).

    Banks are left out: the font has the one of General MIDI, and players disagree on the others.
    """
    is_bank = events.is_message(_CONTROLLER) & np.isin(events.data1, _BANK_SELECTS)
    return (events.status < 0xF0) & ~is_bank | events.is_meta(TEMPO)


def _of_volume(events: Events) -> NDArray[np.bool_]:
    return events.is_message(_CONTROLLER) & np.isin(events.data1, _VOLUMES)


def _with_instruments_of(font: FontContents, events: Events) -> tuple[Events, list[str]]:
    """Replace the programs that the font lacks; say what plays the notes of which."""
    programs = np.array([font.nearest_program(p) for p in range(128)])
    kits = np.array([font.nearest_kit(k) for k in range(128)])
    is_program, is_drum = events.is_message(_PROGRAM), events.channel == DRUM_CHANNEL
    changed = np.where(is_drum, kits[events.data1], programs[events.data1])
    stand_ins = [
        f"{GM_NAMES[programs[p]]} for {GM_NAMES[p]}"
        for p in _programs_heard(events, ~is_drum)
        if programs[p] != p
    ]
    stand_ins += [
        f"drum kit {kits[k] + 1} for drum kit {k + 1}"
        for k in _programs_heard(events, is_drum)
        if kits[k] != k
    ]
    warnings = [f"The sound font lacks some instruments. In their place: {', '.join(stand_ins)}."]
    events = replace(events, data1=np.where(is_program, changed, events.data1))
    return events, warnings if stand_ins else []


def _programs_heard(events: Events, among: NDArray[np.bool_]) -> list[int]:
    """Return the programs, ascending, to which notes of the events `among` start."""
    order = np.lexsort((events.tick, events.channel))
    order = order[(among & (events.status < 0xF0))[order]]
    is_program = events.is_message(_PROGRAM)[order]
    channel = events.channel[order]
    latest = np.maximum.accumulate(np.where(is_program, np.arange(len(order)), -1))
    known = (latest >= 0) & (channel[latest] == channel)
    program = np.where(known, events.data1[order][latest], 0)
    return np.unique(program[events.starts()[order]]).tolist()
