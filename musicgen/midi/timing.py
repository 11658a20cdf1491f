"""Ticks and seconds, whatever the tempo map.

Shapes: N times, C tempo changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from symusic.core import ScoreTick as Score

DEFAULT_QUARTER_US = 500_000  # what the standard asks for until the first tempo: 120 bpm


@dataclass(frozen=True, slots=True, kw_only=True)
class TempoMap:
    """A piecewise linear clock: at `change_ticks[i]` a tick becomes `tick_s[i]` seconds long.

    Attributes:
        change_ticks: Where the tempo changes, strictly ascending from 0, int64 (C,).
        change_s: The same instants in seconds, float64 (C,).
        tick_s: Seconds a tick from there on, all above 0, float64 (C,).
    """

    change_ticks: NDArray[np.int64]
    change_s: NDArray[np.float64]
    tick_s: NDArray[np.float64]

    @classmethod
    def of(cls, score: Score) -> TempoMap:
        """Return the clock of a score whose times are ticks."""
        tempos = score.tempos.numpy()
        return cls.from_changes(tempos["time"], tempos["mspq"], score.ticks_per_quarter)

    @classmethod
    def from_changes(
        cls, ticks: ArrayLike, quarter_us: ArrayLike, ticks_per_quarter: int
    ) -> TempoMap:
        """Build the clock from tempo events; of several at one tick the last one counts.

        Args:
            ticks: Where the tempo events stand, in any order, (C,).
            quarter_us: Microseconds a quarter note, each above 0, (C,).
            ticks_per_quarter: The file's division.

        Raises:
            ValueError: The division or a tempo is not above 0.
        """
        at = np.asarray(ticks, dtype=np.int64)
        tempo = np.asarray(quarter_us, dtype=np.float64)
        if ticks_per_quarter <= 0 or (tempo <= 0).any():
            raise ValueError("the division and every tempo must be above 0")
        order = np.argsort(at, kind="stable")
        at, tempo = at[order], tempo[order]
        last_of_tick = np.append(at[1:] != at[:-1], True) if len(at) else np.zeros(0, bool)
        at, tempo = at[last_of_tick], tempo[last_of_tick]
        if not len(at) or at[0] > 0:
            at = np.insert(at, 0, 0)
            tempo = np.insert(tempo, 0, DEFAULT_QUARTER_US)
        tick_s = tempo / (ticks_per_quarter * 1e6)
        change_s = np.concatenate(([0.0], np.cumsum(np.diff(at) * tick_s[:-1])))
        return cls(change_ticks=at, change_s=change_s, tick_s=tick_s)

    def seconds(self, ticks: ArrayLike) -> NDArray[np.float64]:
        """Return the seconds of `ticks`, float64, of the same shape."""
        at = np.asarray(ticks)
        part = np.searchsorted(self.change_ticks, at, side="right") - 1
        part = np.maximum(part, 0)
        return self.change_s[part] + (at - self.change_ticks[part]) * self.tick_s[part]

    def ticks(self, seconds: ArrayLike) -> NDArray[np.float64]:
        """Return the ticks (with fractions) of `seconds`, float64, of the same shape."""
        at = np.asarray(seconds, dtype=np.float64)
        part = np.searchsorted(self.change_s, at, side="right") - 1
        part = np.maximum(part, 0)
        return self.change_ticks[part] + (at - self.change_s[part]) / self.tick_s[part]
