"""A folder of MIDI files becomes a corpus of events, with a reason for each file left out."""

from musicgen.corpus.build import ScanProgress, build_corpus, list_music, nothing_usable
from musicgen.corpus.report import CorpusReport, Piece, Refusal
from musicgen.corpus.scan import ScannedPiece, scan_files
from musicgen.corpus.store import Corpus

__all__ = [
    "Corpus",
    "CorpusReport",
    "Piece",
    "Refusal",
    "ScanProgress",
    "ScannedPiece",
    "build_corpus",
    "list_music",
    "nothing_usable",
    "scan_files",
]
