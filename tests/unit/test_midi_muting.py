"""Which events a muted track's notes are."""

from __future__ import annotations

import io

import mido

from musicgen.midi import muted_events, read_midi
from musicgen.midi.precheck import events_of


def file_of(*tracks):
    """Return a file; a track is its channel, program and (tick, key) pairs."""
    file = mido.MidiFile(ticks_per_beat=480)
    for channel, program, notes in tracks:
        track = mido.MidiTrack()
        file.tracks.append(track)
        track.append(mido.Message("program_change", channel=channel, program=program, time=0))
        now = 0
        for tick, key in notes:
            track.append(
                mido.Message("note_on", channel=channel, note=key, velocity=80, time=tick - now)
            )
            track.append(mido.Message("note_off", channel=channel, note=key, time=100))
            now = tick + 100
    stored = io.BytesIO()
    file.save(file=stored)
    return stored.getvalue()


def channels_left(data, tracks):
    document = read_midi(data)
    events = events_of(document.data)
    muted = muted_events(document.score, events, tracks)
    left = events.starts() & ~muted
    assert (events.starts() & muted).sum() == (events.stops() & muted).sum()
    return [int(c) for c in events.channel[left]]


def test_a_muted_track_loses_its_notes_and_no_other_does():
    """Guards: of two instruments that strike the same key at once, the wrong one is silenced."""
    data = file_of((0, 0, [(0, 60), (480, 62)]), (1, 40, [(0, 60)]), (9, 0, [(0, 60)]))
    drums = [t.is_drum for t in read_midi(data).score.tracks].index(True)
    assert channels_left(data, []) == [0, 0, 1, 9]
    assert channels_left(data, [drums]) == [0, 0, 1]
    violin = [t.program for t in read_midi(data).score.tracks].index(40)
    assert channels_left(data, [violin]) == [0, 0, 9]
    assert channels_left(data, range(3)) == []
    assert channels_left(data, [77, -1]) == [0, 0, 1, 9]


def test_tracks_are_counted_as_the_preview_counts_them():
    """Guards: a conductor's track without notes shifts the numbers."""
    data = file_of((0, 0, []), (1, 40, [(0, 60)]), (2, 41, [(0, 64)]))
    assert channels_left(data, [0]) == [2]
