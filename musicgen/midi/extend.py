"""New music set behind a prompt, of which not an event is changed.

Shapes: N new notes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from musicgen.errors import PromptError
from musicgen.midi.checks import MAX_TICK, TEMPO
from musicgen.midi.events import META, Events, Row, empty_events, to_bytes
from musicgen.midi.notes import NoteTable
from musicgen.midi.pairing import pair_notes
from musicgen.midi.prompt import HOLDING, PIANOS, Prompt, tempo_map
from musicgen.midi.timing import DEFAULT_QUARTER_US

if TYPE_CHECKING:
    from numpy.typing import NDArray

PART_NAME = "musicgen"
"""What the new music's track is called."""

_TICK_S = 0.0025  # the longest tick on which new notes may be set
_MAX_DIVISION = 32767
_DRUM_CHANNEL = 9
_TRACK_NAME, _TEXT = 3, 1


def extend(
    prompt: Prompt,
    new_notes: NoteTable,
    *,
    only_new: bool = False,
    title: str = PART_NAME,
    text: str | None = None,
) -> bytes:
    """Return a MIDI file of the prompt and, in a track of its own, new notes.

    Every event of the prompt stands at its own tick; if its ticks are too long for new music, all
    ticks and the division are multiplied by one whole number. The new part is on the prompt's piano
    channel, unless something still sounds there or its controllers are not at rest: then on the
    channel that is used least, and never on that of the drums.

    Args:
        prompt: What `cut_prompt` returned.
        new_notes: Notes in absolute seconds, at or after the prompt's cut (N,).
        only_new: Leave the prompt out; the new part then begins at 0 s.
        title: The new track's name.
        text: A text to store in the new track, such as the recipe.

    Raises:
        PromptError: The prompt lasts so long that the new notes' ticks would not fit into a file.
    """
    if only_new:
        shifted = replace(
            new_notes,
            onset_s=new_notes.onset_s - prompt.cut_s,
            end_s=new_notes.end_s - prompt.cut_s,
        )
        return write_part(shifted, title=title, text=text)
    events = _with_room(prompt, float(new_notes.end_s.max(initial=0.0)))
    factor = _factor(events, prompt.cut_tick, new_notes)
    events = replace(
        events,
        division=events.division * factor,
        tick=events.tick * factor,
        end_ticks=events.end_ticks * factor,
    )
    clock = tempo_map(events)
    start, end = _spans(clock.ticks(new_notes.onset_s), clock.ticks(new_notes.end_s))
    cut_tick = prompt.cut_tick * factor
    channel, program, busy = _choose_channel(events, cut_tick, new_notes.pitch, start)
    track = len(events.end_ticks)
    events = replace(events, end_ticks=np.append(events.end_ticks, 0))
    rows = _head(
        track, min(cut_tick, int(start.min(initial=cut_tick))), channel, program, title, text
    )
    rows += _note_rows(track, channel, new_notes, start, end, busy)
    return to_bytes(events.insert(rows))


def write_part(notes: NoteTable, *, title: str = PART_NAME, text: str | None = None) -> bytes:
    """Return a MIDI file of piano notes alone; its ticks are milliseconds.

    Of notes of one pitch that overlap, the earlier ends where the later begins.
    """
    blank = empty_events(division=500, tracks=1)
    start, end = _spans(notes.onset_s * 1000, notes.end_s * 1000)
    tempo = Row(
        track=0, tick=0, status=META, data1=TEMPO, payload=DEFAULT_QUARTER_US.to_bytes(3, "big")
    )
    rows = [tempo, *_head(0, 0, 0, 0, title, text), *_note_rows(0, 0, notes, start, end, {})]
    return to_bytes(blank.insert(rows))


def _with_room(prompt: Prompt, last_s: float) -> Events:
    """Return the prompt's events with ticks for music up to `last_s`.

    Where the last tempo is so fast that a file cannot count them, 120 bpm follow behind.
    """
    events = prompt.events
    if float(tempo_map(events).ticks(last_s)) < MAX_TICK:
        return events
    behind = max(prompt.cut_tick, int(events.end_ticks.max()), int(events.tick.max(initial=0)))
    tempo = DEFAULT_QUARTER_US.to_bytes(3, "big")
    row = Row(track=0, tick=behind, status=META, data1=TEMPO, payload=tempo)
    events = events.insert([row], first=False)
    if float(tempo_map(events).ticks(last_s)) < MAX_TICK:
        return events
    raise PromptError(
        f"The music lasts {behind:,} ticks, and with what is new more than the {MAX_TICK:,} that a "
        "MIDI file can count.",
        hint="Use its first part only, or keep only what is new.",
        code="prompt-too-long",
    )


def _factor(events: Events, cut_tick: int, new_notes: NoteTable) -> int:
    """Return the whole number that makes ticks after the cut short enough, as far as it goes."""
    clock = tempo_map(events)
    after = np.searchsorted(clock.change_ticks, cut_tick, side="right") - 1
    wanted = math.ceil(float(clock.tick_s[after:].max()) / _TICK_S - 1e-9)
    last = max(
        float(clock.ticks(new_notes.end_s.max(initial=0.0))),
        float(events.end_ticks.max()),
        float(events.tick.max(initial=0)),
    )
    possible = min(_MAX_DIVISION // events.division, int(MAX_TICK / (last + 1)))
    return max(1, min(wanted, possible))


def _spans(
    start: NDArray[np.float64], end: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first = np.maximum(np.rint(start), 0).astype(np.int64)
    return first, np.maximum(np.rint(end).astype(np.int64), first + 1)


def _choose_channel(
    events: Events, cut_tick: int, pitches: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[int, int, dict[int, int]]:
    """Return the new part's channel, its program, and until when its pitches still sound."""
    channels = events.channel
    starts = events.starts()
    used = np.bincount(channels[starts], minlength=16)
    ringing = _ringing(events, cut_tick)
    programs = {
        int(c): _program(events, int(c)) for c in np.flatnonzero(used) if c != _DRUM_CHANNEL
    }
    pianos = [c for c, program in programs.items() if program in PIANOS]
    if pianos:
        piano = max(pianos, key=lambda c: (used[c], -c))
        sounding = ringing.get(piano, {})
        clash = any(
            s < sounding.get(p, -1) for p, s in zip(pitches.tolist(), start.tolist(), strict=True)
        )
        if not clash and _at_rest(events, piano, cut_tick):
            return piano, programs[piano], sounding
    touched = np.bincount(channels[channels >= 0], minlength=16)
    free = [c for c in range(16) if c != _DRUM_CHANNEL]
    channel = min(free, key=lambda c: (len(ringing.get(c, {})), used[c], touched[c], c))
    return channel, 0, ringing.get(channel, {})


def _program(events: Events, channel: int) -> int:
    last = _last(events, events.is_message(0xC) & (events.channel == channel))
    return 0 if last is None else int(events.data1[last])


def _last(events: Events, chosen: NDArray[np.bool_]) -> int | None:
    """Return the index of the chosen event that counts in the end: of one tick's, the last."""
    at = np.flatnonzero(chosen)
    return int(at[np.argsort(events.tick[at], kind="stable")[-1]]) if len(at) else None


def _ringing(events: Events, cut_tick: int) -> dict[int, dict[int, int]]:
    """Return, by channel and pitch, the tick until which notes of the prompt sound past the cut."""
    pairing = pair_notes(events)
    late = events.tick[pairing.stop] > cut_tick
    ringing: dict[int, dict[int, int]] = {}
    for start, stop in zip(pairing.start[late].tolist(), pairing.stop[late].tolist(), strict=True):
        of_channel = ringing.setdefault(int(events.channel[start]), {})
        pitch, end = int(events.data1[start]), int(events.tick[stop])
        of_channel[pitch] = max(of_channel.get(pitch, 0), end)
    return ringing


def _at_rest(events: Events, channel: int, cut_tick: int) -> bool:
    """Whether new notes on `channel` would sound as on a fresh piano."""
    mine = events.channel == channel
    if (mine & ~events.stops() & (events.tick >= cut_tick)).any():
        return False  # a pedal of the prompt is still to come up
    bend = _last(events, mine & events.is_message(0xE))
    if bend is not None and (events.data1[bend], events.data2[bend]) != (0, 64):
        return False
    for number in (*HOLDING, 67, 7, 11):
        last = _last(events, mine & events.is_message(0xB) & (events.data1 == number))
        if last is not None and (events.data2[last] >= 64) != (number in (7, 11)):
            return False  # a pedal down, or the volume low
    return True


def _head(
    track: int, tick: int, channel: int, program: int, title: str, text: str | None
) -> list[Row]:
    """Return name, text and program of the new track."""
    name = Row(track=track, tick=0, status=META, data1=_TRACK_NAME, payload=_encoded(title))
    change = Row(track=track, tick=tick, status=0xC0 | channel, data1=program)
    recipe = (
        [Row(track=track, tick=0, status=META, data1=_TEXT, payload=_encoded(text))] if text else []
    )
    return [name, *recipe, change]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")


def _note_rows(
    track: int,
    channel: int,
    notes: NoteTable,
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    busy: dict[int, int],
) -> list[Row]:
    """Return the notes' events in order of time; no pitch overlaps itself.

    The earlier of two notes ends where the later begins; of two at one instant the longer stays; a
    note that would begin while one of the prompt sounds on the same key (`busy`) is left out.
    """
    events: list[
        tuple[int, int, int, int]
    ] = []  # tick, 0 for an end and 1 for a start, pitch, velocity
    open_: dict[int, tuple[int, int]] = {}  # pitch → start and end of its latest note
    order = np.lexsort((-end, notes.pitch, start))
    columns = (start[order], end[order], notes.pitch[order], notes.velocity[order])
    for begin, stop, pitch, velocity in zip(*(column.tolist() for column in columns), strict=True):
        last = open_.get(pitch)
        if begin < busy.get(pitch, 0) or (last and last[0] == begin):
            continue
        if last:
            events.append((min(last[1], begin), 0, pitch, 0))
        events.append((begin, 1, pitch, velocity))
        open_[pitch] = (begin, stop)
    events += [(stop, 0, pitch, 0) for pitch, (_, stop) in open_.items()]
    return [
        Row(
            track=track,
            tick=tick,
            status=(0x90 if is_start else 0x80) | channel,
            data1=pitch,
            data2=max(1, velocity) if is_start else 0,
        )
        for tick, is_start, pitch, velocity in sorted(events)
    ]
