"""A training step side by side: ours, a Hugging Face loop, a nanoGPT-style loop, the same trunk.

    python benchmarks/bench_train_step.py              # 6M and 20M, windows of 1,024
    python benchmarks/bench_train_step.py --length 512
    python benchmarks/bench_train_step.py --smoke      # seconds, for CI

A step is everything: the batch, forward, backward, clipping, the optimizer (ours Muon and AdamW,
the others' fused AdamW). The trunk is everybody's; our four heads come on top of it, as large as a
layer, so there is also ours with a layer fewer, which is as large as the others' whole. Ours reads
events with four attributes; the others read tokens of a vocabulary of 1,024, of which a note takes
three where it takes one of ours (1.003 events with rests). So there are two tables: positions a
second, step against step, and notes a second. Peers that are not installed are left out, and it is
said.

All run as `musicgen train` does, with short waits of OpenMP's threads and with freed memory kept: a
Hugging Face loop is 7% faster with the two than as everybody starts it (docs/lab_log.md).
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace

from musicgen.cli.heap import keep_freed_blocks
from musicgen.cli.waiting import short_waits

os.environ.update(short_waits(os.environ))  # read once, when torch is imported

import torch
from decode_shapes import SHAPES
from rounds import Table, interleaved, parser_of
from train_peers import OurStep, PlainGpt, PlainLoop, hugging_face

from musicgen.training import TrainingRecipe
from musicgen.training.precision import faster_precision

BATCHES = {"6M": 4, "20M": 2, "smoke": 2}
PRESETS = {"6M": "small", "20M": "medium", "smoke": "tiny"}
EVENTS_A_NOTE = 1.003
TOKENS_A_NOTE = 3.0
"""Byte pairs to 1,024 ids on a grid of 10 ms: measured on MAESTRO; other vocabularies take more."""
BASE = "Hugging Face GPT-2, bf16"
PLAIN = "nanoGPT-style, fp32"


def contenders(name: str, options: argparse.Namespace) -> dict[str, Callable[[], float]]:
    """Return everybody's step."""
    shape, batch, length = SHAPES[name], BATCHES[name], options.length
    recipe = TrainingRecipe(preset=PRESETS[name], seq_len=length, batch_size=batch)
    faster = faster_precision(torch.device("cpu"))
    print(f"{name}: {batch} windows of {length}; products are faster in {faster} here")
    has_compiler = any(shutil.which(program) for program in ("g++", "clang++", "c++"))
    compiled = has_compiler and not options.no_compile
    if not compiled:
        print("not compiled: asked for" if has_compiler else "not compiled: no C++ compiler")
    found: dict[str, Callable[[], float]] = {}
    for is_compiled in (True, False) if compiled else (False,):
        how = ", compiled" if is_compiled else ""
        ours = OurStep(shape, recipe, in_bf16=faster == "bf16", compiled=is_compiled)
        found[f"musicgen{how}"] = ours.measure
    as_large = replace(shape, n_layers=shape.n_layers - 1)
    ours = OurStep(as_large, recipe, in_bf16=faster == "bf16", compiled=compiled)
    found[f"a layer fewer: musicgen{', compiled' if compiled else ''}"] = ours.measure
    for label, in_bf16 in (("fp32", False), ("bf16", True)):
        if importlib.util.find_spec("transformers"):
            for kind, peer in (("gpt2", "GPT-2"), ("llama", "Llama")):
                model = hugging_face(shape, kind, length)
                loop = PlainLoop(model, batch, length, in_bf16=in_bf16)
                found[f"Hugging Face {peer}, {label}"] = loop.measure
        loop = PlainLoop(PlainGpt(shape, length), batch, length, in_bf16=in_bf16)
        found[f"nanoGPT-style, {label}"] = loop.measure
    if not importlib.util.find_spec("transformers"):
        print("left out: Hugging Face (pip install transformers)")
    if compiled:
        in_bf16 = faster == "bf16"
        gpt = PlainGpt(shape, length)
        loop = PlainLoop(gpt, batch, length, in_bf16=in_bf16, compiled=True)
        found[f"nanoGPT-style, {'bf16' if in_bf16 else 'fp32'}, compiled"] = loop.measure
    return found


def measure_shape(name: str, options: argparse.Namespace) -> None:
    """Measure one shape, and print and keep the figures."""
    measured = interleaved(contenders(name, options), options.rounds, n_warm=2)
    base = BASE if BASE in measured else PLAIN
    table = Table(title=f"{name}, a step", unit="positions/s", base=base, measured=measured)
    table.show()
    notes = {
        peer: [rate / (EVENTS_A_NOTE if "musicgen" in peer else TOKENS_A_NOTE) for rate in rates]
        for peer, rates in measured.items()
    }
    Table(title=f"{name}, the same in notes", unit="notes/s", base=base, measured=notes).show()
    table.keep(
        "train_step.jsonl",
        options,
        threads=torch.get_num_threads(),
        shape=name,
        batch=BATCHES[name],
        length=options.length,
        events_a_note=EVENTS_A_NOTE,
        tokens_a_note=TOKENS_A_NOTE,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Training steps side by side", rounds=5)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["6M", "20M"])
    parser.add_argument("--length", type=int, default=1_024, help="positions of a window")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.shapes, options.length, options.rounds = ["smoke"], 32, 1
        options.no_compile = True
    torch.set_num_threads(options.threads)
    keep_freed_blocks()
    for name in options.shapes:
        measure_shape(name, options)


if __name__ == "__main__":
    main()
