"""Notes as arrays: the form in which music goes through the house.

Shapes: N notes, P pedal presses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from symusic.core import NoteTickList, TempoTick, TrackTick
from symusic.core import ScoreTick as Score

from musicgen.midi.timing import TempoMap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SUSTAIN = 64  # the controller's number, and the value from which on the pedal is down
_FIELDS = ("onset_s", "end_s", "pitch", "velocity", "track")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoteTable:
    """Notes in real time, sorted by onset, then pitch, velocity, track and end.

    Attributes:
        onset_s: Where each note begins, float64 (N,).
        end_s: Where it ends, float64 (N,).
        pitch: 0 to 127, int64 (N,).
        velocity: 1 to 127, int64 (N,).
        track: Index of its track in the score, int64 (N,).
    """

    onset_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    pitch: NDArray[np.int64]
    velocity: NDArray[np.int64]
    track: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        onset_s: ArrayLike,
        end_s: ArrayLike,
        pitch: ArrayLike,
        velocity: ArrayLike,
        track: ArrayLike = 0,
    ) -> NoteTable:
        """Build a sorted table from columns in any order; `track` may be one number for all.

        Raises:
            ValueError: The columns are not of one length.
        """
        onset = np.asarray(onset_s, dtype=np.float64)
        end = np.asarray(end_s, dtype=np.float64)
        pitches, velocities = (np.asarray(c, dtype=np.int64) for c in (pitch, velocity))
        tracks = np.broadcast_to(np.asarray(track, dtype=np.int64), onset.shape)
        if onset.ndim != 1 or {c.shape for c in (end, pitches, velocities)} != {onset.shape}:
            raise ValueError("all columns of a note table must have the one shape (N,)")
        order = order_by(onset, pitches, velocities, tracks, end)
        return cls(
            onset_s=onset[order],
            end_s=end[order],
            pitch=pitches[order],
            velocity=velocities[order],
            track=tracks[order],
        )

    def __len__(self) -> int:
        return len(self.onset_s)

    def select(self, mask: NDArray[np.bool_] | NDArray[np.int64] | slice) -> NoteTable:
        """Return the notes that a mask, indices (ascending) or a slice pick."""
        return NoteTable(**{name: getattr(self, name)[mask] for name in _FIELDS})


def order_by(first: NDArray, *others: NDArray) -> NDArray[np.int64]:
    """Return the order by one column (N,) and, where it is equal, by the others in turn.

    The same as `np.lexsort` with the columns reversed, and far faster for onsets of a performance:
    most are in order already, and few are equal.
    """
    order = np.argsort(first, kind="stable")
    ascending = first[order]
    is_next_equal = ascending[1:] == ascending[:-1]
    if is_next_equal.any():
        tied = np.flatnonzero(np.append(is_next_equal, False) | np.append(False, is_next_equal))
        rows = order[tied]
        order[tied] = rows[np.lexsort((*(other[rows] for other in others[::-1]), ascending[tied]))]
    return order


def note_table(score: Score, *, include_drums: bool = False) -> NoteTable:
    """Return the notes of all tracks in seconds, as the keys were held (pedal not folded in).

    Raises:
        TypeError: It is no score of ticks.
    """
    if not isinstance(score, Score):
        raise TypeError(f"a score is what read_midi(path).score holds, not {type(score).__name__}")
    clock = TempoMap.of(score)
    columns: list[tuple[NDArray, ...]] = []
    for index, track in enumerate(score.tracks):
        if len(track.notes) and (include_drums or not track.is_drum):
            notes = track.notes.numpy()
            start = notes["time"].astype(np.int64)
            end = start + notes["duration"]
            columns.append(
                (start, end, notes["pitch"], notes["velocity"], np.full_like(start, index))
            )
    if not columns:
        return NoteTable.of([], [], [], [])
    start, end, pitch, velocity, track = (
        np.concatenate(part) for part in zip(*columns, strict=True)
    )
    return NoteTable.of(clock.seconds(start), clock.seconds(end), pitch, velocity, track)


def pedal_spans(score: Score) -> dict[int, NDArray[np.float64]]:
    """Return when the sustain pedal is down, in seconds, float64 (P, 2), by track index.

    A pedal that is never released ends with the last note of its track.
    """
    clock = TempoMap.of(score)
    spans: dict[int, NDArray[np.float64]] = {}
    for index, track in enumerate(score.tracks):
        controls = track.controls.numpy()
        of_pedal = controls["number"] == SUSTAIN
        if not of_pedal.any():
            continue
        ticks = controls["time"][of_pedal].astype(np.int64)
        down = controls["value"][of_pedal] >= SUSTAIN
        turns = down != np.concatenate(([False], down[:-1]))
        ticks, down = ticks[turns], down[turns]
        if len(down) % 2:
            notes = track.notes.numpy()
            last = (notes["time"].astype(np.int64) + notes["duration"]).max(initial=0)
            ticks = np.append(ticks, max(last, ticks[-1]))
        pairs = clock.seconds(ticks.reshape(-1, 2))
        pairs = pairs[pairs[:, 1] > pairs[:, 0]]
        if len(pairs):
            spans[index] = pairs
    return spans


def fold_pedal(notes: NoteTable, pedals: Mapping[int, NDArray[np.float64]] | Score) -> NoteTable:
    """Let notes ring as the sustain pedal makes them.

    A note whose key is let go while its track's pedal is down ends when the pedal comes up, or when
    the same key is struck again; never before its own key's end.

    Args:
        notes: Notes as the keys were held (N,).
        pedals: Pedal spans by track, as `pedal_spans` returns them, or the score itself.
    """
    spans = pedals if isinstance(pedals, Mapping) else pedal_spans(pedals)
    if not spans or not len(notes):
        return notes
    release = notes.end_s.copy()
    for track, span in spans.items():
        mine = np.flatnonzero(notes.track == track)
        end = notes.end_s[mine]
        press = np.searchsorted(span[:, 0], end, side="right") - 1
        held = (press >= 0) & (end < span[press, 1])
        release[mine[held]] = span[press[held], 1]
    rings_to = np.maximum(notes.end_s, np.minimum(release, _next_strike(notes)))
    return NoteTable.of(notes.onset_s, rings_to, notes.pitch, notes.velocity, notes.track)


def _next_strike(notes: NoteTable) -> NDArray[np.float64]:
    """Return when each note's key is struck again later on its track, or infinity, (N,)."""
    order = np.lexsort((notes.onset_s, notes.pitch, notes.track))
    key = (notes.track * 128 + notes.pitch)[order]
    onset = notes.onset_s[order]
    fresh = np.concatenate(([True], (key[1:] != key[:-1]) | (onset[1:] != onset[:-1])))
    first = np.flatnonzero(fresh)  # first note of each group struck at one instant
    following = np.append(first[1:], len(key))[np.cumsum(fresh) - 1]
    inside = np.minimum(following, len(key) - 1)
    again = (following < len(key)) & (key[inside] == key)
    strikes = np.empty(len(key))
    strikes[order] = np.where(again, onset[inside], np.inf)
    return strikes


def notes_to_score(
    notes: NoteTable,
    *,
    program: int = 0,
    name: str = "piano",
    ticks_per_quarter: int = 500,
    qpm: float = 120.0,
) -> Score:
    """Return a score of one track that holds `notes`; a tick of the defaults is a millisecond.

    Each note lasts at least one tick.

    Raises:
        ValueError: A note lies before 0 or past what 31 bits of ticks hold.
    """
    ticks_a_second = ticks_per_quarter * qpm / 60
    start = np.rint(notes.onset_s * ticks_a_second)
    end = np.maximum(np.rint(notes.end_s * ticks_a_second), start + 1)
    if len(notes) and not (start.min() >= 0 and end.max() < 2**31):
        raise ValueError("a note lies before 0 s or past the longest time a MIDI tick can name")
    score = Score(ticks_per_quarter)
    score.tempos.append(TempoTick(0, qpm))
    track = TrackTick(name, program, False)
    if len(notes):
        # In a file a release ends the earliest note of its key: of two struck at once, the shorter
        # must come first, or they would come back with each other's lengths.
        order = order_by(start * 128 + notes.pitch, end)
        track.notes = NoteTickList.from_numpy(
            start[order].astype(np.int32),
            (end - start)[order].astype(np.int32),
            notes.pitch[order].astype(np.int8),
            notes.velocity[order].astype(np.int8),
        )
    score.tracks.append(track)
    return score
