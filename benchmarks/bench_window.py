"""What playing on past the context window costs, in bits a note on held-out music.

    python benchmarks/bench_window.py piano CORPUS/maestro/validation

Every way below is scored on the same events, all of which lie past the first window:

    full    (nearly) a whole window before each event: the best the model can do, and far too slow
    3/4     the last three quarters of a window are read again whenever it is full
    half    the last half: what `musicgen.generation` does
    1/4     the last quarter
    half+start   the last half, behind the start event

"passes" is what reading again adds to the cost of an event: events read again for each one made.

Shapes: T events, K attributes, S events of a window.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
import torch

from musicgen.checkpoint import load_checkpoint
from musicgen.errors import MidiReadError
from musicgen.midi import find_midi_files, read_midi


@torch.inference_mode()
def event_bits(decoder, ids: np.ndarray, first: int) -> np.ndarray:
    """Return the bits of events `first` … T − 1 of one window (T, K)."""
    tensor = torch.as_tensor(ids)[None]
    hidden = decoder.trunk(tensor[:, :-1])[:, first - 1 :]
    target = tensor[:, first:]
    bits = torch.zeros(target.shape[1], dtype=torch.float64)
    for k in range(ids.shape[1]):
        logits = decoder.attribute_logits(hidden, k, target[..., :k])
        chances = logits[0].double().log_softmax(-1)
        bits -= chances.gather(1, target[0, :, k, None])[:, 0] / np.log(2.0)
    return bits.numpy()


def reread_bits(decoder, ids: np.ndarray, window: int, kept: int, lead: np.ndarray) -> np.ndarray:
    """Return the bits of events S … T − 1 if `kept` events are read again at each full window."""
    bits = []
    for start in range(window, len(ids), window - kept):
        part = ids[start - kept + len(lead) : start - kept + window]
        part = np.concatenate([lead, part])
        bits.append(event_bits(decoder, part, kept))
    return np.concatenate(bits)


def main() -> None:
    parser = argparse.ArgumentParser(description="Bits a note beyond the window")
    parser.add_argument("model")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pieces", type=int, default=20)
    parser.add_argument("--windows", type=int, default=2, help="windows scored past the first")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    checkpoint = load_checkpoint(options.model)
    decoder, tokenizer = checkpoint.decoder.float(), checkpoint.tokenizer
    window = decoder.config.max_seq_len
    start = np.array([tokenizer.start_event])
    nothing = start[:0]
    ways = {
        "full": (window - window // 16, nothing),
        "3/4": (window * 3 // 4, nothing),
        "half": (window // 2, nothing),
        "1/4": (window // 4, nothing),
        "half+start": (window // 2, start),
    }
    paths = find_midi_files(options.folder)
    random.Random(0).shuffle(paths)
    bits = dict.fromkeys(ways, 0.0)
    n_notes = n_pieces = 0
    for path in paths:
        if n_pieces == options.pieces:
            break
        try:
            ids = tokenizer.encode(read_midi(path).score)
        except MidiReadError:
            continue
        ids = ids[: (1 + options.windows) * window]
        if len(ids) < (1 + options.windows) * window:
            continue
        n_pieces += 1
        n_notes += tokenizer.n_notes(ids[window:])
        for name, (kept, lead) in ways.items():
            bits[name] += float(reread_bits(decoder, ids, window, kept, lead).sum())
    if not n_notes:
        raise SystemExit(f"no piece of {options.folder} is {1 + options.windows} windows long")

    print(f"{checkpoint.name}: {n_pieces} pieces, {n_notes} notes past a window of {window} events")
    print(f"{'way':<12}{'bits a note':>12}{'loss':>8}{'passes':>8}")
    for name, (kept, _) in ways.items():
        value, best = bits[name] / n_notes, bits["full"] / n_notes
        print(f"{name:<12}{value:>12.3f}{value - best:>+8.3f}{kept / (window - kept):>8.1f}")
    report = {name: round(value / n_notes, 4) for name, value in bits.items()}
    print(json.dumps({"model": checkpoint.name, "window": window, "notes": n_notes, **report}))


if __name__ == "__main__":
    main()
