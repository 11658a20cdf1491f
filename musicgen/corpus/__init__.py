"""A folder of MIDI files becomes a corpus of events, with a reason for each file left out."""

from musicgen.corpus.build import ScanProgress, build_corpus, list_music, nothing_usable
from musicgen.corpus.diagnosis import KEPT, Diagnosis, FileLine
from musicgen.corpus.doctor import diagnose
from musicgen.corpus.examine import read_sources
from musicgen.corpus.report import CorpusReport, Piece, Refusal
from musicgen.corpus.scan import ScannedPiece, scan_files
from musicgen.corpus.sources import Source, check_place, find_sources
from musicgen.corpus.split import HELD_SHARE
from musicgen.corpus.store import Corpus

__all__ = [
    "HELD_SHARE",
    "KEPT",
    "Corpus",
    "CorpusReport",
    "Diagnosis",
    "FileLine",
    "Piece",
    "Refusal",
    "ScanProgress",
    "ScannedPiece",
    "Source",
    "build_corpus",
    "check_place",
    "diagnose",
    "find_sources",
    "list_music",
    "nothing_usable",
    "read_sources",
    "scan_files",
]
