"""The copy check of takes and files."""

from __future__ import annotations

from musicgen.evaluation.copies import CopyIndex, CopyReport, find_copies
from musicgen.midi import MidiDocument, note_table
from musicgen.pipeline.take import Take


def check_copies(index: CopyIndex, source: Take | MidiDocument) -> CopyReport:
    """Return what music shares with a corpus.

    Args:
        index: The corpus's fingerprints.
        source: A file, or a take. Of a take only the new notes count: a prompt may be anybody's.
    """
    notes = source.new_notes if isinstance(source, Take) else note_table(source.score)
    return find_copies(index, notes)
