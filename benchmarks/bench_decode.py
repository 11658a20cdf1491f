"""Decoding side by side: steps a second of our engines and of others', with the same trunk.

    python benchmarks/bench_decode.py                  # 6M and 20M, one thread
    python benchmarks/bench_decode.py --threads 1 2    # llama.cpp and torch with both
    python benchmarks/bench_decode.py --smoke          # seconds, for CI
    taskset -c 1 python benchmarks/bench_decode.py     # on one core

Our step is a whole event: the trunk, four heads and four draws. The others' is one token of the
same trunk, with a vocabulary of 1,024 and top-p sampling. Peers that are not installed are left
out, and it is said. Results are appended to `results/decode.jsonl`.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
from collections.abc import Callable, Sequence

import torch
from decode_peers import HuggingFace, LlamaCpp
from decode_plain import PlainTorch
from decode_shapes import SHAPES, OurSteps, Shape, random_decoder
from rounds import Table, interleaved, parser_of

BASE = "plain PyTorch, fp32"
Measure = Callable[[int, int], float]


def ours(shape: Shape) -> dict[str, Measure]:
    """Return our engines."""
    decoder = random_decoder(shape)
    names = ("numba", "numba-float32", "torch")
    return {f"musicgen, {name}": OurSteps(decoder, name).measure for name in names}


def peers(shape: Shape, threads: list[int], *, with_prefix: bool) -> dict[str, Measure]:
    """Return the others that are installed."""
    plain = PlainTorch(shape)
    found: dict[str, Measure] = {
        BASE: plain.measure,
        "plain PyTorch, bf16": PlainTorch(shape, torch.bfloat16).measure,
    }
    if with_prefix:
        found["the whole prefix again"] = lambda position, n: plain.measure_whole_prefix(
            position, max(1, n // 8)
        )
    if importlib.util.find_spec("transformers"):
        for kind, name in (("llama", "Llama"), ("gpt2", "GPT-2")):
            for dtype, label in ((torch.float32, "fp32"), (torch.bfloat16, "bf16")):
                found[f"Hugging Face {name}, {label}"] = HuggingFace(shape, kind, dtype).measure
    else:
        print("left out: Hugging Face (pip install transformers)")
    if importlib.util.find_spec("llama_cpp") and importlib.util.find_spec("gguf"):
        for quantization, int8_cache in (("q8_0", False), ("q8_0", True), ("q4_0", True)):
            for n in threads:
                cache = ", int8 cache" * int8_cache
                name = f"llama.cpp {quantization}{cache}, {n} thread{'s' * (n > 1)}"
                peer = LlamaCpp(shape, quantization, n, int8_cache=int8_cache)
                found[name] = peer.measure
    else:
        print("left out: llama.cpp (pip install llama-cpp-python gguf)")
    return found


def measure_shape(name: str, options: argparse.Namespace) -> None:
    """Measure one shape at every position, and print and keep the figures."""
    shape = SHAPES[name]
    contenders = {**ours(shape), **peers(shape, options.threads, with_prefix=not options.quick)}
    for position in options.positions:
        calls = {
            label: functools.partial(measure, position, options.steps)
            for label, measure in contenders.items()
        }
        table = Table(
            title=f"{name}, {position} positions before",
            unit="steps/s",
            base=BASE,
            measured=interleaved(calls, options.rounds),
        )
        table.show()
        facts = {"shape": name, "position": position, "steps": options.steps}
        table.keep("decode.jsonl", options, threads=options.threads, **facts)


def measure_takes(name: str, options: argparse.Namespace) -> None:
    """Measure eight takes at once, all their events together."""
    shape, n_takes, position = SHAPES[name], 8, 256
    mine = OurSteps(random_decoder(shape), "numba")
    calls = {
        f"musicgen, {n} thread{'s' * (n > 1)}": functools.partial(
            mine.together, position, options.steps, n_takes, n
        )
        for n in options.threads
    }
    base = next(iter(calls))
    if importlib.util.find_spec("llama_cpp") and importlib.util.find_spec("gguf"):
        for n in options.threads:
            peer = LlamaCpp(shape, "q8_0", n, n_takes=n_takes, int8_cache=True)
            base = f"llama.cpp q8_0 batch 8, {n} thread{'s' * (n > 1)}"
            calls[base] = functools.partial(peer.measure, position, options.steps)
    table = Table(
        title=f"{name}, eight takes at once, {position} before",
        unit="steps/s",
        base=base,
        measured=interleaved(calls, options.rounds),
    )
    table.show()
    table.keep("decode.jsonl", options, threads=options.threads, shape=name, takes=n_takes)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Steps a second of decoders side by side", rounds=7)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=["6M", "20M"])
    parser.add_argument("--positions", nargs="+", type=int, default=[512, 1_024])
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--takes", action="store_true", help="eight takes at once instead")
    parser.add_argument("--quick", action="store_true", help="leave the whole prefix out")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.shapes, options.positions = ["smoke"], [40]
        options.rounds, options.steps = 1, 8
    torch.set_num_threads(options.threads[0])
    for name in options.shapes:
        if options.takes:
            measure_takes(name, options)
        else:
            measure_shape(name, options)


if __name__ == "__main__":
    main()
