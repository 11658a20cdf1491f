"""How long sound and pictures take.

    python benchmarks/bench_sound.py CORPUS/maestro/validation --files 5

A line of JSON: medians over the files of the processor's seconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from musicgen.audio import mp3_bytes, render, wav_bytes
from musicgen.audio.rendering import ENGINES
from musicgen.figures import roll_png
from musicgen.midi import MidiDocument, find_midi_files, note_table, read_midi


def seconds(what: Callable[[MidiDocument], object], documents: list[MidiDocument]) -> float:
    """Median of the processor's seconds for one document."""
    taken = []
    for document in documents:
        began = time.process_time()
        what(document)
        taken.append(time.process_time() - began)
    return round(median(taken), 3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    documents = [read_midi(path) for path in find_midi_files(args.folder)[: args.files]]
    sound = render(documents[0].data, max_seconds=args.seconds)  # the font is read once
    jobs: dict[str, Callable[[MidiDocument], object]] = {
        "render": lambda d: render(d.data, max_seconds=args.seconds),
        "built_in": lambda d: render(d.data, max_seconds=args.seconds, engines=ENGINES[-1:]),
        "mp3": lambda d: mp3_bytes(sound),
        "wav": lambda d: wav_bytes(sound),
        "roll": lambda d: roll_png(note_table(d.score)),
    }
    print(json.dumps({name: seconds(job, documents) for name, job in jobs.items()}))


if __name__ == "__main__":
    main()
