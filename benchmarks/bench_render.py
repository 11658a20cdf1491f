"""How fast music becomes sound and pictures.

    python benchmarks/bench_render.py CORPUS/maestro/validation
    python benchmarks/bench_render.py --smoke          # seconds, for CI

Seconds of music a second of work, one contender after another on the same performances: the
synthesizer that `musicgen render` takes, the built-in one that stands in for it, and pretty_midi's
sine waves, the plain way; then what comes after: MP3, WAV and the piano roll.
"""

from __future__ import annotations

import argparse
import functools
import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rounds import ROOT, Table, files_of, interleaved, parser_of

from musicgen.audio import mp3_bytes, render, wav_bytes
from musicgen.audio.playing import ENGINES
from musicgen.audio.sound import SAMPLE_RATE
from musicgen.figures import roll_png
from musicgen.midi import MidiDocument, note_table, read_midi

BASE = "musicgen render"


def music_a_second(
    work: Callable[[MidiDocument], object], documents: list[MidiDocument], music_s: float
) -> float:
    """Return how many seconds of music are done a second; the documents hold `music_s`."""
    began = time.perf_counter()
    for document in documents:
        work(document)
    return music_s / (time.perf_counter() - began)


def sines(document: MidiDocument, seconds: float) -> object:
    """Play a document's first seconds by pretty_midi."""
    import pretty_midi

    music = pretty_midi.PrettyMIDI(io.BytesIO(document.data))
    for instrument in music.instruments:
        instrument.notes = [note for note in instrument.notes if note.start < seconds]
        instrument.control_changes = []
    return music.synthesize(SAMPLE_RATE)


def contenders(options: argparse.Namespace) -> dict[str, Callable[[], float]]:
    """Return what is done with the documents."""
    documents = [read_midi(path) for path in files_of(options.folder, options.files)]
    sound = render(documents[0].data, max_seconds=options.seconds)
    print(f"{len(documents)} files, {options.seconds:g} s of each; engine: {sound.engine}")
    jobs: dict[str, Callable[[MidiDocument], object]] = {
        BASE: lambda d: render(d.data, max_seconds=options.seconds),
        "musicgen render, built-in": lambda d: render(
            d.data, max_seconds=options.seconds, engines=ENGINES[-1:]
        ),
        "pretty_midi, sine waves": lambda d: sines(d, options.seconds),
        "to MP3": lambda d: mp3_bytes(sound),
        "to WAV": lambda d: wav_bytes(sound),
    }
    tables = [note_table(document.score) for document in documents]
    lengths_s = [float(table.end_s.max()) for table in tables]
    music_s = sum(min(length_s, options.seconds) for length_s in lengths_s)
    found = {
        name: functools.partial(music_a_second, job, documents, music_s)
        for name, job in jobs.items()
    }
    found["the whole piece as a piano roll"] = functools.partial(
        music_a_second, lambda d: roll_png(note_table(d.score)), documents, sum(lengths_s)
    )
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of("Sound and pictures", rounds=3)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "data" / "starter")
    parser.add_argument("--files", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args(arguments)
    if options.smoke:
        options.files, options.seconds, options.rounds = 1, 3.0, 1
    measured = interleaved(contenders(options), options.rounds)
    title = "sound and pictures, seconds of music a second"
    table = Table(title=title, unit="s/s", base=BASE, measured=measured)
    table.show()
    table.keep(
        "render.jsonl",
        options,
        threads=1,
        files=options.files,
        seconds=options.seconds,
        corpus="/".join(options.folder.parts[-2:]),
    )


if __name__ == "__main__":
    main()
