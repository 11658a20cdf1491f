"""From a folder of MIDI files to a corpus: scan, leave out twins, split, write.

T events   K attributes
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from musicgen.corpus import store
from musicgen.corpus.groups import Sorted, sort_out
from musicgen.corpus.music import Music
from musicgen.corpus.report import CorpusReport, Piece, Refusal
from musicgen.corpus.scan import ScannedPiece, scan_sources
from musicgen.corpus.sources import Source, find_sources
from musicgen.corpus.split import folder_sides, split_by_folders, split_by_music
from musicgen.corpus.words import told_reasons
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scanned:
    """A scanned piece whose events lie in the spool."""

    path: str
    number: int
    digest: str
    music: Music


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
    root: Path,
    folder: Path,
    tokenizer: Tokenizer,
    *,
    skip: Path | None = None,
    n_workers: int | None = None,
) -> Iterator[ScanProgress | store.Corpus]:
    """Make the corpus of the MIDI files under `root`; yield progress, then the corpus.

    A corpus that was made before from the same files with the same tokenizer is used again.

    Args:
        root: Folder of MIDI files, at any depth, or a zip archive of them.
        folder: Where the corpus is written.
        tokenizer: How music becomes events.
        skip: What is no music of `root`, should it lie there: the run's folder, say. None for
            `folder` alone.
        n_workers: Processes that read; None for one a core.

    Raises:
        CorpusError: The folder cannot be read or written.
        NoUsableFilesError: Not one file can be trained on.
    """
    # A run that lies among its music (`-o .`) takes nothing away but the corpus.
    is_root = skip is None or os.path.realpath(skip) == os.path.realpath(root)
    found = find_sources(root, skip=folder if is_root else skip)
    source = _source_fingerprint(found.music)
    before = store.open_corpus(folder)
    if (
        before is not None
        and before.index.source == source
        and before.index.tokenizer == tokenizer.fingerprint
    ):
        yield before
        return
    refused = list(found.refused)
    pieces: list[_Scanned] = []
    with store.spool(folder, tokenizer.n_attributes) as spool:
        for done, scanned in enumerate(
            scan_sources(found.music, tokenizer, n_workers=n_workers), start=1
        ):
            if isinstance(scanned, ScannedPiece):
                pieces.append(_spooled(spool, scanned, len(pieces)))
            else:
                refused.append(scanned)
            yield ScanProgress(done=done, total=len(found.music), refused=done - len(pieces))
        if not pieces:
            raise nothing_usable(root, refused)
        yield _write(folder, spool, pieces, refused, source, tokenizer)


def _spooled(spool: store.Spool, piece: ScannedPiece, number: int) -> _Scanned:
    spool.add(piece.ids)
    return _Scanned(path=piece.path, number=number, digest=piece.digest, music=piece.music)


def _write(
    folder: Path,
    spool: store.Spool,
    pieces: Sequence[_Scanned],
    refused: list[Refusal],
    source: str,
    tokenizer: Tokenizer,
) -> store.Corpus:
    names = [piece.path for piece in pieces]
    music = [piece.music for piece in pieces]
    own = folder_sides(names)
    found = sort_out(names, music, own or ("",) * len(pieces))
    kept = [pieces[number] for number in found.kept]
    groups = [found.group[number] for number in found.kept]
    if own is not None:
        split = split_by_folders([own[number] for number in found.kept])
    else:
        split = split_by_music([piece.music for piece in kept], groups)
    refused += [
        Refusal(path=names[number], code=twin.code, message=twin.message)
        for number, twin in found.twins.items()
    ]
    listed: list[Piece] = []
    sums: list[str] = []
    for name in store.SPLITS:
        parts = [(kept[i], groups[i], side) for i, side in enumerate(split.sides)]
        chosen = [(piece, group, side) for piece, group, side in parts if side in (name, "within")]
        events = (_part(spool.read(p.number), side, name) for p, _, side in chosen)
        sums.append(store.write_split(folder, name, events))
        listed += _listed(spool, chosen, name, tokenizer)
    report = CorpusReport(
        pieces=tuple(listed),
        refused=tuple(sorted(refused, key=lambda refusal: refusal.path.split("/"))),
        split_rule=split.rule,
        warnings=across_warnings(found, names, own),
    )
    index = store.CorpusIndex(
        version=store.FORMAT_VERSION,
        source=source,
        tokenizer=tokenizer.fingerprint,
        n_attributes=tokenizer.n_attributes,
        sums=tuple(sums),
        report=report,
    )
    store.write_index(folder, index)
    return store.Corpus(folder=folder, index=index)


def across_warnings(
    found: Sorted, names: Sequence[str], own: Sequence[str] | None
) -> tuple[str, ...]:
    """Return sentences on like pieces that a folder's own split has on both sides."""
    if own is None:
        return ()
    pairs = [p for p in found.across if "train" in (own[p.first], own[p.second])]
    if not pairs:
        return ()
    one, other = names[pairs[0].first], names[pairs[0].second]
    count = "One pair of pieces is" if len(pairs) == 1 else f"{len(pairs)} pairs of pieces are"
    return (
        f"{count} nearly the same music, yet the folder's own split has them on both sides, where "
        f"they were left: {one} and {other}" + (", …" if len(pairs) > 1 else "") + ".",
    )


def _part(ids: np.ndarray, side: str, name: str) -> np.ndarray:
    """Return the events of a piece (T, K) that belong to a split."""
    if side != "within":
        return ids
    cut = len(ids) - max(2, len(ids) // 10)
    return ids[:cut] if name == "train" else ids[cut:]


def _listed(
    spool: store.Spool,
    chosen: Sequence[tuple[_Scanned, str, str]],
    name: str,
    tokenizer: Tokenizer,
) -> Iterator[Piece]:
    start = 0
    for piece, group, side in chosen:
        whole = spool.read(piece.number)
        ids = _part(whole, side, name)
        yield Piece(
            path=piece.path,
            split=name,
            start=start,
            n_events=len(ids),
            n_notes=tokenizer.n_notes(ids.astype(np.int64)),
            seconds=piece.music.seconds * len(ids) / len(whole),
            digest=piece.digest,
            warnings=piece.music.warnings,
            group=group,
        )
        start += len(ids)


def _source_fingerprint(sources: Sequence[Source]) -> str:
    """Return a digest of names, sizes and times: enough to see that a folder has changed."""
    digest = hashlib.sha256()
    for source in sources:
        line = f"{source.name}\0{source.size}\0{source.mtime_ns}\n"
        digest.update(line.encode("utf-8"))
    return digest.hexdigest()


def nothing_usable(root: Path, refused: Sequence[Refusal]) -> NoUsableFilesError:
    """Return the error for a folder of which no file can be used."""
    report = CorpusReport(pieces=(), refused=tuple(refused), split_rule="")
    reasons = told_reasons(report.refused_by_code())
    return NoUsableFilesError(
        f"No usable MIDI files in {root}: all {len(refused)} were left out: {reasons}. "
        f"The first: {refused[0].path}: {refused[0].message}",
        hint="A file needs at least 8 notes that are not drums; `musicgen info` tells more.",
    )
