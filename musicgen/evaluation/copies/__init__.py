"""Copies: the longest passage that a piece of music shares with the training corpus."""

from musicgen.evaluation.copies.build import (
    build_copy_index,
    corpus_pieces,
    folder_pieces,
    with_yardstick,
)
from musicgen.evaluation.copies.check import CopyReport, SharedPassage, find_copies
from musicgen.evaluation.copies.index import CopyIndex, Yardstick
from musicgen.evaluation.copies.stored import (
    INDEX_FILE,
    index_from_bytes,
    index_to_bytes,
    load_copy_index,
)

__all__ = [
    "INDEX_FILE",
    "CopyIndex",
    "CopyReport",
    "SharedPassage",
    "Yardstick",
    "build_copy_index",
    "corpus_pieces",
    "find_copies",
    "folder_pieces",
    "index_from_bytes",
    "index_to_bytes",
    "load_copy_index",
    "with_yardstick",
]
