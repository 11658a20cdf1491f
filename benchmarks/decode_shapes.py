"""The shapes that decoding is measured at, and our own decoders at them.

Shapes: K attributes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from musicgen.engine import StepDecoder, make_engine
from musicgen.generation import AttributeSettings
from musicgen.model import Decoder, DecoderConfig

WINDOW = 1_280
VOCABULARY = 1_024
SETTINGS = AttributeSettings(top_p=0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A trunk; a gated MLP of `d_ff` is as large as a two-matrix one half as wide again."""

    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int

    @property
    def d_ff_ungated(self) -> int:
        """Hidden width of a two-matrix MLP of that size, in the whole vectors that are fast."""
        return -(-self.d_ff * 3 // 2 // 16) * 16

    @property
    def d_ff_in_blocks(self) -> int:
        """`d_ff` rounded down to the 32 that llama.cpp's blocks ask for: a little less to do."""
        return self.d_ff // 32 * 32


SHAPES = {
    "6M": Shape(d_model=256, n_layers=8, n_heads=8, d_ff=682),
    "20M": Shape(d_model=512, n_layers=6, n_heads=8, d_ff=1_365),
    "smoke": Shape(d_model=64, n_layers=2, n_heads=2, d_ff=96),
}
PIANO = (204, 132, 36, 218)


def random_decoder(
    shape: Shape, *, vocab_sizes: tuple[int, ...] = PIANO, window: int = WINDOW
) -> Decoder:
    """Return our decoder of that trunk with random weights in which every branch counts."""
    config = DecoderConfig(
        vocab_sizes=vocab_sizes,
        d_model=shape.d_model,
        n_layers=shape.n_layers,
        n_heads=shape.n_heads,
        d_ff=shape.d_ff,
        d_head_ff=shape.d_model,
        max_seq_len=window,
    )
    decoder = Decoder(config, seed=0)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in decoder.parameters():
            if not parameter.any():
                parameter.normal_(0.0, 0.02, generator=generator)
    return decoder.eval()


class OurSteps:
    """Whole events: the trunk, the K heads, and a draw from each.

    Attributes:
        engine: What computes.
    """

    def __init__(self, decoder: Decoder, engine: str) -> None:
        self.engine = make_engine(decoder, engine)
        self._allowed = [np.ones(size, dtype=bool) for size in decoder.config.vocab_sizes]
        self._steps: dict[int, StepDecoder] = {}
        self._random = np.random.default_rng(0)

    def _at(self, position: int) -> StepDecoder:
        if position not in self._steps:
            steps = self.engine.begin()
            sizes = [len(allowed) for allowed in self._allowed]
            ids = self._random.integers(0, sizes, (position, len(sizes)))
            steps.prefill([tuple(row) for row in ids.tolist()])
            steps.logits(0, ())  # which reads what waits to be read
            self._steps[position] = steps
        return self._steps[position]

    def measure(self, position: int, n_steps: int) -> float:
        """Return events a second, `n_steps` of them from `position` on."""
        steps = self._at(position)
        steps.truncate(position)
        event = (0,) * len(self._allowed)
        began = time.perf_counter()
        for _ in range(n_steps):
            event = self.step(steps, event)
        return n_steps / (time.perf_counter() - began)

    def step(self, steps: StepDecoder, event: tuple[int, ...]) -> tuple[int, ...]:
        """Read an event and choose the next."""
        steps.append(event)
        return self._choose(steps)

    def _choose(self, steps: StepDecoder) -> tuple[int, ...]:
        made: tuple[int, ...] = ()
        for k, uniform in enumerate(self._random.random(len(self._allowed)).tolist()):
            logits = steps.logits(k, made)
            made = (*made, steps.draw(logits, self._allowed[k], SETTINGS, uniform))
        return made

    def prefill(self, n_events: int) -> float:
        """Return events a second read as a prompt."""
        steps = self.engine.begin()
        ids = [(0,) * len(self._allowed)] * n_events
        began = time.perf_counter()
        steps.prefill(ids)
        steps.logits(0, ())
        return n_events / (time.perf_counter() - began)

    def together(self, position: int, n_steps: int, n_takes: int, n_threads: int) -> float:
        """Return events a second of several takes at once, shared out among threads.

        As the library makes takes together (`musicgen.pipeline.together`): each thread plays its
        takes by turns, and what they have to read is read in one go.
        """
        from concurrent.futures import ThreadPoolExecutor

        takes = [self.engine.begin() for _ in range(n_takes)]
        for steps in takes:
            steps.prefill([(0,) * len(self._allowed)] * position)
            steps.logits(0, ())

        def play(mine: Sequence[StepDecoder]) -> None:
            events = [(0,) * len(self._allowed)] * len(mine)
            for _ in range(n_steps):
                for steps, event in zip(mine, events, strict=True):
                    steps.append(event)
                self.engine.read_together(mine)
                events = [self._choose(steps) for steps in mine]

        with ThreadPoolExecutor(n_threads) as pool:
            began = time.perf_counter()
            list(pool.map(play, [takes[i::n_threads] for i in range(n_threads)]))
        return n_takes * n_steps / (time.perf_counter() - began)


Measure = Callable[[int, int], float]
