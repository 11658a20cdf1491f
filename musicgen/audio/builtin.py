"""A small synthesizer of our own, for when nothing else works: struck strings and a few drums.

It is plain and needs no samples, so it cannot fail for want of a file or a library.
Shapes: N notes, S samples, H partials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from musicgen.audio.sound import SAMPLE_RATE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from musicgen.audio.playable import Playable

_LONGEST_S = 8.0  # a string is silent by then
_RELEASE_S = 0.12  # how fast the damper stops it
_PARTIALS = 10
_HIGHEST_HZ = 12_000.0
_STIFFNESS = 3e-4  # partials of a real string lie a little above whole multiples
_KICKS, _SNARES, _TOMS = (35, 36), (37, 38, 39, 40), (41, 43, 45, 47, 48, 50)
_CLOSED, _CYMBALS = (42, 44, 54, 69, 70, 82), (46, 49, 51, 52, 53, 55, 57, 59)


def play_builtin(music: Playable) -> NDArray[np.float32]:
    """Play the notes of `music`, float32 (2, S)."""
    out = np.zeros((2, round((music.seconds + 0.1) * SAMPLE_RATE)), dtype=np.float32)
    onset, length, pitch, loudness, is_drum = _strikes(music)
    for drum in (False, True):
        for key in np.unique(pitch[is_drum == drum]).tolist():
            mine = np.flatnonzero((pitch == key) & (is_drum == drum))
            longest = round(_LONGEST_S * SAMPLE_RATE) if drum else int(length[mine].max())
            tone = _drum(key) if drum else _string(key, longest)
            left, right = _pan(key, drum)
            for index in mine.tolist():
                size = len(tone) if drum else int(length[index])
                start = int(onset[index])
                sound = tone[: min(size, out.shape[1] - start)] * loudness[index]
                if not drum:
                    _damp(sound)
                out[0, start : start + len(sound)] += left * sound
                out[1, start : start + len(sound)] += right * sound
    return out


def _strikes(music: Playable) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
    """Return onsets and lengths in samples, pitches, loudness and which are drums, each (N,).

    Of notes that strike one key at one instant the longest and the loudest make one: however many
    there are, no instant costs more than 256 of them.
    """
    notes = music.notes
    onset = np.rint(notes.onset_s * SAMPLE_RATE).astype(np.int64)
    ring_s = np.clip(notes.end_s - notes.onset_s + _RELEASE_S, 0.0, _LONGEST_S)
    keys = np.stack((onset, notes.pitch, music.is_drum.astype(np.int64)), axis=1)
    once, place = np.unique(keys, axis=0, return_inverse=True)
    place = place.reshape(-1)
    length, velocity = np.zeros(len(once)), np.zeros(len(once))
    np.maximum.at(length, place, np.rint(ring_s * SAMPLE_RATE))
    np.maximum.at(velocity, place, notes.velocity)
    return once[:, 0], length.astype(np.int64), once[:, 1], (velocity / 127) ** 1.7, once[:, 2] == 1


def _string(pitch: int, size: int) -> NDArray[np.float32]:
    """Return a struck string that is never damped, float32 (S,)."""
    f0 = 440.0 * 2 ** ((pitch - 69) / 12)
    number = np.arange(1, _PARTIALS + 1)
    frequency = f0 * number * np.sqrt(1 + _STIFFNESS * number**2)
    audible = (frequency < _HIGHEST_HZ) | (number == 1)
    number, frequency = number[audible], frequency[audible]
    level = number**-1.3 * np.abs(np.sin(np.pi * number / 8.2))  # struck at an eighth of its length
    level /= level.sum()
    decay = 0.9 * (f0 / 262.0) ** 0.55 * (1 + 0.35 * (number - 1))  # high and upper ones die sooner
    time = np.arange(size) / SAMPLE_RATE
    tone = np.zeros(size)
    for f, a, d in zip(frequency, level, decay, strict=True):
        tone += (
            a
            * np.sin(2 * np.pi * f * time)
            * (0.75 * np.exp(-d * time) + 0.25 * np.exp(-d * time / 4))
        )
    attack = min(size, round(0.003 * SAMPLE_RATE))
    tone[:attack] *= np.linspace(0, 1, attack)
    return tone.astype(np.float32)


def _damp(sound: NDArray[np.float32]) -> None:
    release = min(len(sound), round(_RELEASE_S * SAMPLE_RATE))
    if release:
        sound[-release:] *= np.linspace(1, 0, release, dtype=np.float32) ** 2


def _drum(key: int) -> NDArray[np.float32]:
    """Return one stroke on the drum at `key` of General MIDI's map, float32 (S,)."""
    seconds = 1.6 if key in _CYMBALS else 0.4
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    noise = np.random.default_rng(key).uniform(-1, 1, len(time))
    hiss = np.diff(noise, prepend=0.0)  # high frequencies only
    if key in _KICKS:
        stroke = np.sin(2 * np.pi * (48 * time + 90 / 30 * (1 - np.exp(-30 * time)))) * np.exp(
            -9 * time
        )
    elif key in _SNARES:
        stroke = 0.5 * noise * np.exp(-16 * time) + 0.4 * np.sin(2 * np.pi * 185 * time) * np.exp(
            -22 * time
        )
    elif key in _CLOSED:
        stroke = 0.3 * hiss * np.exp(-45 * time)
    elif key in _CYMBALS:
        stroke = 0.3 * hiss * np.exp(-(9 if key == 46 else 3.5) * time)
    elif key in _TOMS:
        f = 70 * 2 ** ((key - 41) / 10)
        stroke = np.sin(2 * np.pi * (f * time + 1.2 * (1 - np.exp(-25 * time)))) * np.exp(-8 * time)
    else:
        stroke = 0.5 * np.sin(2 * np.pi * (300 + 25 * (key % 24)) * time) * np.exp(-30 * time)
    stroke[-480:] *= np.linspace(1, 0, 480)
    return (0.6 * stroke).astype(np.float32)


def _pan(key: int, is_drum: bool) -> tuple[float, float]:
    """Return the levels left and right: low strings a little to the left, as one plays."""
    place = 0.5 if is_drum else 0.5 + 0.3 * (np.clip(key, 21, 108) - 64) / 44
    return float(np.cos(place * np.pi / 2)), float(np.sin(place * np.pi / 2))
