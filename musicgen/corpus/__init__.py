"""A folder of MIDI files becomes a corpus of events, with a reason for each file left out."""

from musicgen.corpus.build import ScanProgress, build_corpus, list_music
from musicgen.corpus.report import CorpusReport, Piece, Refusal
from musicgen.corpus.store import Corpus

__all__ = [
    "Corpus",
    "CorpusReport",
    "Piece",
    "Refusal",
    "ScanProgress",
    "build_corpus",
    "list_music",
]
