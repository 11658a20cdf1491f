"""Continuations of real performances: the prompt comes back as it was, the length is met."""

import os
from pathlib import Path

import numpy as np
import pytest

from musicgen.midi import find_midi_files, note_table, pedal_spans, read_midi
from musicgen.pipeline import MusicPipeline
from musicgen.tokens import get_tokenizer
from small_models import small_decoder

CORPORA = os.environ.get("MUSICGEN_CORPORA", "")

pytestmark = pytest.mark.skipif(not CORPORA, reason="MUSICGEN_CORPORA names no folder of corpora")


@pytest.fixture(scope="module")
def pipeline():
    return MusicPipeline(small_decoder(max_seq_len=128), get_tokenizer())


@pytest.mark.parametrize("corpus", ["maestro/validation", "piano_midi_de", "pop909", "freedoom"])
def test_real_prompts_are_sacred_and_lengths_are_met(pipeline, corpus):
    files = find_midi_files(Path(CORPORA) / corpus)
    for path in files[:: max(1, len(files) // 5)][:5]:
        document = read_midi(path)
        for prompt_seconds in (20.0, None):
            take = pipeline.continue_(document, prompt_seconds, seconds=8, seed=1)
            cut_s = take.prompt_seconds
            before = note_table(document.score, include_drums=True)
            kept = before.select(before.onset_s < cut_s)
            after = read_midi(take.midi)
            table = note_table(after.score, include_drums=True)
            assert take.prompt_notes == len(kept)
            assert take.notes == len(table) == len(kept) + len(take.new_notes)

            mine = table.select(table.track < table.track.max())
            for column in ("onset_s", "end_s"):
                found, wanted = getattr(mine, column), getattr(kept, column)
                assert np.sort(found) == pytest.approx(np.sort(wanted), abs=1e-6)
            assert sorted(mine.pitch) == sorted(kept.pitch)
            assert sorted(mine.velocity) == sorted(kept.velocity)

            assert take.new_notes.onset_s.min() >= cut_s - 1e-6
            assert take.new_notes.end_s.max() - cut_s == pytest.approx(8, rel=0.05)
            for spans in pedal_spans(after.score).values():
                assert spans.max() <= take.seconds + 10.0
