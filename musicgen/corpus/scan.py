"""From a file to its events, in one process or several.

T events   K attributes
"""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import current_process, get_context
from pathlib import Path

import numpy as np

from musicgen.corpus.report import Refusal
from musicgen.errors import CorpusError, MusicgenError
from musicgen.midi import describe, read_midi
from musicgen.tokens import Tokenizer, tokenizer_from_json

MIN_NOTES = 8
"""A file with fewer notes teaches nothing and is left out."""

_SERIAL_FILES = 24
"""Starting worker processes costs about as long as reading this many files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedPiece:
    """One readable file.

    Attributes:
        path: Relative to the folder.
        ids: Its events (T, K), uint16.
        n_notes: Its notes.
        seconds: From 0 to the end of its last note.
        digest: SHA-256 of the events.
        warnings: Codes of what was left out or repaired.
    """

    path: str
    ids: np.ndarray
    n_notes: int
    seconds: float
    digest: str
    warnings: tuple[str, ...]


def scan_file(path: Path, root: Path, tokenizer: Tokenizer) -> ScannedPiece | Refusal:
    """Read and encode one file; whatever is wrong with it becomes a refusal."""
    name = path.relative_to(root).as_posix()
    try:
        document = read_midi(path)
        facts = describe(document)
        ids = tokenizer.encode(document.score)
    except MusicgenError as error:
        return Refusal(path=name, code=error.code, message=error.message)
    warnings = list(document_codes(facts.warnings))
    programs = {track.program for track in facts.tracks if track.notes and not track.is_drum}
    if any(track.is_drum and track.notes for track in facts.tracks):
        warnings.append("drums-left-out")
    if any(program > 7 for program in programs):
        warnings.append("read-as-piano")
    n_notes = tokenizer.n_notes(ids)
    if n_notes < MIN_NOTES:
        message = f"It has {n_notes} notes without drums; fewer than {MIN_NOTES} teach nothing."
        return Refusal(path=name, code="too-short", message=message)
    ids = ids.astype(np.uint16)
    return ScannedPiece(
        path=name,
        ids=ids,
        n_notes=n_notes,
        seconds=facts.end_s,
        digest=hashlib.sha256(ids.tobytes()).hexdigest(),
        warnings=tuple(warnings),
    )


def document_codes(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Return each warning's code once, in order."""
    return tuple(dict.fromkeys(codes))


def scan_files(
    paths: list[Path], root: Path, tokenizer: Tokenizer, *, n_workers: int | None = None
) -> Iterator[ScannedPiece | Refusal]:
    """Read and encode files in their order, over the machine's cores where that pays.

    Args:
        paths: The files.
        root: The folder their names are given relative to.
        tokenizer: How music becomes events.
        n_workers: Processes; None for one a core, 1 for none beside this one. They import the
            script that runs anew, so in a script of one's own the call stands under
            `if __name__ == "__main__":`.

    Raises:
        CorpusError: A process ended before its work was done.
    """
    n_workers = os.cpu_count() or 1 if n_workers is None else n_workers
    if n_workers == 1 or len(paths) <= _SERIAL_FILES:
        for path in paths:
            yield scan_file(path, root, tokenizer)
        return
    work = partial(_scan_in_worker, root=root, tokenizer_json=tokenizer.to_json())
    done = 0
    pool = _workers(n_workers)
    try:
        with _ctrl_c_held_back():
            results = pool.map(work, paths, chunksize=8)  # starts the processes
        for found in results:
            done += 1
            yield found
    except BrokenProcessPool as error:
        raise _broken(done) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _workers(n_workers: int) -> ProcessPoolExecutor:
    if getattr(current_process(), "_inheriting", False):
        # This process is a worker that imports the caller's script anew, and the script has come
        # to the call that started it. The process that called says so (`_broken`); a traceback
        # from each worker would bury that.
        raise SystemExit(1)
    # "spawn" works alike on every platform and never forks a process that runs threads.
    return ProcessPoolExecutor(
        n_workers, mp_context=get_context("spawn"), initializer=_ignore_ctrl_c
    )


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Start processes that never hear of Ctrl-C: who started them ends them.

    A terminal sends it to all of them, also to one that is still importing, and each would print a
    traceback. A process keeps the signal mask it was born with; here Ctrl-C only waits. Windows
    has no masks: there `_ignore_ctrl_c` serves from the end of the imports on.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _broken(done: int) -> CorpusError:
    if done:
        return CorpusError(
            f"A process that reads files was ended from outside, after {done} files.",
            hint="Perhaps the memory was full: close other programs, then try again.",
        )
    return CorpusError(
        "The processes that read files ended before the first file was read.",
        hint='In a script of your own, put the call under `if __name__ == "__main__":`.',
    )


def _scan_in_worker(path: Path, root: Path, tokenizer_json: str) -> ScannedPiece | Refusal:
    return scan_file(path, root, tokenizer_from_json(tokenizer_json))
