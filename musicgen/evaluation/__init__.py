"""How good a model is: bits a note on unseen music, and how its own music compares with real music.

Torch is imported only by what asks a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from musicgen.evaluation.comparison import Comparison, compare
from musicgen.evaluation.continuation import ContinuationFit, continuation_fit
from musicgen.evaluation.discriminator import told_apart
from musicgen.evaluation.excerpts import (
    Excerpt,
    FolderPieces,
    cut_excerpt,
    cut_excerpts,
    heard_notes,
    read_pieces,
)
from musicgen.evaluation.faults import Faults, find_faults, is_released, meets_length
from musicgen.evaluation.folders import FolderProgress, FolderReport, compare_folder
from musicgen.evaluation.ranges import RangedFigure, Ranges, ranges_of
from musicgen.evaluation.references import load_reference
from musicgen.evaluation.spread import Reference, make_reference
from musicgen.evaluation.statistics import STATISTICS, Measured, Statistics, measure
from musicgen.evaluation.words import FIGURE_WORDS, HISTOGRAM_WORDS, FigureWords

if TYPE_CHECKING:
    from musicgen.evaluation.bits import Surprise, Window, sliding_windows, surprise
    from musicgen.evaluation.report import EvaluationProgress, EvaluationReport, evaluate
    from musicgen.evaluation.trigram import Trigram
    from musicgen.evaluation.trigram_takes import TrigramSampler

__all__ = [
    "FIGURE_WORDS",
    "HISTOGRAM_WORDS",
    "STATISTICS",
    "Comparison",
    "ContinuationFit",
    "EvaluationProgress",
    "EvaluationReport",
    "Excerpt",
    "Faults",
    "FigureWords",
    "FolderPieces",
    "FolderProgress",
    "FolderReport",
    "Measured",
    "RangedFigure",
    "Ranges",
    "Reference",
    "Statistics",
    "Surprise",
    "Trigram",
    "TrigramSampler",
    "Window",
    "compare",
    "compare_folder",
    "continuation_fit",
    "cut_excerpt",
    "cut_excerpts",
    "evaluate",
    "find_faults",
    "heard_notes",
    "is_released",
    "load_reference",
    "make_reference",
    "measure",
    "meets_length",
    "ranges_of",
    "read_pieces",
    "sliding_windows",
    "surprise",
    "told_apart",
]

# Torch takes two seconds to import: only those who ask a model pay for it.
_OF_MODELS = {
    "Surprise": "bits",
    "Window": "bits",
    "sliding_windows": "bits",
    "surprise": "bits",
    "EvaluationProgress": "report",
    "EvaluationReport": "report",
    "evaluate": "report",
    "Trigram": "trigram",
    "TrigramSampler": "trigram_takes",
}


def __getattr__(name: str) -> object:
    if name in _OF_MODELS:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_OF_MODELS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
