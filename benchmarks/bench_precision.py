"""What rounding costs: bits a note of each engine on held-out music, against torch in float32.

    python benchmarks/bench_precision.py piano CORPUS/maestro/validation

Every engine reads the same events one by one and scores the one that follows. "ids" is how many
of the attributes' most probable ids are torch's. bf16 is what a GPU computes in; here a CPU does.

Shapes: T events, K attributes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from pathlib import Path

import numpy as np
import torch

from musicgen.checkpoint import load_checkpoint
from musicgen.engine import Engine, TorchEngine, make_engine
from musicgen.engine.lane_steps import LanesEngine
from musicgen.errors import MidiReadError
from musicgen.midi import find_midi_files, read_midi

ENGINES = ("numba", "numba-float32")


def all_logits(engine: Engine, ids: np.ndarray) -> list[list[np.ndarray]]:
    """Score events 1 … T − 1 of one window (T, K): for each of them K rows."""
    steps, events = engine.begin(), [tuple(row) for row in ids.tolist()]
    rows = []
    for event, following in itertools.pairwise(events):
        steps.append(event)
        rows.append([steps.logits(k, following[:k]).copy() for k in range(ids.shape[1])])
    return rows


def bits_of(logits: np.ndarray, target: int) -> float:
    """Return the bits of one id."""
    scores = logits.astype(np.float64)
    best = scores.max()
    return float((best + np.log(np.exp(scores - best).sum()) - scores[target]) / np.log(2.0))


def pieces(folder: Path, tokenizer, length: int, n_pieces: int):
    """Yield the first `length` events of pieces that are long enough."""
    paths = find_midi_files(folder)
    random.Random(0).shuffle(paths)
    n_found = 0
    for path in paths:
        if n_found == n_pieces:
            return
        try:
            ids = tokenizer.encode(read_midi(path).score)
        except MidiReadError:
            continue
        if len(ids) >= length:
            n_found += 1
            yield ids[:length]


def main() -> None:
    parser = argparse.ArgumentParser(description="Bits a note of each engine")
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pieces", type=int, default=8)
    options = parser.parse_args()
    torch.set_num_threads(1)
    checkpoint = load_checkpoint(options.model)
    decoder, tokenizer = checkpoint.decoder.float(), checkpoint.tokenizer
    engines = {
        "torch": TorchEngine(decoder),
        **{name: make_engine(decoder, name) for name in ENGINES},
        "lanes-bf16": LanesEngine(decoder, dtype=torch.bfloat16, n_lanes=1),
    }
    bits, alike, apart = (dict.fromkeys(engines, 0.0) for _ in range(3))
    n_notes = n_ids = 0
    for ids in pieces(options.folder, tokenizer, decoder.config.max_seq_len, options.pieces):
        rows = {name: all_logits(engine, ids) for name, engine in engines.items()}
        n_notes += tokenizer.n_notes(ids[1:])
        n_ids += ids[1:].size
        for t, event in enumerate(ids[1:]):
            for k, target in enumerate(event):
                reference = rows["torch"][t][k]
                for name in engines:
                    logits = rows[name][t][k]
                    bits[name] += bits_of(logits, int(target))
                    alike[name] += int(logits.argmax() == reference.argmax())
                    apart[name] = max(apart[name], float(np.abs(logits - reference).max()))
    if not n_notes:
        raise SystemExit(f"no piece of {options.folder} is long enough")
    print(f"{checkpoint.name}: {n_notes} notes")
    print(f"{'engine':<15}{'bits a note':>12}{'more':>9}{'ids':>9}{'scores apart by':>17}")
    for name in engines:
        more = bits[name] / bits["torch"] - 1
        print(
            f"{name:<15}{bits[name] / n_notes:>12.4f}{more:>9.3%}{alike[name] / n_ids:>9.2%}"
            f"{apart[name]:>17.2g}"
        )
    print(json.dumps({"notes": n_notes, **{n: round(b / n_notes, 5) for n, b in bits.items()}}))


if __name__ == "__main__":
    main()
