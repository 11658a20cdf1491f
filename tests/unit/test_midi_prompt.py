"""Prompts and continuations: the prompt's events are sacred, the new part never clashes."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path

import mido
import numpy as np
import pytest

from musicgen.errors import MidiReadError, PromptError
from musicgen.midi import (
    NoteTable,
    cut_prompt,
    extend,
    find_midi_files,
    note_table,
    read_midi,
    to_pretty_midi,
)

CHANNEL_EVENTS = ("note_on", "note_off", "end_of_track")


def message(kind: str, time: int = 0, **fields: int) -> mido.Message:
    return mido.Message(kind, time=time, **fields)


def data_of(*tracks: list, division: int = 480, kind: int = 1) -> bytes:
    file = mido.MidiFile(ticks_per_beat=division, type=kind)
    file.tracks.extend(mido.MidiTrack(messages) for messages in tracks)
    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def notes(*pitches: int, channel: int = 0, length: int = 480) -> list[mido.Message]:
    events = []
    for pitch in pitches:
        events.append(message("note_on", note=pitch, velocity=64, channel=channel))
        events.append(message("note_off", time=length, note=pitch, channel=channel))
    return events


def new_part(start_s: float, pitches: list[int], step_s: float = 0.25) -> NoteTable:
    onset = start_s + step_s * np.arange(len(pitches))
    return NoteTable.of(onset, onset + step_s, pitches, [70] * len(pitches))


def parsed(data: bytes) -> mido.MidiFile:
    return mido.MidiFile(file=io.BytesIO(data))


def events_by_beat(data: bytes, *, tracks: int) -> Counter:
    """Return all events of the first tracks as (track, beat, event), whatever the division."""
    file, found = parsed(data), Counter()
    for index, track in enumerate(file.tracks[:tracks]):
        tick = 0
        for event in track:
            tick += event.time
            if event.type != "end_of_track":
                text = str(event.copy(time=0))
                found[index, Fraction(tick, file.ticks_per_beat), text] += 1
    return found


def sounding(data: bytes) -> list[tuple[int, int, int, int, int]]:
    """Return notes as (track, channel, pitch, start, end), in ticks."""
    found, file = [], parsed(data)
    for index, track in enumerate(file.tracks):
        tick, open_ = 0, {}
        for event in track:
            tick += event.time
            key = (event.channel, event.note) if event.type.startswith("note_") else None
            if event.type == "note_on" and event.velocity:
                open_.setdefault(key, []).append(tick)
            elif key and open_.get(key):
                found.append((index, *key, open_[key].pop(0), tick))
    return found


def assert_no_pitch_overlaps_in_the_new_part(data: bytes) -> None:
    new = len(parsed(data).tracks) - 1
    by_key: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for track, channel, pitch, start, end in sounding(data):
        if track == new:
            by_key.setdefault((channel, pitch), []).append((start, end))
    for track, channel, pitch, start, end in sounding(data):
        if track != new:
            for other_start, other_end in by_key.get((channel, pitch), []):
                assert end <= other_start or other_end <= start
    for spans in by_key.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


RICH = data_of(
    [
        mido.MetaMessage("track_name", name="conductor"),
        mido.MetaMessage("time_signature", numerator=5, denominator=8),
        mido.MetaMessage("key_signature", key="Eb"),
        mido.MetaMessage("set_tempo", tempo=400_000),
        mido.MetaMessage("set_tempo", tempo=700_000, time=960),
    ],
    [
        mido.MetaMessage("track_name", name="left"),
        message("program_change", program=1),
        message("control_change", control=64, value=127),
        message("pitchwheel", pitch=100),
        *notes(48, 50, 52),
        message("control_change", control=64, value=0),
    ],
    [
        mido.MetaMessage("lyrics", text="la"),
        message("program_change", program=40, channel=3),
        *notes(60, 62, 64, channel=3),
    ],
    notes(36, 38, channel=9),
)


def test_a_whole_prompt_keeps_every_event_at_its_tick() -> None:
    prompt = cut_prompt(read_midi(RICH))
    longer = extend(prompt, new_part(prompt.cut_s, [60, 62, 64]))
    assert events_by_beat(longer, tracks=4) == events_by_beat(RICH, tracks=4)
    assert parsed(longer).ticks_per_beat == 480
    assert len(parsed(longer).tracks) == 5


def test_a_cut_prompt_keeps_what_comes_before_and_whole_notes() -> None:
    prompt = cut_prompt(read_midi(RICH), 0.5)  # inside the second notes
    assert prompt.cut_s == 0.5
    assert sorted(prompt.notes.pitch.tolist()) == [48, 50, 60, 62]
    assert prompt.notes.end_s.max() == pytest.approx(0.8)
    kept = events_by_beat(prompt.data, tracks=4)
    assert kept <= events_by_beat(RICH, tracks=4)
    dropped = events_by_beat(RICH, tracks=4) - kept
    assert all(beat >= Fraction(5, 4) for _, beat, _ in dropped)


def test_the_ends_of_held_notes_keep_their_seconds_under_later_tempi() -> None:
    # a tempo change between the cut and a held note's end moves that end
    data = data_of(
        [mido.MetaMessage("set_tempo", tempo=1_000_000, time=480)],
        notes(60, length=1440),
    )
    prompt = cut_prompt(read_midi(data), 0.25)
    assert prompt.notes.end_s.tolist() == [2.5]


@pytest.mark.parametrize("up", [600, None, 480 * 100])
def test_a_pedal_held_at_the_cut_comes_up(up: int | None) -> None:
    released = [message("control_change", control=64, value=0, time=up)] if up else []
    data = data_of(
        [message("control_change", control=64, value=127), *notes(60, 62), *released, *notes(64)]
    )
    prompt = cut_prompt(read_midi(data), 0.75)
    values = [e.value for track in parsed(prompt.data).tracks for e in track if e.is_cc(64)]
    assert values == [127, 0]
    length = parsed(prompt.data).length
    assert length == pytest.approx(1.0 + (600 / 960 if up == 600 else 0))


def test_coarse_ticks_are_multiplied_by_one_whole_number() -> None:
    data = data_of(notes(60, 62, length=24), division=24)
    prompt = cut_prompt(read_midi(data))
    longer = extend(prompt, new_part(1.003, [60, 61, 62], 0.113))
    division = parsed(longer).ticks_per_beat
    assert division % 24 == 0
    assert 0.5 / division <= 0.0025
    assert events_by_beat(longer, tracks=1) == events_by_beat(data, tracks=1)
    table = note_table(read_midi(longer).score)
    assert np.abs(table.onset_s[2:] - [1.003, 1.116, 1.229]).max() <= 0.00125 + 1e-9


def test_the_slowest_tempo_gets_ticks_that_are_short_enough() -> None:
    slow = mido.MetaMessage("set_tempo", tempo=16_777_215)
    data = data_of([slow, *notes(60, length=6000)], division=6000)
    longer = extend(cut_prompt(read_midi(data)), new_part(17.0, [60]))
    assert parsed(longer).ticks_per_beat == 12_000


def test_the_new_part_joins_a_piano_at_rest() -> None:
    data = data_of([message("program_change", program=4, channel=5), *notes(60, channel=5)])
    longer = extend(cut_prompt(read_midi(data)), new_part(0.5, [60, 64]))
    new = parsed(longer).tracks[-1]
    assert {e.channel for e in new if not e.is_meta} == {5}
    assert [e.program for e in new if e.type == "program_change"] == [4]


@pytest.mark.parametrize(
    "restless",
    [
        [message("control_change", control=64, value=127)],
        [message("control_change", control=67, value=127)],
        [message("control_change", control=7, value=0)],
        [message("pitchwheel", pitch=4000)],
    ],
    ids=["pedal", "soft pedal", "volume", "bend"],
)
def test_the_new_part_keeps_off_a_channel_that_would_change_its_sound(restless: list) -> None:
    longer = extend(cut_prompt(read_midi(data_of(restless + notes(60)))), new_part(0.5, [60]))
    new = parsed(longer).tracks[-1]
    channels = {e.channel for e in new if not e.is_meta}
    assert channels
    assert not channels & {0, 9}
    assert [e.program for e in new if e.type == "program_change"] == [0]


def test_of_events_at_one_tick_the_last_counts() -> None:
    """Guards new notes that nobody heard: of "volume 100, volume 0" the 100 was taken."""
    turned_down = [message("control_change", control=7, value=value) for value in (100, 0)]
    longer = extend(cut_prompt(read_midi(data_of(turned_down + notes(60)))), new_part(0.5, [60]))
    assert 0 not in {e.channel for e in parsed(longer).tracks[-1] if not e.is_meta}

    settled = [
        *(message("pitchwheel", pitch=pitch) for pitch in (4000, 0)),
        *(message("program_change", program=program) for program in (40, 4)),
    ]
    longer = extend(cut_prompt(read_midi(data_of(settled + notes(60)))), new_part(0.5, [60]))
    new = [e for e in parsed(longer).tracks[-1] if not e.is_meta]
    assert {e.channel for e in new} == {0}
    assert [e.program for e in new if e.type == "program_change"] == [4]


def test_the_new_part_keeps_off_keys_that_the_prompt_still_holds() -> None:
    prompt = cut_prompt(read_midi(data_of(notes(60, length=1920))), 0.5)
    longer = extend(prompt, new_part(0.6, [60, 61, 60]))
    assert_no_pitch_overlaps_in_the_new_part(longer)
    assert len(sounding(longer)) == 4


def test_sixteen_busy_channels_still_leave_one_for_the_piano() -> None:
    tracks = [
        [message("program_change", program=40 + c, channel=c), *notes(60 + c, channel=c)]
        for c in range(16)
    ]
    longer = extend(cut_prompt(read_midi(data_of(*tracks))), new_part(0.5, [60, 60]))
    new = parsed(longer).tracks[-1]
    assert 9 not in {e.channel for e in new if not e.is_meta}
    assert [e.program for e in new if e.type == "program_change"] == [0]


def test_overlapping_new_notes_of_one_pitch_end_where_the_next_begins() -> None:
    clash = NoteTable.of([1, 1, 1.5, 1.5], [3, 2, 1.7, 4], [60, 60, 60, 61], [50, 60, 70, 80])
    longer = extend(cut_prompt(read_midi(data_of(notes(60)))), clash)
    assert_no_pitch_overlaps_in_the_new_part(longer)
    table = note_table(read_midi(longer).score)
    assert table.end_s.tolist() == [0.5, 1.5, 1.7, 4.0]


def test_only_the_new_part_begins_at_once() -> None:
    prompt = cut_prompt(read_midi(data_of(notes(60, 62))))
    table = note_table(read_midi(extend(prompt, new_part(1.25, [70]), only_new=True)).score)
    assert table.pitch.tolist() == [70]
    assert table.onset_s.tolist() == [0.25]


def test_title_and_recipe_of_any_script_are_kept() -> None:
    prompt = cut_prompt(read_midi(data_of(notes(60))))
    longer = extend(prompt, new_part(0.5, [60]), title="小星星", text="seed 7 🎹")
    raw = [
        (e.name if e.type == "track_name" else e.text).encode("latin-1").decode()
        for e in parsed(longer).tracks[-1]
        if e.type in ("track_name", "text")
    ]
    assert raw == ["小星星", "seed 7 🎹"]


def test_what_the_piano_model_cannot_hear_is_said() -> None:
    prompt = cut_prompt(read_midi(RICH))
    assert [w.code for w in prompt.warnings] == ["drums-left-out", "read-as-piano"]
    assert not prompt.drums_only
    assert sum(track.notes for track in prompt.tracks) == 8


def test_one_is_not_called_many() -> None:
    """Guards: "1 tracks of other instruments"."""
    violin = [message("program_change", program=40), *notes(60)]
    said = [
        warning.message
        for warning in cut_prompt(read_midi(data_of(notes(36, channel=9), violin))).warnings
    ]
    assert said[0].startswith("The model does not hear the one drum note of")
    assert said[1] == "One track of another instrument is heard as piano."


def test_drums_alone_are_told() -> None:
    prompt = cut_prompt(read_midi(data_of(notes(36, 38, channel=9))))
    assert prompt.drums_only
    assert not len(prompt.notes)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_lengths_that_are_none_are_refused(seconds: float) -> None:
    with pytest.raises(PromptError, match="above 0"):
        cut_prompt(read_midi(RICH), seconds)


def test_a_prompt_without_a_note_is_refused() -> None:
    late = data_of([message("note_on", note=60, velocity=64, time=960), *notes(62)[1:]])
    with pytest.raises(PromptError, match="No note"):
        cut_prompt(read_midi(late), 0.5)


def test_a_cut_past_the_end_is_the_end() -> None:
    assert cut_prompt(read_midi(data_of(notes(60))), 99.0).cut_s == 0.5


def _real_files(corpora: Path, wild: Path) -> list[Path]:
    folders = ("maestro/validation", "piano_midi_de", "freedoom", "groove", "pop909")
    found = [path for name in folders for path in find_midi_files(corpora / name)[7:8]]
    return found + find_midi_files(wild)[::17]


def test_real_files_come_back_event_for_event(corpora: Path, wild_midi: Path) -> None:
    for path in _real_files(corpora, wild_midi):
        try:
            document = read_midi(path)
        except MidiReadError:
            continue
        tracks = len(parsed(document.data).tracks)
        before = events_by_beat(document.data, tracks=tracks)
        for seconds in (8.0, None):
            try:
                prompt = cut_prompt(document, seconds)
            except PromptError:
                continue
            longer = extend(prompt, new_part(prompt.cut_s, list(range(40, 90))))
            after = events_by_beat(longer, tracks=tracks)
            cut = Fraction(prompt.cut_tick, prompt.events.division)
            missing = before - after
            added = after - before
            assert all(beat >= cut for _, beat, _ in missing), path.name
            assert all(beat >= cut and "control_change" in e for _, beat, e in added), path.name
            assert_no_pitch_overlaps_in_the_new_part(longer)
            read_midi(longer)
            if seconds and not document.warnings:
                pretty = to_pretty_midi(longer)
                assert len(pretty.instruments) > 0
