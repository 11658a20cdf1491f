"""Make `checkpoints/statistics.json`: what the pieces of a corpus are like, excerpt by excerpt.

    python checkpoints/make_statistics.py CORPUS/maestro/train CORPUS/maestro/validation

Measures 2,000 excerpts of each length, drawn with seed 0 from those that lie end to end in the
training pieces, and as many as there are (2,000 at most) of the held-out pieces for the yardstick.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from musicgen import configio
from musicgen.corpus import list_music
from musicgen.evaluation import Measured, cut_excerpts, heard_notes, make_reference, measure
from musicgen.evaluation.folders import MOST_EXCERPTS, sample
from musicgen.evaluation.references import FILE, reference_file
from musicgen.evaluation.statistics import DECIMALS
from musicgen.midi import NoteTable, read_midi

HERE = Path(__file__).resolve().parent
LENGTHS_S = (30.0, 60.0, 120.0)


def main() -> None:
    """Measure both folders and write the file."""
    parser = argparse.ArgumentParser(description="Statistics of a corpus")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("held_out", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=HERE / FILE)
    arguments = parser.parse_args()
    pieces = {folder: read(folder) for folder in (arguments.corpus, arguments.held_out)}
    generator = np.random.default_rng(0)
    references = []
    for seconds in LENGTHS_S:
        corpus, held_out = (measured(music, seconds, generator) for music in pieces.values())
        sys.stderr.write(f"{seconds:g} s: {len(corpus)} and {len(held_out)} excerpts\n")
        references.append(
            make_reference(
                corpus,
                held_out,
                names=(name(arguments.corpus), name(arguments.held_out)),
                seconds=seconds,
                generator=generator,
            )
        )
    mapping = rounded(configio.to_mapping(reference_file(references)))
    arguments.output.write_text(
        json.dumps(mapping, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8"
    )


def name(folder: Path) -> str:
    """Return what a corpus is called: its folder and the one above."""
    return "/".join(folder.resolve().parts[-2:])


def read(folder: Path) -> dict[str, NoteTable]:
    """Return the notes of a folder's pieces."""
    return {
        path.relative_to(folder).as_posix(): heard_notes(read_midi(path).score)
        for path in list_music(folder)
    }


def measured(
    pieces: dict[str, NoteTable], seconds: float, generator: np.random.Generator
) -> list[Measured]:
    """Measure excerpts of one length."""
    found = [
        excerpt
        for piece, notes in pieces.items()
        for excerpt in cut_excerpts(notes, piece=piece, seconds=seconds)
    ]
    return [measure(excerpt) for excerpt in sample(found, MOST_EXCERPTS, generator)]


def rounded(value: object) -> object:
    """Round every number as the statistics themselves are: the file stays small."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, list):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return value


if __name__ == "__main__":
    main()
