"""What the tokenizers lose on real files, and how fast they are.

    python benchmarks/bench_token_losses.py CORPUS/maestro/validation --files 40
    python benchmarks/bench_token_losses.py CORPUS/maestro/validation --files 5 --schemes piano tsd

For each scheme a line of JSON: notes in and out, the worst errors of onset, velocity and length
(up to a second in milliseconds, beyond it in percent), events a note, and the medians over the
files of the processor's time to encode notes that are already arrays, and of its ratio to that of
the scheme `piano`.
Lengths are compared with those of one piano: a key struck again ends its earlier note. A length
beyond the longest of its scheme is left out and counted.

Shapes: N notes.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from statistics import median

import numpy as np

from musicgen.errors import MidiReadError
from musicgen.midi import find_midi_files, read_midi
from musicgen.midi.notes import NoteTable, fold_pedal, note_table
from musicgen.tokens import SCHEMES, Tokenizer, get_tokenizer
from musicgen.tokens.grid import from_grid, to_grid

LONGEST_S = {"piano": 600.0, "tsd": 32.0, "remi": 32.0, "midilike": np.inf}


def errors(notes: NoteTable, decoded: NoteTable, longest_s: float) -> np.ndarray:
    """Onset (ms), velocity, length up to 1 s (ms) and beyond (%): the worst; lengths left out."""
    rounded, rows = from_grid(to_grid(notes))  # the exact note beside each on the grid
    end_s = notes.end_s[rows]
    end_s = np.where(rounded.end_s < end_s - 0.005001, rounded.end_s, end_s)  # struck again
    true = NoteTable(
        onset_s=notes.onset_s[rows],
        end_s=end_s,
        pitch=rounded.pitch,
        velocity=notes.velocity[rows],
        track=notes.track[rows],
    )
    mine = np.lexsort((true.end_s, true.velocity // 4, true.pitch, rounded.onset_s))
    theirs = np.lexsort((decoded.end_s, decoded.velocity // 4, decoded.pitch, decoded.onset_s))
    true, decoded = true.select(mine), decoded.select(theirs)
    length = true.end_s - true.onset_s
    off = abs(decoded.end_s - decoded.onset_s - length)
    kept = length <= longest_s
    return np.array(
        [
            1000 * abs(decoded.onset_s - true.onset_s).max(),
            abs(decoded.velocity - true.velocity).max(),
            1000 * off[kept & (length <= 1)].max(initial=0),
            100 * (off / length)[kept & (length > 1)].max(initial=0),
            (~kept).sum(),
        ]
    )


def measure(tokenizer: Tokenizer, tables: list[NoteTable], piano: Tokenizer) -> dict:
    """All figures of one scheme."""
    worst, seconds, ratios, events, decoded_notes, left_out = np.zeros(4), [], [], 0, 0, 0
    for table in tables:
        piano.encode(table)  # warm: the ratio is that of one moment
        start = time.process_time()
        ids = tokenizer.encode(table)
        middle = time.process_time()
        piano.encode(table)
        seconds.append(middle - start)
        ratios.append(seconds[-1] / (time.process_time() - middle))
        decoded = tokenizer.decode_events(ids).notes
        events += len(ids)
        decoded_notes += len(decoded)
        if len(decoded) == len(table):
            found = errors(table, decoded, LONGEST_S[tokenizer.scheme])
            worst, left_out = np.maximum(worst, found[:4]), left_out + int(found[4])
    notes = sum(map(len, tables))
    return {
        "scheme": tokenizer.scheme,
        "files": len(tables),
        "notes": notes,
        "notes_decoded": decoded_notes,
        "worst_onset_ms": round(worst[0], 3),
        "worst_velocity": int(worst[1]),
        "worst_length_ms": round(worst[2], 3),
        "worst_length_percent": round(worst[3], 3),
        "too_long": left_out,
        "events_per_note": round(events / notes, 3),
        "encode_ms": round(1000 * median(seconds), 2),
        "encode_notes_per_s": round(notes / sum(seconds)),
        "times_piano": round(median(ratios), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Round trip and speed of the tokenizers")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=20, help="how many, drawn with seed 0")
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=["piano"])
    arguments = parser.parse_args()

    paths = find_midi_files(arguments.folder)
    tables = []
    for path in random.Random(0).sample(paths, len(paths)):
        if len(tables) == arguments.files:
            break
        try:
            score = read_midi(path).score
        except MidiReadError:
            continue
        table = fold_pedal(note_table(score), score)
        if len(table):
            tables.append(table)
    piano = get_tokenizer("piano")
    for scheme in arguments.schemes:
        print(json.dumps(measure(get_tokenizer(scheme), tables, piano)))


if __name__ == "__main__":
    main()
