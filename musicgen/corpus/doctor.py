"""The corpus doctor: looks at every file of a folder, and says what becomes of it and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from musicgen.corpus.build import ScanProgress, across_warnings
from musicgen.corpus.diagnosis import KEPT, Diagnosis, Figures, FileLine
from musicgen.corpus.examine import examine_all, read_sources
from musicgen.corpus.groups import Sorted, sort_out
from musicgen.corpus.music import Music
from musicgen.corpus.report import Refusal, told_clock
from musicgen.corpus.scan_cache import Known, load_cache, save_cache
from musicgen.corpus.sources import Source, find_sources
from musicgen.corpus.split import Split, folder_sides, split_by_folders, split_by_music
from musicgen.corpus.words import told_changes
from musicgen.errors import CorpusError

_KEEP_EVERY = 5000
"""Files read after which what was learned is written down: a killed run loses no more."""
_NOTHING = "There is nothing to train on."
_SIDES = {
    "train": "To train on",
    "validation": "Held out",
    "test": "Set aside, as the folder's own test split",
    "within": "To train on, its last tenth held out",
}


def diagnose(
    root: Path,
    *,
    cache: Path | None = None,
    skip: Path | None = None,
    n_workers: int | None = None,
) -> Iterator[ScanProgress | Diagnosis]:
    """Look at every file of a folder; yield progress, then the diagnosis.

    `build_corpus` keeps the same files and splits them alike.

    Args:
        root: A folder of MIDI files at any depth, or a zip archive of them.
        cache: A file that keeps what is learned: a second run reads only what has changed. It
            is written as far as the run came, also where it is broken off.
        skip: A folder below `root` that is left out.
        n_workers: Processes that read; None for one a core.

    Raises:
        CorpusError: There is no such folder.
        NoUsableFilesError: No file in it may hold music.
    """
    sources = find_sources(root, skip=skip)
    known, notice = ({}, "") if cache is None else load_cache(cache)
    notices = [notice] if notice else []
    found = {
        source.name: known[source.name]
        for source in sources.music
        if source.name in known and known[source.name].is_of(source)
    }
    read, total = 0, len(sources.music)
    refused = sum(isinstance(each.found, Refusal) for each in found.values())
    unknown = [source for source in sources.music if source.name not in found]
    try:
        for source, each in _learn(unknown, known, n_workers):
            found[source.name] = each
            read += 1
            refused += isinstance(each.found, Refusal)
            yield ScanProgress(done=len(found), total=total, refused=refused)
            if cache is not None and read % _KEEP_EVERY == 0:
                notices = [*notices, *_keep(cache, found)]
    finally:
        if cache is not None and read:
            notices = [*notices, *_keep(cache, found)]
    notices = list(dict.fromkeys(notices))
    yield _diagnosis(root, sources.music, sources.refused, found, notices, read)


def _learn(
    sources: Sequence[Source], known: Mapping[str, Known], n_workers: int | None
) -> Iterator[tuple[Source, Known]]:
    """Yield what files hold; one that was only moved or touched is known by its bytes."""
    by_bytes = {each.sha256: each for each in known.values()}
    new = []
    for source, data in read_sources(sources) if by_bytes else ():
        before = None
        if not isinstance(data, Refusal):
            before = by_bytes.get(hashlib.sha256(data).hexdigest())
        if before is None:
            new.append(source)
        else:
            yield source, _known(source, before.sha256, before.as_found(source))
    new = new if by_bytes else list(sources)
    by_name = {source.name: source for source in new}
    for examined in examine_all(new, n_workers=n_workers):
        source = by_name[examined.name]
        yield source, _known(source, examined.sha256, examined.found)


def _known(source: Source, sha256: str, found: Music | Refusal) -> Known:
    return Known(size=source.size, mtime_ns=source.mtime_ns, sha256=sha256, found=found)


def _keep(cache: Path, found: Mapping[str, Known]) -> list[str]:
    """Write down what was learned; return a sentence if that is not possible."""
    try:
        # What could not be opened may be readable the next time, without having changed.
        save_cache(cache, {name: each for name, each in found.items() if each.sha256})
    except CorpusError as error:
        return [f"The next run will read all files again: {error.message}"]
    return []


def _diagnosis(
    root: Path,
    sources: Sequence[Source],
    refused: Sequence[Refusal],
    found: Mapping[str, Known],
    notices: Sequence[str],
    read: int,
) -> Diagnosis:
    names: list[str] = []
    music: list[Music] = []
    lines = [FileLine(path=r.path, code=r.code, message=r.message) for r in refused]
    for source in sources:
        each = found[source.name].as_found(source)
        if isinstance(each, Refusal):
            lines.append(FileLine(path=each.path, code=each.code, message=each.message))
        else:
            names.append(source.name)
            music.append(each)
    own = folder_sides(names)
    groups = sort_out(names, music, own or ("",) * len(names))
    split = _split(music, groups, own)
    lines += _twin_lines(names, music, groups)
    lines += _kept_lines(names, music, groups, split)
    return Diagnosis(
        folder=str(root),
        files=tuple(sorted(lines, key=lambda line: line.path.split("/"))),
        figures=Figures.of([music[number] for number in groups.kept]),
        split_rule=split.rule,
        warnings=across_warnings(groups, names, own),
        notices=tuple(notices),
        read=read,
    )


def _split(music: Sequence[Music], groups: Sorted, own: Sequence[str] | None) -> Split:
    if not groups.kept:
        return Split(sides=(), rule=_NOTHING)
    if own is not None:
        return split_by_folders([own[number] for number in groups.kept])
    return split_by_music(
        [music[number] for number in groups.kept], [groups.group[number] for number in groups.kept]
    )


def _twin_lines(names: Sequence[str], music: Sequence[Music], groups: Sorted) -> Iterator[FileLine]:
    for number, twin in groups.twins.items():
        yield FileLine(
            path=names[number],
            code=twin.code,
            message=twin.message,
            of=names[twin.of],
            group=groups.group[number],
            notes=music[number].n_notes,
            seconds=round(music[number].seconds, 3),
        )


def _kept_lines(
    names: Sequence[str], music: Sequence[Music], groups: Sorted, split: Split
) -> Iterator[FileLine]:
    for number, side in zip(groups.kept, split.sides, strict=True):
        piece = music[number]
        changes = f" Read {told_changes(piece.warnings)}." if piece.warnings else ""
        told = f"{_SIDES[side]}: {piece.n_notes:,} notes in {told_clock(piece.seconds)}."
        yield FileLine(
            path=names[number],
            code=KEPT,
            message=told + changes,
            group=groups.group[number],
            split=side,
            notes=piece.n_notes,
            seconds=round(piece.seconds, 3),
        )
