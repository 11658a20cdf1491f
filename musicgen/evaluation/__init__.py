"""How good a model is: bits a note on music it has not seen."""

from musicgen.evaluation.bits import Surprise, Window, sliding_windows, surprise
from musicgen.evaluation.report import EvaluationProgress, EvaluationReport, evaluate
from musicgen.evaluation.trigram import Trigram

__all__ = [
    "EvaluationProgress",
    "EvaluationReport",
    "Surprise",
    "Trigram",
    "Window",
    "evaluate",
    "sliding_windows",
    "surprise",
]
