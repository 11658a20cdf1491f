"""Well-known corpora of MIDI files: what they are, under which licence, and fetching them."""

from __future__ import annotations

from musicgen.datasets.download import Checking, Downloading, Remark
from musicgen.datasets.fetch import Fetched, fetch
from musicgen.datasets.table import TABLE, Dataset, find_dataset
from musicgen.datasets.unpack import Unpacking
from musicgen.datasets.web import Patience

__all__ = [
    "TABLE",
    "Checking",
    "Dataset",
    "Downloading",
    "Fetched",
    "Patience",
    "Remark",
    "Unpacking",
    "fetch",
    "find_dataset",
]
