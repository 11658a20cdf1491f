"""How takes end: where their time is up, or at the best of several endings.

    python benchmarks/bench_endings.py piano --takes 30:4 60:3 120:2

Each take is made once. What its first last part was is the plain way's take; what the first n last
parts would have led to follows from the probabilities of an end that the model gave, as the parts
are drawn one after another.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from musicgen.evaluation.faults import is_released, meets_length
from musicgen.generation import EventMade, LengthPlan, SamplingSettings, SteppedBack, fit_ending
from musicgen.generation.endings import N_ENDINGS, Mark, make_with_chosen_ending
from musicgen.generation.length import RELEASE_S
from musicgen.generation.stream import MusicInMaking
from musicgen.midi import NoteTable
from musicgen.pipeline import MusicPipeline
from musicgen.tokens import PlayedEvent


class Listened:
    """A take in the making (`TakeInMaking`), and what is heard of its last parts.

    Attributes:
        plain: The chance of an end where the first last part ended.
        forked_at: Processor time at that moment.
        best: The highest chance in each last part.
    """

    def __init__(self, take: MusicInMaking) -> None:
        self._take = take
        self._now: list[tuple[int, float]] = []
        self.best: list[float] = []
        self.plain: float | None = None
        self.forked_at: float | None = None

    @property
    def end_chance(self) -> float | None:
        """See `TakeInMaking`."""
        return self._take.end_chance

    @property
    def rings_s(self) -> float:
        """See `TakeInMaking`."""
        return self._take.rings_s

    @property
    def reason(self) -> str:
        """See `TakeInMaking`."""
        return self._take.reason

    def mark(self) -> Mark:
        """See `TakeInMaking`."""
        return self._take.mark()

    def played(self, n_made: int) -> list[PlayedEvent]:
        """See `TakeInMaking`."""
        return self._take.played(n_made)

    def step(self) -> EventMade | SteppedBack | None:
        """Make one event, and note the chance of an end in its place."""
        n_made, rings_s = self.mark().n_made, self.rings_s
        step = self._take.step()
        if isinstance(step, SteppedBack):
            self._now = [found for found in self._now if found[0] <= step.index]
        elif self.end_chance is not None and rings_s >= RELEASE_S:
            self._now.append((n_made, self.end_chance))
        if self.reason and not isinstance(step, SteppedBack):
            self._close()
        return step

    def _close(self) -> None:
        if self.plain is None:
            self.plain, self.forked_at = self.end_chance, time.process_time()
        if self._now:
            self.best.append(max(chance for _, chance in self._now))
        self._now = []

    def go_back(self, mark: Mark) -> None:
        """See `TakeInMaking`."""
        self._take.go_back(mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One take, both ways: whether it ends well, the chance of an end there, and more."""

    plain_well: bool
    well: bool
    held: bool
    plain: float
    best: tuple[float, ...]
    more_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--takes", nargs="+", default=["30:4", "60:3", "120:2"], help="SECONDS:N")
    parser.add_argument("--endings", type=int, default=N_ENDINGS)
    options = parser.parse_args()
    pipeline = MusicPipeline.load(options.model, device="cpu")
    pipeline.prepare()
    for wanted in options.takes:
        seconds, n_takes = wanted.split(":")
        found = []
        for seed in range(1, int(n_takes) + 1):
            found.append(make(pipeline, float(seconds), seed, options.endings))
            print(f"  seed {seed}: {found[-1]}", flush=True)
        say(seconds, found, options.endings)


def make(pipeline: MusicPipeline, seconds: float, seed: int, n_endings: int) -> Found:
    tokenizer, plan = pipeline.tokenizer, LengthPlan(seconds=seconds)
    generator = torch.Generator().manual_seed(seed)
    making = MusicInMaking(pipeline.prepare(), tokenizer, plan, SamplingSettings(), generator)
    making.prefill(None, {})
    take, made, plain = Listened(making), [], []
    for event in made_so_far(make_with_chosen_ending(take, plan, n_endings=n_endings), made):
        if not plain and isinstance(event, SteppedBack) and event.why == "another-ending":
            plain = list(made)
    over_s = time.process_time()
    ends = [notes_of(pipeline, plan, events) for events in (plain or made, made)]
    return Found(
        plain_well=ends_well(ends[0][0], seconds),
        well=ends_well(ends[1][0], seconds),
        held=ends[1][1],
        plain=take.plain if take.plain is not None else float("nan"),
        best=tuple(take.best),
        more_s=over_s - (take.forked_at or over_s),
    )


def ends_well(notes: NoteTable, seconds: float) -> bool:
    """Say whether music meets its length by a release."""
    return meets_length(notes, seconds) and is_released(notes)


def made_so_far(events: Iterator, made: list[EventMade]) -> Iterator:
    """Yield each event, and only then let `made` hold it."""
    for event in events:
        yield event
        if isinstance(event, SteppedBack):
            del made[event.index :]
        elif isinstance(event, EventMade):
            made.append(event)


def notes_of(
    pipeline: MusicPipeline, plan: LengthPlan, made: list[EventMade]
) -> tuple[NoteTable, bool]:
    ids = np.array([event.event for event in made])
    return fit_ending(pipeline.tokenizer.decode_events(ids).notes, plan, ring=True)


def say(seconds: str, found: list[Found], n_endings: int) -> None:
    plain = np.array([take.plain for take in found])
    print(f"{seconds} s, {len(found)} takes")
    print(
        f"  end within 5% by a release: {np.mean([t.well for t in found]):.0%}"
        f" (plain {np.mean([t.plain_well for t in found]):.0%}), held {sum(t.held for t in found)}"
    )
    print(f"  chance of an end, mean: plain {np.nanmean(plain):.5f}")
    for n in range(1, n_endings + 1):
        best = np.array([max(take.best[:n], default=np.nan) for take in found])
        print(f"    best of {n}: {np.nanmean(best):.5f}, median {np.nanmedian(best):.5f}")
    print(f"  processor time after the first last part: {np.mean([t.more_s for t in found]):.2f} s")


if __name__ == "__main__":
    main()
