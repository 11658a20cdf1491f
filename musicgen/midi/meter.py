"""Beats and bars of a file, in seconds.

Shapes: N notes, B beats, R bars, S time signatures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from musicgen.midi.timing import TempoMap

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from symusic.core import ScoreTick as Score

MOST_BEATS: Final = 20_000  # three hours at 110 beats a minute; more is a broken tempo map
KEPT_TO: Final = 0.5  # chance gives about 0.2 (a performance), written music 0.8 and more
# Where notes fall in written music: sixteenths, triplets and sextuplets, in twelfths of a quarter.
_GRID = np.array([0, 2, 3, 4, 6, 8, 9, 10, 12]) / 12
_NEAR = 1 / 96  # of a quarter


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Meter:
    """Where beats and bars begin.

    Attributes:
        beat_s: The beats in seconds, ascending, float64 (B,).
        bar_beats: Which beat is the first of each bar, ascending from 0, int64 (R,).
        on_grid: Share of the notes that begin on a sixteenth, a triplet or a sextuplet.
    """

    beat_s: NDArray[np.float64]
    bar_beats: NDArray[np.int64]
    on_grid: float

    @property
    def bar_s(self) -> NDArray[np.float64]:
        """Where the bars begin, in seconds, float64 (R,)."""
        return self.beat_s[self.bar_beats]

    @property
    def is_kept_to(self) -> bool:
        """Whether the notes were written in these bars, and not played freely across them."""
        return self.on_grid >= KEPT_TO


def find_meter(score: Score, *, until_s: float | None = None) -> Meter | None:
    """Return the beats and bars that a file tells of, up to its last note's end and a bar more.

    A beat is what the time signature's denominator says, in compound time (6/8, 9/8, 12/8) three of
    these. A signature inside a bar begins a new one.

    Args:
        score: The file's score, in ticks.
        until_s: Judge by the notes before this instant whether they keep to the bars.

    Returns:
        None where the file tells of none: it has no time signature, and its notes do not keep to
        its tempo either; or where there would be more than `MOST_BEATS`.
    """
    clock = TempoMap.of(score)
    starts, ends = _note_ticks(score)
    if not len(starts):
        return None
    quarter = score.ticks_per_quarter
    judged = starts if until_s is None else starts[clock.seconds(starts) < until_s]
    on_grid = _share_on_grid(judged, quarter)
    signatures = _signatures(score)
    if not len(score.time_signatures) and (not len(score.tempos) or on_grid < KEPT_TO):
        return None
    beats, bars = _beats(signatures, int(ends.max()), quarter)
    if not len(beats):
        return None
    return Meter(beat_s=clock.seconds(beats), bar_beats=bars, on_grid=on_grid)


def _note_ticks(score: Score) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    parts = [track.notes.numpy() for track in score.tracks if len(track.notes)]
    if not parts:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    starts = np.concatenate([part["time"].astype(np.int64) for part in parts])
    return starts, starts + np.concatenate([part["duration"] for part in parts])


def _share_on_grid(ticks: NDArray[np.int64], quarter: int) -> float:
    if not len(ticks):
        return 0.0
    place = (ticks % quarter) / quarter
    off = np.abs(place[:, None] - _GRID).min(axis=1)
    return float((off <= _NEAR + 1e-9).mean())


def _signatures(score: Score) -> list[tuple[int, int, int]]:
    """Return (tick, numerator, denominator), ascending from 0; 4/4 until the first."""
    found: dict[int, tuple[int, int]] = {0: (4, 4)}
    for each in score.time_signatures:
        if each.numerator > 0 and each.denominator > 0:
            found[max(each.time, 0)] = (each.numerator, each.denominator)
    return [(tick, *of) for tick, of in sorted(found.items())]


def _beats(
    signatures: list[tuple[int, int, int]], last_tick: int, quarter: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the ticks of the beats (B,), and which of them begin bars (R,); none if too many."""
    beats: list[NDArray[np.float64]] = []
    bars: list[NDArray[np.int64]] = []
    count = 0
    for place, (tick, numerator, denominator) in enumerate(signatures):
        is_compound = denominator >= 8 and numerator > 3 and numerator % 3 == 0
        units = 3 if is_compound else 1
        length = quarter * 4 / denominator * units
        a_bar = numerator // units
        is_last = place + 1 == len(signatures)
        # One bar more after the last note, so that it lies between two lines.
        end = last_tick + a_bar * length if is_last else signatures[place + 1][0]
        n_beats = int(np.ceil((end - tick) / length - 1e-9)) + is_last
        if n_beats <= 0:
            continue
        if count + n_beats > MOST_BEATS:
            return np.zeros(0), np.zeros(0, np.int64)
        beats.append(tick + np.arange(n_beats, dtype=np.float64) * length)
        bars.append(count + np.arange(0, n_beats, a_bar))
        count += n_beats
    return np.concatenate(beats), np.concatenate(bars)
