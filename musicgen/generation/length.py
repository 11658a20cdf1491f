"""How long the new music is to be, and how its last notes end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from musicgen.errors import ConfigError, PromptError
from musicgen.generation.numbers import real_number, shown
from musicgen.midi import NoteTable

SHORTEST_S, LONGEST_S = 0.1, 4 * 3600.0
LATEST_START_S = 20 * 3600.0
"""Tokens tell the times of a day: so late may the longest new music still begin."""

OPEN_END_S = 600.0
"""The most that is played when the model alone decides where to end."""

REACHED = 0.96  # of the wanted length: from here on it is met, and the model may end
RING = 1.04  # of the wanted length: no note sounds longer; both well within 5%
RELEASE_S = 0.25
"""A piece is released, and not cut off, where it sounds so long beyond its last onset."""

_RING_S = 1.0  # before the end every note rings that long; never before the length is met anyway
_SHORTEST_WITH_ENDING_S = 5.0  # shorter music stops where it comes to
_LEAST_NOTES, _LEAST_S = 8, 3.0  # an end before this is a slip, not an ending


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthPlan:
    """Where the new music lies in time.

    Attributes:
        start_s: Where it begins: the cut, or 0.
        seconds: How long it is to be; None leaves the end to the model, within OPEN_END_S.
        may_end_early: Accept an end that the model sets before `seconds` are over.

    Raises:
        ConfigError: `seconds` is out of range.
        PromptError: It would begin after LATEST_START_S.
    """

    start_s: float = 0.0
    seconds: float | None = 30.0
    may_end_early: bool = False

    def __post_init__(self) -> None:
        if self.start_s > LATEST_START_S:
            raise PromptError(
                f"The music to go on from lasts {self.start_s / 3600:.1f} hours; "
                f"{LATEST_START_S / 3600:g} hours are the limit.",
                hint="Use its first part only.",
                code="prompt-too-long",
            )
        if self.seconds is None:
            return
        seconds = real_number(self.seconds)
        if seconds is None or not SHORTEST_S <= seconds <= LONGEST_S:
            raise ConfigError(
                f"seconds is {shown(self.seconds)}; new music lasts from {SHORTEST_S:g} to "
                f"{LONGEST_S:g} seconds.",
                hint="Choose a length in that range.",
            )

    @property
    def wanted_s(self) -> float:
        """Seconds of new music at most."""
        return OPEN_END_S if self.seconds is None else float(self.seconds)

    @property
    def target_s(self) -> float:
        """No new note begins here or later."""
        return self.start_s + self.wanted_s

    @property
    def latest_release_s(self) -> float:
        """No note sounds longer."""
        return self.start_s + RING * self.wanted_s

    @property
    def seeks_ending(self) -> bool:
        """Whether there is a length to be met, and music enough to seek an ending for."""
        long_enough = self.wanted_s >= _SHORTEST_WITH_ENDING_S
        return self.seconds is not None and long_enough and not self.may_end_early

    @property
    def ring_from_s(self) -> float:
        """Notes from here on ring, as each may be the last; infinite where nothing is sought."""
        if not self.seeks_ending:
            return math.inf
        return self.target_s - min(_RING_S, (1 - REACHED) * self.wanted_s)

    @property
    def reached_s(self) -> float:
        """Notes that sound until here meet the length."""
        return self.start_s + REACHED * self.wanted_s

    @property
    def max_events(self) -> int:
        """More events than any music of this length: what stops a model that stands still."""
        return 1000 + math.ceil(500 * self.wanted_s)

    def reached(self, latest_end_s: float) -> bool:
        """Whether notes that sound until `latest_end_s` meet the length."""
        return latest_end_s >= self.reached_s

    def may_end(self, latest_end_s: float, n_notes: int) -> bool:
        """Whether an end that the model sets now is an ending, and not a slip."""
        if self.reached(latest_end_s):
            return n_notes > 0
        if self.seconds is not None and not self.may_end_early:
            return False
        return n_notes >= _LEAST_NOTES and latest_end_s >= self.start_s + _LEAST_S


def fit_ending(notes: NoteTable, plan: LengthPlan, *, ring: bool) -> tuple[NoteTable, bool]:
    """Let the last notes end where the piece ends.

    Where an event is a note, its release was chosen to lie before the latest one (`NoteRules`), and
    nothing is cut here; in a flat scheme a release is known only after the fact.

    Args:
        notes: The new notes, all beginning before `plan.target_s`.
        plan: The length that was asked for.
        ring: Hold the last notes until the end if the music would stop short of it.

    Returns:
        The notes, and whether any was held.
    """
    end_s = np.minimum(notes.end_s, plan.latest_release_s)
    held = ring and len(notes) > 0 and not plan.reached(float(end_s.max()))
    if held:
        last = notes.onset_s == notes.onset_s[-1]
        end_s = np.where(last, plan.target_s, end_s)
    return NoteTable.of(notes.onset_s, end_s, notes.pitch, notes.velocity, notes.track), held
