"""`musicgen corpus`: what a folder of MIDI files holds, and what becomes of each of them."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import Console, session
from musicgen.cli.paths import music_folder, save, try_out

if TYPE_CHECKING:
    from musicgen.corpus import Diagnosis

PAGE, DATA, KEPT_SCAN = "corpus.html", "corpus.json", "scan.npz"
_ALL_UP_TO = 400
"""Files up to which each one's line is printed; of more, so many lines of each reason."""
_LINES_A_CODE = 10


def corpus(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="MIDI files, at any depth below it, or a zip archive of them."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Write the report there: corpus.html with pictures, and corpus.json.",
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Look a folder over before training on it.

    Every file is kept, or left out with a reason; twins are found whatever their names, keys and
    tempi. A second run reads only what has changed.
    """
    with session(as_json=as_json, only_tells=output is None) as console:
        music = music_folder(console, folder)
        if output is not None:
            try_out([output / PAGE, output / DATA, output / KEPT_SCAN])
        console.how_to_go_on = "What was read is kept: the same command reads the rest."
        diagnosis = _diagnose(console, music, output)
        if output is not None:
            _write(output, diagnosis)
        console.result(diagnosis.as_dict(), *_lines(diagnosis, output))


def _diagnose(console: Console, music: Path, output: Path | None) -> Diagnosis:
    from musicgen.corpus import Diagnosis, diagnose

    cache = _user_cache(music) if output is None else output / KEPT_SCAN
    for step in diagnose(music, cache=cache, skip=output):
        if isinstance(step, Diagnosis):
            return step
        # Files that are no music of use; twins and other kinds of files are left out besides.
        line = f"{step.done:,} of {step.total:,} files read, {step.refused:,} cannot be used"
        is_last = step.done == step.total
        console.progress(f"{line}; looking for twins" if is_last else line, last=is_last)
    raise RuntimeError("the folder was read without an end")


def _user_cache(music: Path) -> Path | None:
    """Return where the scan of a folder is kept for a user, or None for one without a home."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        return None
    name = hashlib.sha256(os.fsencode(os.path.realpath(music))).hexdigest()[:32]
    return Path(base, "musicgen", "corpus", f"{name}.npz")


def _write(output: Path, diagnosis: Diagnosis) -> None:
    from musicgen.corpus.page import diagnosis_page

    save(output / PAGE, diagnosis_page(diagnosis).encode("utf-8"))
    data = json.dumps(diagnosis.as_dict(), indent=1, allow_nan=False)
    save(output / DATA, data.encode("ascii"))


def _lines(diagnosis: Diagnosis, output: Path | None) -> Iterator[str]:
    from musicgen.corpus import KEPT

    counts = diagnosis.by_code()
    few = len(diagnosis.files) <= _ALL_UP_TO
    width = max((len(code) for code in counts), default=0)
    told = dict.fromkeys(counts, 0)
    for line in diagnosis.files:
        told[line.code] += 1
        if few or (line.code != KEPT and told[line.code] <= _LINES_A_CODE):
            yield f"{line.code:{width}}  {line.path}: {line.message}"
    yield from diagnosis.summary()
    if not few:
        yield (
            f"Printed were {_LINES_A_CODE} lines of each reason at most; "
            "-o DIR or --json gives a line for every file."
        )
    if output is not None:
        yield f"The report is in {output / PAGE}"
