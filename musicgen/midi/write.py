"""MIDI files out: whole or not at all."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musicgen import files
from musicgen.errors import MidiWriteError
from musicgen.midi.checks import KEY_SIGNATURE, TEMPO, TIME_SIGNATURE
from musicgen.midi.events import MAX_DELTA, META, Row, to_bytes
from musicgen.midi.precheck import events_of

if TYPE_CHECKING:
    import pretty_midi
    from symusic.core import ScoreTick as Score

_PRETTY_MIDI_MAX_TICK = 9_000_000  # it keeps a table of all ticks, and gives up at ten million


def write_midi(music: bytes | Score, path: str | Path) -> None:
    """Write a MIDI file so that, whatever happens, `path` holds the old bytes or all of the new.

    Where `path` is a link, the file it leads to is written.

    Raises:
        MidiWriteError: The folder is missing, full or may not be written to; or what lies there is
            no ordinary file.
    """
    target = Path(path)
    data = music if isinstance(music, bytes) else score_to_bytes(music)
    try:
        files.write_whole(target, data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise MidiWriteError(
            f"The MIDI file {str(target)!r} cannot be written: {files.reason(error)}.",
            hint=files.way_out(
                error, "Choose a file in a folder that exists and that you may write to."
            ),
        ) from error


def score_to_bytes(score: Score) -> bytes:
    """Return a score of ticks as a MIDI file.

    Raises:
        MidiWriteError: A silence is longer than a MIDI file can write.
    """
    for track in score.tracks:
        notes = track.notes.numpy()
        start = notes["time"].astype(np.int64)
        ticks = np.sort(np.concatenate(([0], start, start + notes["duration"])))
        if np.diff(ticks).max(initial=0) > MAX_DELTA:
            raise MidiWriteError(
                f"A silence of {np.diff(ticks).max():,} ticks cannot be written; "
                f"{MAX_DELTA:,} are allowed.",
                hint="Shorten the silence, or use fewer ticks a quarter note.",
            )
    return score.dumps_midi()


def to_pretty_midi(data: bytes) -> pretty_midi.PrettyMIDI:
    """Return our own bytes as a `pretty_midi.PrettyMIDI`; `read_midi` comes first for foreign ones.

    pretty_midi heeds tempi and signatures of the first track only, and refuses more than ten
    million ticks: they are moved there, and a long file of fine ticks is given coarser ones.
    """
    import pretty_midi

    events = events_of(data)
    last = max(int(events.tick.max(initial=0)), int(events.end_ticks.max(initial=0)))
    if last > _PRETTY_MIDI_MAX_TICK:
        division = max(1, events.division * _PRETTY_MIDI_MAX_TICK // last)
        events = replace(
            events,
            tick=events.tick * division // events.division,
            end_ticks=events.end_ticks * division // events.division,
            division=division,
        )
    conductor = np.isin(events.data1, (TEMPO, TIME_SIGNATURE, KEY_SIGNATURE))
    stray = (events.status == META) & conductor & (events.track > 0)
    rows = [
        Row(
            track=0,
            tick=int(events.tick[i]),
            status=META,
            data1=int(events.data1[i]),
            payload=events.payload(i),
        )
        for i in np.flatnonzero(stray)[np.argsort(events.tick[stray], kind="stable")]
    ]
    return pretty_midi.PrettyMIDI(io.BytesIO(to_bytes(events.select(~stray).insert(rows))))
