"""Tokenizing side by side: ours and miditok's TSD on the same files, and a corpus from end to end.

    python benchmarks/bench_tokenize.py CORPUS/maestro/validation
    python benchmarks/bench_tokenize.py --smoke        # seconds, for CI

Scores to ids (from symusic's score, the pedal folded in by ours) and ids to scores, on one core;
then files to shards (`build_corpus`: reading, checking, encoding, splitting, writing) in one
process and in two, by the clock and by the processor. miditok's TSD runs as it comes (its beat
grid) and on our grid of 10 ms with 32 velocities, where it writes the longer sequences.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rounds import ROOT, Table, files_of, interleaved, interleaved_times, parser_of

from musicgen.corpus import build_corpus
from musicgen.errors import MidiReadError
from musicgen.midi import read_midi
from musicgen.tokens import get_tokenizer

DEFAULT_TSD, FINE_TSD = "miditok TSD, as it comes", "miditok TSD, 10 ms"
WORTH_A_SECOND_PROCESS = 48
"""With fewer files `build_corpus` starts none, whatever it is asked for."""


def a_second(what: Callable[[Any], object], things: list) -> float:
    """Return how many of the things are done a second."""
    began = time.perf_counter()
    for thing in things:
        what(thing)
    return len(things) / (time.perf_counter() - began)


def measure_schemes(paths: list[Path], options: argparse.Namespace) -> None:
    """Measure encoding and decoding."""
    import miditok

    scores = []
    for path in paths:
        try:
            scores.append(read_midi(path).score)
        except MidiReadError as error:
            print(f"left out: {path.name}: {error.message}")
    piano, fine = get_tokenizer("piano"), get_tokenizer("tsd")
    plain = miditok.TSD(miditok.TokenizerConfig(encode_ids_split="no"))
    ids = [piano.encode(score) for score in scores]
    facts = {
        "files": len(scores),
        "notes": sum(map(piano.n_notes, ids)),
        "corpus": "/".join(options.folder.parts[-2:]),
        "threads": 1,
    }
    for what, calls in (
        (
            "encoding",
            {
                "musicgen": functools.partial(a_second, piano.encode, scores),
                DEFAULT_TSD: functools.partial(a_second, plain.encode, scores),
                FINE_TSD: functools.partial(a_second, fine.encode, scores),
            },
        ),
        (
            "decoding",
            {
                "musicgen": functools.partial(a_second, piano.decode, ids),
                DEFAULT_TSD: functools.partial(
                    a_second, plain.decode, [plain.encode(score) for score in scores]
                ),
            },
        ),
    ):
        table = Table(
            title=f"{what}, {facts['files']} performances, {facts['notes']} notes",
            unit="files/s",
            base=DEFAULT_TSD,
            measured=interleaved(calls, options.rounds),
        )
        table.show()
        table.keep("tokenize.jsonl", options, what=what, **facts)


def measure_corpus(paths: list[Path], options: argparse.Namespace) -> None:
    """Measure bytes to shards."""
    tokenizer = get_tokenizer("piano")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "music"
        root.mkdir()
        for i, path in enumerate(paths):
            shutil.copy(path, root / f"{i:04}{path.suffix}")

        def build(n_workers: int) -> None:
            with tempfile.TemporaryDirectory() as shards:
                for _ in build_corpus(root, Path(shards) / "made", tokenizer, n_workers=n_workers):
                    pass

        works = {}
        for n in options.processes:
            if n == 1 or len(paths) >= WORTH_A_SECOND_PROCESS:
                works[f"{n} process{'es' * (n > 1)}"] = functools.partial(build, n)
            else:
                print(f"left out: {n} processes ({len(paths)} files are too few)")
        tables = interleaved_times(works, options.corpus_rounds)
    for seconds_of, taken in tables.items():
        table = Table(
            title=f"files to shards, {len(paths)} files, seconds of the {seconds_of}",
            unit="files/s",
            base=next(iter(taken)),
            measured={name: [len(paths) / each for each in ss] for name, ss in taken.items()},
        )
        table.show()
        facts = {"files": len(paths), "corpus": "/".join(options.folder.parts[-2:])}
        table.keep("tokenize.jsonl", options, what="corpus", seconds_of=seconds_of, **facts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Tokenizers side by side", rounds=5)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "data" / "starter")
    parser.add_argument("--files", type=int, default=12, help="scores encoded and decoded")
    parser.add_argument("--corpus-files", type=int, default=200)
    parser.add_argument("--corpus-rounds", type=int, default=2)
    parser.add_argument("--processes", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--parts", nargs="+", choices=("schemes", "corpus"))
    options = parser.parse_args(arguments)
    if options.smoke:
        options.files, options.corpus_files = 2, 3
        options.rounds = options.corpus_rounds = 1
    parts = options.parts or ("schemes", "corpus")
    if "schemes" in parts:
        measure_schemes(files_of(options.folder, options.files), options)
    if "corpus" in parts:
        measure_corpus(files_of(options.folder, options.corpus_files), options)


if __name__ == "__main__":
    main()
