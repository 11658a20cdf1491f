"""Whether a long stream keeps its speed: events late in a take beside those of a new one.

    python benchmarks/bench_stream.py                  # 200,000 events: minutes
    python benchmarks/bench_stream.py --tiny           # random weights: what is not the model's
    python benchmarks/bench_stream.py --smoke          # seconds, for CI

One take is played on without an end. Once it has made so many events, parts of it and of a second
take, which has only just filled its window, are timed in turn: the shipped model, the rules and the
clock of generation included. Past the window the model reads half of it again every half window;
a part is a whole number of these. A tiny model shows what else might grow: lists, rules, the clock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import torch
from decode_shapes import SHAPES, random_decoder
from rounds import Table, interleaved, parser_of

from musicgen.checkpoint import load_checkpoint
from musicgen.engine import Engine, make_engine
from musicgen.generation import EventMade, LengthPlan, stream_events
from musicgen.tokens import get_tokenizer

BASE = "a new take, past its window"
A_DAY_S = 24 * 3600.0


class Endless(LengthPlan):
    """A take longer than any that can be asked for."""

    def __post_init__(self) -> None:
        """Do not look at the length."""


class Stream:
    """A take that is played on and on."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self._events: Iterator[object] = stream_events(
            engine,
            get_tokenizer("piano"),
            plan=Endless(seconds=A_DAY_S),
            generator=torch.Generator().manual_seed(seed),
            n_endings=0,
        )
        self.n_made = 0

    def make(self, n_events: int) -> float:
        """Make events; return how many a second.

        Raises:
            RuntimeError: The take is over.
        """
        began, stop = time.perf_counter(), self.n_made + n_events
        for made in self._events:
            self.n_made += isinstance(made, EventMade)
            if self.n_made == stop:
                return n_events / (time.perf_counter() - began)
        raise RuntimeError(f"the take ended after {self.n_made} events")


def measure(options: argparse.Namespace) -> None:
    """Play, and compare."""
    if options.tiny or options.smoke:
        sizes = get_tokenizer("piano").vocab_sizes
        decoder = random_decoder(SHAPES["smoke"], vocab_sizes=sizes, window=256)
    else:
        decoder = load_checkpoint("piano").decoder.float()
    window, engine = decoder.config.max_seq_len, make_engine(decoder, "numba")
    n_part = options.part or 4 * (window // 2)
    old, new = Stream(engine, 1), Stream(engine, 2)
    new.make(options.before_new or 2 * window)
    whole = old.make(options.events)
    model = "random weights" if options.tiny or options.smoke else "the shipped model"
    print(f"{model}: {options.events} events of the long take, {whole:,.0f} a second")
    calls = {
        BASE: lambda: new.make(n_part),
        f"the same after {options.events} events": lambda: old.make(n_part),
    }
    table = Table(
        title=f"parts of {n_part} events, window {window}",
        unit="events/s",
        base=BASE,
        measured=interleaved(calls, options.rounds),
    )
    table.show()
    facts = {"model": model, "events": options.events, "part": n_part}
    table.keep("stream.jsonl", options, threads=1, **facts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Speed of a long stream", rounds=9)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--tiny", action="store_true", help="a tiny model with random weights")
    parser.add_argument("--part", type=int, default=0, help="0 for four half windows")
    parser.add_argument("--before-new", type=int, default=0, help="0 for two windows")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.events, options.part, options.before_new, options.rounds = 60, 20, 20, 1
    measure(options)


if __name__ == "__main__":
    main()
