"""From a folder of MIDI files to a corpus: scan, drop copies, split, write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from musicgen.corpus import store
from musicgen.corpus.report import CorpusReport, Piece, Refusal
from musicgen.corpus.scan import ScannedPiece, scan_files
from musicgen.corpus.split import Split, split_pieces
from musicgen.errors import CorpusError, NoUsableFilesError
from musicgen.files import is_folder, is_there
from musicgen.midi import find_midi_files
from musicgen.tokens import Tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanProgress:
    """How far the reading of the folder is.

    Attributes:
        done: Files read.
        total: Files there are.
        refused: Files left out so far.
    """

    done: int
    total: int
    refused: int


def list_music(root: Path) -> list[Path]:
    """Return the MIDI files of a folder.

    Raises:
        CorpusError: There is no such folder.
        NoUsableFilesError: No file in it is called a MIDI file.
    """
    if not is_there(root):
        raise CorpusError(f"There is no folder {root}.", hint="Check the path.")
    if not is_folder(root):
        raise CorpusError(f"{root} is a file, not a folder.", hint="Give the folder it lies in.")
    paths = find_midi_files(root)
    if not paths:
        raise NoUsableFilesError(
            f"No usable MIDI files in {root}: none is called .mid, .midi, .kar or .rmi.",
            hint="Give a folder that holds MIDI files, at any depth.",
        )
    return paths


def build_corpus(
    root: Path, folder: Path, tokenizer: Tokenizer, *, n_workers: int | None = None
) -> Iterator[ScanProgress | store.Corpus]:
    """Make the corpus of the MIDI files under `root`; yield progress, then the corpus.

    A corpus that was made before from the same files with the same tokenizer is used again.

    Args:
        root: Folder of MIDI files, at any depth.
        folder: Where the corpus is written.
        tokenizer: How music becomes events.
        n_workers: Processes that read; None for one a core.

    Raises:
        CorpusError: The folder cannot be read or written.
        NoUsableFilesError: Not one file can be trained on.
    """
    paths = list_music(root)
    source = _source_fingerprint(paths, root)
    before = store.open_corpus(folder)
    if (
        before is not None
        and before.index.source == source
        and before.index.tokenizer == tokenizer.fingerprint
    ):
        yield before
        return
    pieces: list[ScannedPiece] = []
    refused: list[Refusal] = []
    for found in scan_files(paths, root, tokenizer, n_workers=n_workers):
        (refused if isinstance(found, Refusal) else pieces).append(found)  # type: ignore[arg-type]
        yield ScanProgress(done=len(pieces) + len(refused), total=len(paths), refused=len(refused))
    pieces, copies = _without_copies(pieces)
    refused += copies
    if not pieces:
        raise nothing_usable(root, refused)
    yield _write(folder, pieces, refused, source, tokenizer)


def _without_copies(pieces: list[ScannedPiece]) -> tuple[list[ScannedPiece], list[Refusal]]:
    """Keep the first of each music: a copy in both splits would flatter the held-out figures."""
    first: dict[str, str] = {}
    kept, copies = [], []
    for piece in pieces:
        if piece.digest in first:
            message = f"It holds the same music as {first[piece.digest]}."
            copies.append(Refusal(path=piece.path, code="duplicate", message=message))
        else:
            first[piece.digest] = piece.path
            kept.append(piece)
    return kept, copies


def _write(
    folder: Path,
    pieces: list[ScannedPiece],
    refused: list[Refusal],
    source: str,
    tokenizer: Tokenizer,
) -> store.Corpus:
    split = split_pieces(pieces)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise store.unwritable(folder, error) from error
    listed: list[Piece] = []
    for name in store.SPLITS:
        parts = list(_parts(pieces, split, name))
        store.write_split(folder, name, [ids for _, ids in parts])
        listed += _listed(parts, name, tokenizer)
    report = CorpusReport(
        pieces=tuple(listed),
        refused=tuple(sorted(refused, key=lambda refusal: refusal.path)),
        split_rule=split.rule,
    )
    index = store.CorpusIndex(
        version=store.FORMAT_VERSION,
        source=source,
        tokenizer=tokenizer.fingerprint,
        n_attributes=tokenizer.n_attributes,
        report=report,
    )
    store.write_index(folder, index)
    return store.Corpus(folder=folder, index=index)


def _parts(
    pieces: Sequence[ScannedPiece], split: Split, name: str
) -> Iterator[tuple[ScannedPiece, np.ndarray]]:
    """Yield each piece of a split with the part of its events that belongs there."""
    for piece in pieces:
        if split.within:
            cut = len(piece.ids) - max(2, len(piece.ids) // 10)
            yield piece, piece.ids[:cut] if name == "train" else piece.ids[cut:]
        elif piece.path not in split.ignored and (
            (piece.path in split.held_out) == (name == "validation")
        ):
            yield piece, piece.ids


def _listed(
    parts: Sequence[tuple[ScannedPiece, np.ndarray]], name: str, tokenizer: Tokenizer
) -> Iterator[Piece]:
    start = 0
    for piece, ids in parts:
        yield Piece(
            path=piece.path,
            split=name,
            start=start,
            n_events=len(ids),
            n_notes=tokenizer.n_notes(ids.astype(np.int64)),
            seconds=piece.seconds * len(ids) / len(piece.ids),
            digest=piece.digest,
            warnings=piece.warnings,
        )
        start += len(ids)


def _source_fingerprint(paths: list[Path], root: Path) -> str:
    """Return a digest of names, sizes and times: enough to see that a folder has changed."""
    digest = hashlib.sha256()
    for path in paths:
        status = path.stat()
        line = f"{path.relative_to(root).as_posix()}\0{status.st_size}\0{status.st_mtime_ns}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def nothing_usable(root: Path, refused: Sequence[Refusal]) -> NoUsableFilesError:
    """Return the error for a folder of which no file can be used."""
    report = CorpusReport(pieces=(), refused=tuple(refused), split_rule="")
    reasons = ", ".join(f"{code} {n}" for code, n in report.refused_by_code().items())
    return NoUsableFilesError(
        f"No usable MIDI files in {root}: all {len(refused)} were left out ({reasons}). "
        f"The first: {refused[0].path}: {refused[0].message}",
        hint="A file needs at least 8 notes that are not drums; `musicgen info` tells more.",
    )
