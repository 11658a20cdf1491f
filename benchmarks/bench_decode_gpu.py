"""Decoding on a GPU: steps a second of one take and of takes together, beside plain PyTorch there.

    python benchmarks/bench_decode_gpu.py              # 6M and 20M; without CUDA it says so
    python benchmarks/bench_decode_gpu.py --smoke      # seconds, on the CPU, for CI

Our step is a whole event (the trunk, four heads, four draws), and of takes together the events of
all are counted. The names of our contenders tell the precision, and whether the steps were recorded
as graphs. Results are appended to `results/decode_gpu.jsonl`.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence

import torch
from decode_plain import PlainTorch
from decode_shapes import SHAPES, Measure, OurSteps, random_decoder
from rounds import Table, interleaved, parser_of

BASE = "plain PyTorch, fp32"
N_TAKES = (2, 8, 16)


def contenders(name: str, device: str) -> dict[str, Measure]:
    """Return our engines with one take and with several, and plain PyTorch."""
    shape = SHAPES[name]
    decoder = random_decoder(shape).to(device)
    found: dict[str, Measure] = {}
    for wanted in ("lanes", "lanes-float32", "torch"):
        mine = OurSteps(decoder, wanted)
        for warning in mine.engine.warnings:
            print(warning)
        label = f"musicgen, {mine.engine.name}"
        found[f"{label}, one take"] = mine.measure
        for n in N_TAKES if wanted == "lanes" else ():
            # An engine of its own: the one take stays in its lane.
            measure = OurSteps(decoder, wanted).together
            found[f"{label}, {n} takes"] = functools.partial(measure, n_takes=n, n_threads=n)
    found[BASE] = PlainTorch(shape, device=device).measure
    found["plain PyTorch, bf16"] = PlainTorch(shape, torch.bfloat16, device=device).measure
    return found


def measure_shape(name: str, device: str, options: argparse.Namespace) -> None:
    """Measure one shape, and print and keep the figures."""
    gpu = torch.cuda.get_device_name() if device == "cuda" else "none"
    calls = {
        label: functools.partial(measure, options.position, options.steps)
        for label, measure in contenders(name, device).items()
    }
    table = Table(
        title=f"{name}, {options.position} positions before",
        unit="steps/s",
        base=BASE,
        measured=interleaved(calls, options.rounds),
    )
    table.show()
    facts = {"shape": name, "position": options.position, "steps": options.steps, "gpu": gpu}
    table.keep("decode_gpu.jsonl", options, **facts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Steps a second of decoders on a GPU", rounds=7)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["6M", "20M"])
    parser.add_argument("--position", type=int, default=512)
    parser.add_argument("--steps", type=int, default=128)
    options = parser.parse_args(arguments)
    if options.smoke:
        options.shapes, options.position, options.rounds, options.steps = ["smoke"], 20, 1, 4
    elif not torch.cuda.is_available():
        print("Nothing was measured: torch finds no CUDA device here.")
        return
    torch.set_num_threads(1)
    for name in options.shapes:
        measure_shape(name, "cpu" if options.smoke else "cuda", options)


if __name__ == "__main__":
    main()
