"""Attention taken apart: every step of it with its numbers, for the page *Attention lab*.

Three lessons, by the functions of `musicgen.model.attention` that the music comes from too: a
sentence with seeded weights, the four tokens of the text behind the project, and events of a piece
through a layer of a trained model.
"""

from __future__ import annotations

from musicgen.lesson.leak import LeakTrial, leak_trial
from musicgen.lesson.music import layer_lesson, next_event_bits
from musicgen.lesson.printed import printed_lesson
from musicgen.lesson.sentence import MAX_TOKENS, sentence_lesson, split_sentence, words_in
from musicgen.lesson.steps import Lesson, Others, Projections
from musicgen.lesson.terms import Terms, largest_terms

__all__ = [
    "MAX_TOKENS",
    "LeakTrial",
    "Lesson",
    "Others",
    "Projections",
    "Terms",
    "largest_terms",
    "layer_lesson",
    "leak_trial",
    "next_event_bits",
    "printed_lesson",
    "sentence_lesson",
    "split_sentence",
    "words_in",
]
