"""Channels that several tracks share: programs and pedals act on all of them."""

from __future__ import annotations

import io

import mido

from musicgen.midi import describe, fold_pedal, note_table, read_midi


def data_of(*tracks: list) -> bytes:
    file = mido.MidiFile(ticks_per_beat=480)
    for messages in tracks:
        file.tracks.append(mido.MidiTrack(messages))
    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def note(pitch: int = 60, channel: int = 0) -> list:
    return [
        mido.Message("note_on", note=pitch, velocity=64, channel=channel),
        mido.Message("note_off", note=pitch, channel=channel, time=480),
    ]


def program(number: int, channel: int = 0, time: int = 0) -> mido.Message:
    return mido.Message("program_change", program=number, channel=channel, time=time)


def pedal(value: int, time: int, channel: int = 0) -> mido.Message:
    return mido.Message("control_change", control=64, value=value, channel=channel, time=time)


def programs(data: bytes) -> list[int]:
    return [track.program for track in describe(read_midi(data)).tracks]


def test_a_program_in_another_track_of_the_channel_counts() -> None:
    assert programs(data_of([program(40)], note())) == [40]


def test_a_track_with_a_program_of_its_own_keeps_it() -> None:
    assert programs(data_of([program(40)], [program(5), *note()])) == [5]


def test_other_channels_and_ports_keep_out() -> None:
    assert programs(data_of([program(40, channel=1)], note())) == [0]
    port = mido.MetaMessage("midi_port", port=1)
    assert programs(data_of([port, program(40)], note())) == [0]


def test_one_pedal_holds_both_hands() -> None:
    # piano sequences with a track a hand write the pedal into one of them
    data = data_of([*note(60), pedal(0, 480)], [pedal(127, 0), *note(48)])
    score = read_midi(data).score
    folded = fold_pedal(note_table(score), score)
    assert folded.end_s.tolist() == [1.0, 1.0]


def test_the_files_own_bytes_keep_programs_and_pedals_where_they_are() -> None:
    data = data_of([program(40), pedal(127, 0)], note())
    assert read_midi(data).data == data
