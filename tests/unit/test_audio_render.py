"""Sound from MIDI: each test names the bug it guards against."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.audio import SAMPLE_RATE, Sound, render
from musicgen.audio.builtin import play_builtin
from musicgen.audio.playing import ENGINES
from musicgen.errors import AudioError, EmptyScoreError, MidiReadError

TICKS_A_SECOND = 960  # the division is 480, the tempo 120
SAMPLED = ENGINES[:1]
BUILT_IN = ENGINES[-1:]
BOTH = pytest.mark.parametrize("engines", [SAMPLED, BUILT_IN], ids=["sampled", "built-in"])

Timed = tuple[float, bytes]


def note(
    start_s: float, end_s: float, pitch: int = 60, velocity: int = 90, channel: int = 0
) -> list[Timed]:
    return [
        (start_s, bytes([0x90 | channel, pitch, velocity])),
        (end_s, bytes([0x80 | channel, pitch, 64])),
    ]


def control(at_s: float, number: int, value: int, channel: int = 0) -> Timed:
    return at_s, bytes([0xB0 | channel, number, value])


def program(number: int, channel: int = 0, at_s: float = 0.0) -> Timed:
    return at_s, bytes([0xC0 | channel, number])


def midi(*events: Timed, end_s: float = 0.0) -> bytes:
    """Return a file of one track; events at one time keep their order."""
    body, tick = bytearray(), 0
    for at_s, message in [*sorted(events, key=lambda event: event[0]), (end_s, b"\xff\x2f\x00")]:
        now = max(round(at_s * TICKS_A_SECOND), tick)
        body += _quantity(now - tick) + message
        tick = now
    head = b"MThd" + (6).to_bytes(4, "big") + bytes([0, 0, 0, 1, 480 >> 8, 480 & 255])
    return head + b"MTrk" + len(body).to_bytes(4, "big") + bytes(body)


def _quantity(value: int) -> bytes:
    digits = [value & 0x7F]
    while value := value >> 7:
        digits.append(0x80 | value & 0x7F)
    return bytes(reversed(digits))


def loudness(sound: Sound, from_s: float, to_s: float) -> float:
    part = sound.samples[:, round(from_s * SAMPLE_RATE) : round(to_s * SAMPLE_RATE)]
    return float(np.sqrt((part.astype(np.float64) ** 2).mean()))


def pitch_hz(sound: Sound, from_s: float, to_s: float) -> float:
    """Return the strongest frequency between two instants."""
    part = sound.samples.mean(axis=0)[round(from_s * SAMPLE_RATE) : round(to_s * SAMPLE_RATE)]
    spectrum = np.abs(np.fft.rfft(part * np.hanning(len(part))))
    return float(np.argmax(spectrum) * SAMPLE_RATE / len(part))


@BOTH
def test_a_note_is_heard_where_it_is_written(engines) -> None:
    """Guards against seconds of nothing, and against sound that comes too early or too late."""
    sound = render(midi(*note(1.0, 2.0)), engines=engines)
    assert sound.samples.dtype == np.float32
    assert sound.samples.shape[0] == 2
    assert loudness(sound, 0.0, 0.98) < 1e-3
    assert loudness(sound, 1.02, 1.5) > 0.02


@BOTH
def test_the_written_key_is_the_one_that_sounds(engines) -> None:
    """Guards against samples at a wrong rate: all music would be out of tune, and its time too."""
    sound = render(midi(*note(0.0, 1.0, pitch=69)), engines=engines)
    assert pitch_hz(sound, 0.1, 0.9) == pytest.approx(440, rel=0.006)


@BOTH
def test_sound_lasts_as_long_as_the_music(engines) -> None:
    """Guards against a clipped last note, and ten hours of silence before the track's end."""
    sound = render(midi(*note(0.0, 3.0), end_s=600.0), engines=engines)
    assert 3.0 < sound.seconds <= 4.0
    assert np.abs(sound.samples[:, -20:]).max() < 1e-3, "the end must fade, not click"


@BOTH
def test_the_pedal_lets_notes_ring(engines) -> None:
    """Guards against a synthesizer that does not know controller 64."""
    key, later = note(0.0, 0.3), note(2.5, 3.0, pitch=30, velocity=1)
    dry = render(midi(*key, *later), engines=engines)
    wet = render(midi(control(0.0, 64, 127), *key, control(2.4, 64, 0), *later), engines=engines)
    assert loudness(wet, 1.0, 1.5) > 8 * loudness(dry, 1.0, 1.5)


@BOTH
def test_a_released_pedal_damps(engines) -> None:
    """Guards against a pedal that is only ever pressed."""
    key, later = note(0.0, 0.3), note(2.5, 3.0, pitch=30, velocity=1)
    held = render(midi(control(0.0, 64, 127), *key, control(2.4, 64, 0), *later), engines=engines)
    let_go = render(midi(control(0.0, 64, 127), *key, control(0.6, 64, 0), *later), engines=engines)
    assert loudness(held, 1.6, 2.2) > 4 * loudness(let_go, 1.6, 2.2)


@BOTH
@pytest.mark.parametrize("key", [36, 38, 42, 49], ids=["kick", "snare", "hi-hat", "crash"])
def test_drums_sound(engines, key: int) -> None:
    """Guards against a font without a drum bank, and drums played as low piano keys."""
    drums = render(midi(*note(0.0, 0.4, pitch=key, channel=9)), engines=engines)
    piano = render(midi(*note(0.0, 0.4, pitch=key)), engines=engines)
    assert loudness(drums, 0.0, 0.2) > 0.01
    size = SAMPLE_RATE // 3
    likeness = np.corrcoef(drums.samples[0, :size], piano.samples[0, :size])[0, 1]
    assert abs(likeness) < 0.5


@BOTH
def test_loud_notes_are_louder(engines) -> None:
    """Guards against a velocity that is read and not used."""
    sound = render(
        midi(*note(0.0, 0.5, velocity=20), *note(1.5, 2.0, velocity=120)), engines=engines
    )
    assert loudness(sound, 1.5, 1.9) > 3 * loudness(sound, 0.0, 0.4)


def test_programs_are_honoured_while_the_music_runs() -> None:
    """Guards against everything being played on the piano."""
    organ = render(midi(program(16), *note(0.0, 2.0)), engines=SAMPLED)
    switched = render(
        midi(*note(0.0, 1.0), program(16, at_s=1.5), *note(1.5, 3.5)), engines=SAMPLED
    )
    assert loudness(organ, 1.5, 1.9) > 0.7 * loudness(organ, 0.3, 0.7), "an organ does not die away"
    assert loudness(switched, 0.7, 0.9) < 0.8 * loudness(switched, 0.0, 0.2)
    assert loudness(switched, 3.0, 3.4) > 0.5 * loudness(switched, 1.8, 2.2)
    assert organ.warnings == switched.warnings == ()


def test_a_missing_instrument_is_replaced_by_its_neighbour_and_named() -> None:
    """Guards against silence, and against a silent substitution."""
    viola = render(midi(program(41), *note(0.0, 1.0)), engines=SAMPLED)
    violin = render(midi(program(40), *note(0.0, 1.0)), engines=SAMPLED)
    assert np.array_equal(viola.samples, violin.samples)
    assert len(viola.warnings) == 1
    assert "Viola" in viola.warnings[0]
    assert "Violin" in viola.warnings[0]


def test_a_missing_instrument_without_a_note_is_not_mentioned() -> None:
    """Guards against warnings about what nobody hears."""
    sound = render(
        midi(program(41, channel=3), program(41), program(0), *note(0.0, 1.0)), engines=SAMPLED
    )
    assert sound.warnings == ()


def test_a_missing_drum_kit_is_replaced() -> None:
    """Guards against a rare kit leaving the drums silent."""
    sound = render(
        midi(program(72, channel=9), *note(0.0, 0.5, pitch=38, channel=9)), engines=SAMPLED
    )
    assert loudness(sound, 0.0, 0.2) > 0.01
    assert "drum kit 1 for drum kit 73" in sound.warnings[0]


def test_banks_do_not_change_the_drum_kit() -> None:
    """Guards against bank selects of other makers, with which the font's kits are not found."""
    strokes = [program(24, channel=9), *note(0.0, 0.5, pitch=36, channel=9)]
    banked = render(midi(control(0.0, 0, 120, channel=9), *strokes), engines=SAMPLED)
    plain = render(midi(*strokes), engines=SAMPLED)
    standard = render(midi(*note(0.0, 0.5, pitch=36, channel=9)), engines=SAMPLED)
    assert np.array_equal(banked.samples, plain.samples)
    assert not np.array_equal(standard.samples, plain.samples)


def test_the_same_bytes_give_the_same_samples() -> None:
    """Guards against noise or threads that differ from run to run."""
    music = midi(*note(0.0, 1.0), *note(0.2, 0.5, pitch=38, channel=9))
    for engines in (SAMPLED, BUILT_IN):
        assert np.array_equal(
            render(music, engines=engines).samples, render(music, engines=engines).samples
        )


@pytest.mark.parametrize("velocity", [20, 127])
def test_level_is_brought_up_and_never_clips(velocity: int) -> None:
    """Guards against takes that cannot be heard, and against distortion."""
    chord = [event for key in range(36, 96, 3) for event in note(0.0, 1.0, key, velocity)]
    peak = float(np.abs(render(midi(*chord)).samples).max())
    assert 0.1 < peak <= 0.8901


def test_a_synthesizer_that_raises_costs_nothing_but_a_warning() -> None:
    """Guards against a lost take: the next engine plays, and the user is told."""

    def broken(music: object) -> None:
        raise RuntimeError("out of voices")

    sound = render(midi(*note(0.0, 1.0)), engines=[("first", broken), ("built-in", play_builtin)])
    assert sound.engine == "built-in"
    assert loudness(sound, 0.0, 1.0) > 0.01
    assert any("first" in w and "out of voices" in w and "built-in" in w for w in sound.warnings)


def test_a_synthesizer_that_is_silent_counts_as_failed() -> None:
    """Guards against seven seconds of nothing that call themselves music."""

    def mute(music: object) -> np.ndarray:
        return np.zeros((2, 100), dtype=np.float32)

    sound = render(midi(*note(0.0, 1.0)), engines=[("mute", mute), ("built-in", play_builtin)])
    assert sound.engine == "built-in"
    assert "gave silence" in sound.warnings[-1]


def test_a_file_that_turns_itself_down_stays_silent_and_we_say_so() -> None:
    """Guards against sound where the file wants none, and against silence without a word."""
    sound = render(midi(control(0.0, 7, 0), *note(0.0, 1.0)))
    assert sound.engine == "midirenderer"
    assert not sound.samples.any()
    assert "volume" in sound.warnings[0]


def test_an_absent_synthesizer_is_passed_over_in_silence() -> None:
    """Guards against a warning on each machine without fluidsynth."""
    sound = render(midi(*note(0.0, 1.0)), engines=[("absent", lambda music: None), *BUILT_IN])
    assert (sound.engine, sound.warnings) == ("built-in", ())


def test_when_all_fail_the_error_says_what_to_do() -> None:
    """Guards against a stack trace as the last word."""
    with pytest.raises(AudioError, match="gave silence") as caught:
        render(
            midi(*note(0.0, 1.0)), engines=[("mute", lambda music: np.zeros((2, 9), np.float32))]
        )
    assert caught.value.hint


def test_a_long_piece_is_cut_and_the_cut_is_told() -> None:
    """Guards against a crafted duration that fills the disk."""
    music = midi(*note(0.0, 1.0), *note(2.0, 3.0), *note(50.0, 51.0))
    sound = render(music, max_seconds=2.5)
    assert 2.5 <= sound.seconds <= 3.5
    assert "0:51" in sound.warnings[0]
    assert loudness(sound, 2.0, 2.5) > 0.01


def test_a_note_of_hours_is_heard_for_half_a_minute() -> None:
    """Guards against twenty minutes of silence after the string has died away."""
    sound = render(midi(*note(0.0, 7200.0)))
    assert sound.seconds == pytest.approx(30.9)
    assert "2:00:00" in sound.warnings[0]


def test_music_that_begins_after_the_limit_is_refused() -> None:
    """Guards against an empty sound without a word."""
    with pytest.raises(AudioError, match="first note"):
        render(midi(*note(90.0, 91.0)), max_seconds=60)


@BOTH
def test_thousands_of_notes_at_one_instant_are_bounded(engines) -> None:
    """Guards against a polyphony that stalls the machine or overflows."""
    heap = [
        event
        for n in range(20_000)
        for event in note(0.0, 0.5, pitch=n % 128, velocity=1 + n % 127)
    ]
    sound = render(midi(*heap), engines=engines)
    assert np.isfinite(sound.samples).all()
    assert 0.1 < np.abs(sound.samples).max() <= 0.8901


@BOTH
@pytest.mark.parametrize("pitch", [0, 127])
def test_extreme_keys_are_finite(engines, pitch: int) -> None:
    """Guards against divisions by zero and aliasing at the keyboard's ends."""
    sound = render(midi(*note(0.0, 0.5, pitch=pitch), *note(1.0, 1.5)), engines=engines)
    assert np.isfinite(sound.samples).all()


def test_tempo_changes_are_followed() -> None:
    """Guards against tempo events lost on the way to the synthesizer."""
    half_speed = (0.0, b"\xff\x51\x03" + (1_000_000).to_bytes(3, "big"))
    sound = render(midi(half_speed, *note(1.0, 2.0)))
    assert 4.0 < sound.seconds <= 5.0
    assert loudness(sound, 0.0, 1.98) < 1e-3 < loudness(sound, 2.02, 2.4)


@pytest.mark.parametrize(("data", "error"), [(b"RIFF", MidiReadError), (midi(), EmptyScoreError)])
def test_what_is_no_music_is_refused_by_the_reader(data: bytes, error: type[Exception]) -> None:
    """Guards against a synthesizer's own words for a bad file."""
    with pytest.raises(error):
        render(data)


def test_a_muted_track_is_not_heard_and_the_rest_stays_as_it_is():
    """Guards: the length or the level of what is left changing with what is muted."""
    two = midi(
        *note(0.0, 0.5), *note(1.0, 2.0, pitch=72, channel=1), *note(0.2, 0.6, channel=1), end_s=2.0
    )
    whole = render(two)
    first_alone = render(two, muted=[1], most_gain=whole.gain)
    silent = render(two, muted=[0, 1])
    assert first_alone.samples.shape == whole.samples.shape == silent.samples.shape
    assert loudness(first_alone, 1.5, 2.0) < loudness(whole, 1.5, 2.0) / 20
    assert loudness(first_alone, 0.0, 0.15) == pytest.approx(loudness(whole, 0.0, 0.15), rel=0.01)
    assert first_alone.gain <= whole.gain
    assert not silent.samples.any()
    assert silent.warnings == ()
