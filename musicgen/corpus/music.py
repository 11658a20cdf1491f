"""What is known of one usable file: figures and fingerprint; and what makes a file unusable.

Legend: N notes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from musicgen.corpus.fingerprints import Fingerprint, fingerprint_of, music_digest
from musicgen.corpus.keys import key_correlations
from musicgen.midi import MidiDocument, NoteTable, TempoMap, note_table
from musicgen.midi.facts import track_facts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_NOTES = 8
"""A file with fewer notes teaches nothing and is left out."""
LONGEST_S = 3 * 3600.0
DENSEST_PER_S = 80.0
"""Notes a second, over the whole file; docs/corpus.md tells what real music reaches."""
_LEAST_MUSIC, _SILENT_FROM_S, _PAUSE_S = 0.1, 60.0, 5.0
"""A file is silence if less than this share of a length above this is left without its pauses."""
VELOCITY_BINS = 32
_KEY_BINS = 24
_FARTHEST = 24  # semitones by which a transposition is looked for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Music:
    """One usable file.

    Attributes:
        digest: SHA-256 of what is played.
        n_notes: Notes, drums left out.
        seconds: From 0 to the end of the last note.
        warnings: Codes of what was repaired or is left out.
        key: 0 to 11 the major keys from C, 12 to 23 the minor ones.
        pitches: Notes of each pitch, uint32 (128,).
        velocities: Notes in each of `VELOCITY_BINS` bins of four velocities, uint32.
        played: What twins are found by, from the times in seconds.
        written: The same from the ticks, which other tempi leave alone; None where the file has
            one tempo, and it would be the same.
    """

    digest: str
    n_notes: int
    seconds: float
    warnings: tuple[str, ...]
    key: int
    pitches: NDArray[np.uint32]
    velocities: NDArray[np.uint32]
    played: Fingerprint
    written: Fingerprint | None

    @property
    def notes_per_s(self) -> float:
        """Notes a second, over the whole file."""
        return self.n_notes / self.seconds if self.seconds else 0.0

    def semitones_above(self, other: Music) -> int:
        """Return the transposition of another piece that fits this one's pitches best."""
        mine, others = self.pitches.astype(np.float64), other.pitches.astype(np.float64)
        padded = np.pad(others, _FARTHEST)
        fits = {
            step: float(np.minimum(mine, padded[_FARTHEST - step :][:128]).sum())
            for step in range(-_FARTHEST, _FARTHEST + 1)
        }
        return max(fits, key=lambda step: (fits[step], -abs(step)))


def measure(document: MidiDocument, notes: NoteTable) -> Music:
    """Return what is known of a file.

    Args:
        document: The file.
        notes: Its notes without drums, one at least.
    """
    seconds_of_class = np.bincount(
        notes.pitch % 12, weights=np.maximum(notes.end_s - notes.onset_s, 0.0), minlength=12
    )
    clock = TempoMap.of(document.score)
    written = None
    if len(clock.tick_s) > 1:
        written = fingerprint_of(np.rint(clock.ticks(notes.onset_s)), notes.pitch)
    bins = notes.velocity * VELOCITY_BINS // 128
    return Music(
        digest=music_digest(notes),
        n_notes=len(notes),
        seconds=float(notes.end_s.max(initial=0.0)),
        warnings=_warnings(document),
        key=int(key_correlations(seconds_of_class).argmax()),
        pitches=np.bincount(notes.pitch, minlength=128).astype(np.uint32),
        velocities=np.bincount(bins, minlength=VELOCITY_BINS).astype(np.uint32),
        played=fingerprint_of(notes.onset_s, notes.pitch),
        written=written,
    )


def fault_of(document: MidiDocument, notes: NoteTable) -> tuple[str, str] | None:
    """Return why a readable file is of no use for training, as code and sentence, or None.

    Args:
        document: The file.
        notes: Its notes without drums (N,).
    """
    n_notes = len(notes)
    if not n_notes:
        n_drums = len(note_table(document.score, include_drums=True))
        return "drums-only", f"It has {_counted(n_drums, 'note')}, all of them drums."
    if n_notes < MIN_NOTES:
        told = f"It has {_counted(n_notes, 'note')} without drums; fewer than {MIN_NOTES}"
        return "too-short", f"{told} teach nothing."
    end_s = float(notes.end_s.max())
    if end_s > LONGEST_S:
        told = f"Its last note ends after {end_s / 3600:,.1f} hours"
        return "absurd-length", f"{told}; up to {LONGEST_S / 3600:.0f} are taken."
    if n_notes > DENSEST_PER_S * max(end_s, 1.0):
        told = f"It has {n_notes / max(end_s, 1.0):,.0f} notes a second"
        return "too-dense", f"{told}; up to {DENSEST_PER_S:.0f} are taken."
    silent_s = _silent_s(notes)
    if end_s > _SILENT_FROM_S and silent_s > (1 - _LEAST_MUSIC) * end_s:
        return "silence", f"It is silent for {silent_s:,.0f} of its {end_s:,.0f} seconds."
    return None


def _silent_s(notes: NoteTable) -> float:
    """Return the length of all pauses of more than `_PAUSE_S` before and between the notes."""
    until_s = np.concatenate(([0.0], np.maximum.accumulate(notes.end_s)[:-1]))
    pauses_s = notes.onset_s - until_s
    return float(pauses_s[pauses_s > _PAUSE_S].sum())


def _warnings(document: MidiDocument) -> tuple[str, ...]:
    codes = [warning.code for warning in document.warnings]
    tracks = track_facts(document.score)
    if any(track.is_drum for track in tracks):
        codes.append("drums-left-out")
    if any(track.program > 7 for track in tracks if not track.is_drum):
        codes.append("read-as-piano")
    return tuple(dict.fromkeys(codes))


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
