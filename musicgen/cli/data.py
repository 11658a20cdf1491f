"""`musicgen data`: well-known corpora, listed and fetched."""

from __future__ import annotations

import math
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musicgen.cli import options
from musicgen.cli.console import Console, counted, session

if TYPE_CHECKING:
    from musicgen.datasets import Dataset, Fetched

app = typer.Typer(
    help="List well-known corpora of MIDI files, and fetch one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_SUMS = {
    "publisher": "checksum by the publisher",
    "others": "checksum as others recorded it; the publisher gives none",
    "nobody": "the publisher gives no checksum",
}


@app.command("list")
def list_(as_json: options.AsJson = False) -> None:
    """List the corpora: size, licence, where they come from."""
    with session(as_json=as_json, only_tells=True) as console:
        from musicgen.datasets import TABLE

        lines = [line for dataset in TABLE for line in _lines(dataset)]
        console.result({"corpora": [_facts(dataset) for dataset in TABLE]}, *lines)


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One that `data list` names.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Its folder; without it: ./NAME. It must be new."
        ),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The corpus's archive, downloaded before: nothing is fetched."
        ),
    ] = None,
    keep_archive: Annotated[
        bool, typer.Option("--keep-archive", help="Leave the archive beside the folder.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Download a corpus, check it, and lay it out as a folder to train on.

    Ctrl-C keeps what came; the same command goes on.
    """
    with session(as_json=as_json) as console:
        from musicgen import datasets

        dataset = datasets.find_dataset(name)
        folder = Path(name) if output is None else output
        _say_terms(console, dataset)
        console.how_to_go_on = "What was downloaded is kept: the same command goes on from there."
        run = datasets.fetch(dataset, folder, archive=archive, keep_archive=keep_archive)
        with closing(run):
            for event in run:
                if isinstance(event, datasets.Fetched):
                    _say_end(console, dataset, event)
                else:
                    _say(console, event)


def _say_terms(console: Console, dataset: Dataset) -> None:
    console.note(f"{dataset.title}: {_size(dataset)}, {dataset.licence} ({dataset.licence_url})")
    console.note(dataset.terms)
    if dataset.url is not None:
        console.note(f"From {dataset.url}; {_SUMS[dataset.sum_from]}.")


def _say(console: Console, event: Any) -> None:
    from musicgen import datasets

    if isinstance(event, datasets.Remark):
        console.note(event.text)
    elif isinstance(event, datasets.Downloading):
        of = "" if event.total_bytes is None else f" of {_megabytes(event.total_bytes)}"
        console.progress(
            f"{_megabytes(event.done_bytes)}{of} downloaded",
            last=event.done_bytes == event.total_bytes,
        )
    elif isinstance(event, datasets.Checking):
        console.progress(
            f"{_megabytes(event.done_bytes)} of {_megabytes(event.total_bytes)} checked"
        )
    else:
        of = "" if event.total is None else f" of {event.total:,}"
        console.progress(f"{event.done:,}{of} files unpacked", last=event.done == event.total)


def _say_end(console: Console, dataset: Dataset, found: Fetched) -> None:
    split = ", ".join(f"{name} {n:,}" for name, n in found.by_split.items())
    what = counted(found.n_files, "MIDI file") + (f" ({split})" if split else "")
    there = "" if found.is_new else ", there already"
    console.result(
        {
            "name": dataset.name,
            "folder": str(found.folder),
            "files": found.n_files,
            "by_split": found.by_split,
            "sha256": found.sha256,
            "is_new": found.is_new,
            "licence": dataset.licence,
            "terms": dataset.terms,
            "citation": dataset.citation,
        },
        f"{found.folder}: {what}{there}",
        f"Cite: {dataset.citation}",
        f"Train on it: musicgen train {found.folder} -o runs/{dataset.name}",
    )


def _lines(dataset: Dataset) -> list[str]:
    files = "" if dataset.n_files is None else f"{dataset.n_files:,} files"
    hours = "" if dataset.hours is None else f"{dataset.hours:,.0f} h"
    head = f"{dataset.name:14}{_size(dataset):>14}{files:>16}{hours:>9}  {dataset.licence}"
    how = "by hand, at " + dataset.page if dataset.url is None else _SUMS[dataset.sum_from]
    return [head, *(f"    {line}" for line in (dataset.about, dataset.terms, how))]


def _facts(dataset: Dataset) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "title": dataset.title,
        "about": dataset.about,
        "page": dataset.page,
        "url": dataset.url,
        "bytes": dataset.size_bytes,
        "sha256": dataset.sha256,
        "sum_from": dataset.sum_from,
        "files": dataset.n_files,
        "hours": dataset.hours,
        "licence": dataset.licence,
        "licence_url": dataset.licence_url,
        "terms": dataset.terms,
        "citation": dataset.citation,
    }


def _size(dataset: Dataset) -> str:
    if dataset.size_bytes is None:
        return "by hand" if dataset.url is None else "size unknown"
    return _megabytes(dataset.size_bytes)


def _megabytes(n_bytes: int) -> str:
    return f"{math.ceil(n_bytes / 100_000) / 10:,.1f} MB"
