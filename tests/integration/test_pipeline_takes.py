"""The pipeline with a small random model: files in, files out, and what the takes say of them."""

import threading

import mido
import numpy as np
import pytest
import torch

from musicgen.errors import ConfigError, EmptyScoreError, MidiReadError, PromptError
from musicgen.midi import (
    NoteTable,
    describe,
    note_table,
    notes_to_score,
    read_midi,
    score_to_bytes,
)
from musicgen.model import Decoder, DecoderConfig
from musicgen.pipeline import MusicPipeline, Progress, Take, preview
from musicgen.tokens import get_tokenizer
from promises import TAKE_FIELDS
from small_models import Reciter, save_small, small_decoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_small(tmp_path_factory.mktemp("checkpoints") / "small", small_decoder())


@pytest.fixture(scope="module")
def pipeline(folder):
    return MusicPipeline.load(folder, device="cpu")


def midi_file(*parts, division=480, tempo=500_000):
    """Bytes of a file: each part is (channel, program, [(start_s, end_s, pitch), …], [pedal …])."""
    file = mido.MidiFile(ticks_per_beat=division)
    per_s = division * 1e6 / tempo
    file.tracks.append(mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=tempo)]))
    for channel, program, notes, pedals in parts:
        timed = [(0, mido.Message("program_change", channel=channel, program=program))]
        for start, end, pitch in notes:
            on = mido.Message("note_on", channel=channel, note=pitch, velocity=70)
            off = mido.Message("note_off", channel=channel, note=pitch)
            timed += [(round(start * per_s), on), (round(end * per_s), off)]
        for at, value in pedals:
            message = mido.Message("control_change", channel=channel, control=64, value=value)
            timed.append((round(at * per_s), message))
        track, now = mido.MidiTrack(), 0
        for tick, message in sorted(timed, key=lambda pair: pair[0]):
            track.append(message.copy(time=tick - now))
            now = tick
        file.tracks.append(track)
    import io

    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()


def scale(n_notes, gap_s=0.25, length_s=0.2, start_s=0.0):
    return [
        (start_s + i * gap_s, start_s + i * gap_s + length_s, 50 + i % 20) for i in range(n_notes)
    ]


PIANO = midi_file((0, 0, scale(40), []))


def check_facts(take):
    """What a take says of its file is what the file holds."""
    facts = describe(read_midi(take.midi))
    assert take.notes == facts.notes
    assert take.seconds == pytest.approx(facts.end_s, abs=0.003)
    assert set(take.as_dict()) == TAKE_FIELDS
    return facts


def test_a_take_from_nothing(pipeline, folder):
    take = pipeline.generate(seconds=8, seed=5)
    check_facts(take)
    assert take.seconds == pytest.approx(8, rel=0.05)
    assert (take.prompt_seconds, take.prompt_notes, take.new_from) == (0.0, 0, 1)
    assert take.seed == 5
    assert take.finish_reason in ("length", "end")
    assert take.engine == "numba-int8"
    assert take.model == "small"
    assert len(take.model_sha256) == 64
    assert take.events == len(take.ids) - 1
    assert take.ids.shape[1] == 4
    assert take.new_notes.onset_s.max() < 8


def test_same_seed_same_bytes_from_a_model_loaded_anew(pipeline, folder):
    first = pipeline.generate(seconds=6, seed=7)
    again = MusicPipeline.load(folder, device="cpu").generate(seconds=6, seed=7)
    other = pipeline.generate(seconds=6, seed=8)
    assert first.midi == again.midi
    assert first.midi != other.midi
    drawn = pipeline.generate(seconds=1)
    assert pipeline.generate(seconds=1, seed=drawn.seed).midi == drawn.midi


def test_two_hundred_seeds_none_fails_none_is_empty(pipeline):
    # musicautobot #4: sometimes interrupted, sometimes empty
    for seed in range(200):
        take = pipeline.generate(seconds=1.0, seed=seed)
        assert take.notes > 0
        assert take.seconds == pytest.approx(1.0, rel=0.05)


def test_threads_on_one_pipeline_give_the_serial_bytes(pipeline):
    # vllm #51226: a seeded request changes when another runs beside it
    serial = [pipeline.continue_(PIANO, seconds=4, seed=s).midi for s in range(6)]
    made = {}

    def work(seed):
        made[seed] = pipeline.continue_(PIANO, seconds=4, seed=seed).midi

    threads = [threading.Thread(target=work, args=(s,)) for s in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [made[s] for s in range(6)] == serial


@pytest.mark.parametrize("prompt_seconds", [None, 0.7, 3.0, 7.33])
def test_a_continuation_keeps_the_prompt_and_meets_the_length(pipeline, prompt_seconds):
    take = pipeline.continue_(PIANO, prompt_seconds, seconds=6, seed=1)
    check_facts(take)
    before = note_table(read_midi(PIANO).score)
    cut_s = take.prompt_seconds
    assert cut_s == pytest.approx(prompt_seconds or 9.95)
    kept = before.select(before.onset_s < cut_s)
    table = note_table(read_midi(take.midi).score)
    mine = table.select(table.onset_s < cut_s - 0.003)
    assert take.prompt_notes == len(kept) == len(mine)
    assert mine.onset_s == pytest.approx(kept.onset_s)
    assert mine.end_s == pytest.approx(kept.end_s)
    assert mine.pitch.tolist() == kept.pitch.tolist()
    assert mine.velocity.tolist() == kept.velocity.tolist()
    assert take.new_notes.onset_s.min() >= cut_s - 1e-6
    assert take.seconds - cut_s == pytest.approx(6, rel=0.05)


def test_only_the_new_part(pipeline):
    whole = pipeline.continue_(PIANO, 5.0, seconds=6, seed=3)
    part = pipeline.continue_(PIANO, 5.0, True, seconds=6, seed=3)
    facts = check_facts(part)
    assert facts.notes == len(whole.new_notes)
    assert part.seconds == pytest.approx(6, rel=0.05)
    assert part.prompt_notes == whole.prompt_notes


def test_a_cut_in_the_middle_of_sounding_notes(pipeline):
    data = midi_file((0, 0, [*scale(8), (1.0, 30.0, 40), (1.5, 4.0, 64)], [(1.2, 127)]))
    take = pipeline.continue_(data, 2.0, seconds=10, seed=0)
    check_facts(take)
    table = note_table(read_midi(take.midi).score)
    assert table.end_s[table.pitch == 40][0] == pytest.approx(30.0)
    held = (take.new_notes.pitch == 64) & (take.new_notes.onset_s < 4.0)
    assert not held.any()  # that key is still down
    assert take.new_notes.end_s.max() == pytest.approx(12.0, abs=0.5)


def test_a_prompt_shorter_than_a_second(pipeline):
    take = pipeline.continue_(midi_file((0, 0, [(0.0, 0.3, 60)], [])), seconds=5, seed=0)
    check_facts(take)
    assert take.prompt_notes == 1
    assert take.seconds == pytest.approx(5.3, abs=0.25)


def test_a_prompt_that_is_long_silent_before_the_cut(pipeline):
    data = midi_file((0, 0, [(0.0, 20.0, 60), (0.5, 1.0, 64)], []))
    take = pipeline.continue_(data, 15.0, seconds=5, seed=0)
    assert 15.0 <= take.new_notes.onset_s.min() <= 19.0


def test_a_prompt_of_a_hundred_thousand_notes(pipeline):
    onset = np.arange(100_000) * 0.02
    notes = NoteTable.of(onset, onset + 0.02, 30 + np.arange(100_000) % 60, np.full(100_000, 64))
    data = score_to_bytes(notes_to_score(notes))
    take = pipeline.continue_(data, seconds=2, seed=0)
    check_facts(take)
    assert take.prompt_notes == 100_000
    assert any("The model saw the last" in warning for warning in take.warnings)


def test_drums_and_other_instruments_are_said(pipeline):
    data = midi_file((0, 40, scale(12), []), (9, 0, scale(30, 0.1), []))
    take = pipeline.continue_(data, seconds=3, seed=0)
    facts = check_facts(take)
    assert take.prompt_notes == 42
    assert any("drum" in warning for warning in take.warnings)
    assert any("piano" in warning for warning in take.warnings)
    assert sum(track.is_drum for track in facts.tracks) == 1


def test_drums_alone_are_refused_with_a_hint(pipeline):
    """Guards: "use more of the file" of one that is drums to its end, where that cannot help."""
    drums = (9, 0, scale(20), [])
    piano_later = (0, 0, scale(4, start_s=20.0), [])
    for file, seconds, has_more in (
        (midi_file(drums), None, False),
        (midi_file(drums), 3, False),
        (midi_file(drums, piano_later), 3, True),
    ):
        with pytest.raises(PromptError, match="nothing but drums") as caught:
            pipeline.continue_(file, seconds=3, prompt_seconds=seconds)
        assert ("use more of the file" in caught.value.hint) is has_more
        assert caught.value.code == "drums-only"


def test_a_prompt_without_a_note_before_the_cut(pipeline):
    with pytest.raises(PromptError) as caught:
        pipeline.continue_(midi_file((0, 0, scale(4, start_s=5.0), [])), 1.0, seconds=3)
    assert caught.value.hint


@pytest.mark.parametrize("data", [b"", b"not music", PIANO[:20]])
def test_what_is_no_music_is_refused_at_once(pipeline, data):
    with pytest.raises((MidiReadError, EmptyScoreError)):
        pipeline.stream(data)


@pytest.mark.parametrize(
    "bad",
    [
        {"seed": -1},
        {"seed": 2**63},
        {"seed": 1.5},
        {"seconds": 0},
        {"temperature": -1},
        {"per_attribute": {"loudness": {"temperature": 1.0}}},
    ],
)
def test_settings_out_of_range_are_refused_before_anything_is_computed(pipeline, bad):
    with pytest.raises(ConfigError):
        pipeline.stream(None, **bad)


@pytest.mark.parametrize("bad", [0, -1.0, float("nan")])
def test_a_part_of_no_length_is_refused(pipeline, bad):
    with pytest.raises(ConfigError):
        pipeline.continue_(PIANO, bad)


def test_a_device_that_there_is_not(folder):
    with pytest.raises(ConfigError, match="no device"):
        MusicPipeline.load(folder, device="tpu")


def test_the_stream_tells_its_progress_and_ends_with_the_take(pipeline):
    *progress, take = pipeline.stream(PIANO, seconds=20, seed=4)
    assert all(isinstance(p, Progress) for p in progress)
    assert isinstance(take, Take)
    assert progress[0].seconds_made == 0.0
    assert all(p.seconds_wanted == 20 and p.notes >= len(p.settled()) for p in progress)
    made = [p.seconds_made for p in progress]
    assert made == sorted(made)
    assert 0 < made[-1] <= 20
    assert take.midi == pipeline.continue_(PIANO, seconds=20, seed=4).midi


def test_what_is_settled_stays(pipeline):
    """Guards: music that is heard while it is made, and is not in the take then."""
    *progress, take = pipeline.stream(PIANO, seconds=20, seed=5)
    whole = preview(take.midi).notes
    until_s = [p.settled_s for p in progress]
    assert until_s == sorted(until_s)
    assert until_s[0] == pytest.approx(take.prompt_seconds)
    assert until_s[-1] > until_s[0] + 10
    assert progress[-1].tries_endings
    assert not progress[0].tries_endings
    for each in progress[:: max(1, len(progress) // 8)]:
        early = preview(each.settled_midi()).notes
        kept = whole.select(whole.onset_s < each.settled_s - 1e-3)
        for name in ("onset_s", "pitch", "velocity"):
            np.testing.assert_array_equal(getattr(early, name), getattr(kept, name))
        ends = (np.minimum(notes.end_s, each.settled_s) for notes in (early, kept))
        np.testing.assert_allclose(*ends, atol=2e-3)


def test_stop_and_keep(pipeline):
    whole = pipeline.continue_(PIANO, seconds=40, seed=4)
    stream = pipeline.stream(PIANO, seconds=40, seed=4)
    for progress in stream:
        if progress.notes >= 10:
            break
    take = stream.finish()
    check_facts(take)
    assert take.finish_reason == "stopped"
    assert len(take.new_notes) == progress.notes
    assert (take.ids == whole.ids[: len(take.ids)]).all()
    assert stream.finish() is take
    assert list(stream) == []


def test_stopping_before_the_first_note_keeps_nothing(pipeline):
    stream = pipeline.stream(None, seconds=10, seed=0)
    assert stream.finish() is None
    stream = pipeline.stream(None, seconds=10, seed=0)
    assert next(stream).notes == 0
    assert stream.finish() is None


def test_a_take_saves_itself_and_becomes_pretty_midi(pipeline, tmp_path):
    take = pipeline.generate(seconds=3, seed=0)
    path = take.save(tmp_path / "take.mid")
    assert path.read_bytes() == take.midi
    pretty = take.to_pretty_midi()
    assert sum(len(instrument.notes) for instrument in pretty.instruments) == take.notes


def test_no_key_overlaps_itself_in_what_is_made(pipeline):
    # midica #12: legato of one pitch becomes on-on-off-off, and notes are lost elsewhere
    for seed in range(50):
        table = note_table(read_midi(pipeline.generate(seconds=4, seed=seed).midi).score)
        for key in np.unique(table.pitch):
            mine = table.select(table.pitch == key)
            assert (mine.onset_s[1:] >= mine.end_s[:-1] - 1e-9).all()


def test_attention_of_a_file_and_of_a_take(pipeline):
    view = pipeline.attention(PIANO)
    ids = pipeline.tokenizer.encode(read_midi(PIANO).score)
    assert (view.ids == ids).all()
    assert view.weights.shape == (2, 4, len(ids), len(ids))
    assert len(view.notes) == 40
    part = pipeline.attention(PIANO, seconds=3.0)
    assert len(part.notes) == 12
    assert (part.ids == ids[: len(part.ids)]).all()

    take = pipeline.continue_(PIANO, seconds=30, seed=0)
    view = pipeline.attention(take)
    assert (view.ids == take.ids[-64:]).all()
    shown = note_table(read_midi(take.midi).score)
    for onset_s, _, pitch, _ in view.notes:
        near = np.abs(shown.onset_s - onset_s) < 0.011
        assert pitch in shown.pitch[near]


def test_attention_of_drums_is_refused(pipeline):
    with pytest.raises(PromptError):
        pipeline.attention(midi_file((9, 0, scale(20), [])))


def test_inspect_and_the_open_parts(pipeline):
    facts = pipeline.inspect(PIANO)
    assert (facts.notes, facts.end_s) == (40, pytest.approx(9.95))
    ids = torch.as_tensor(pipeline.tokenizer.encode(read_midi(PIANO).score))[None]
    logits = pipeline.model(ids)
    assert [tuple(part.shape) for part in logits] == [
        (1, ids.shape[1] - 1, size) for size in pipeline.model.config.vocab_sizes
    ]


def test_a_model_and_a_tokenizer_that_do_not_belong_together():
    config = DecoderConfig(vocab_sizes=(9, 9), d_model=32, n_layers=1, n_heads=2, d_ff=32)
    with pytest.raises(ValueError, match="vocabularies"):
        MusicPipeline(Decoder(config), get_tokenizer())


def test_the_preview_of_a_file_and_of_a_part():
    data = midi_file((0, 0, scale(40), [(1.0, 127), (2.0, 0)]), (9, 0, scale(4), []))
    seen = preview(data, name="mine.mid")
    assert len(seen.notes) == 44
    assert [track.is_drum for track in seen.tracks] == [False, True]
    assert set(seen.notes.track.tolist()) == {0, 1}
    assert seen.pedals == pytest.approx(np.array([[1.0, 2.0]]))
    assert seen.end_s == pytest.approx(9.95)
    assert any("drum" in warning for warning in seen.warnings)
    part = preview(data, seconds=2.1)
    assert part.end_s == pytest.approx(2.1)
    assert len(part.notes) == 9 + 4


@pytest.mark.parametrize("scheme", ["piano", "tsd", "remi", "midilike"])
def test_the_seam_is_in_time_under_every_scheme(scheme):
    # What the model wants after the prompt comes exactly when it wants it.
    tokenizer = get_tokenizer(scheme)
    whole = read_midi(PIANO)
    ids = tokenizer.encode(whole.score)
    pipeline = MusicPipeline(Reciter(ids, tokenizer.vocab_sizes), tokenizer)
    take = pipeline.continue_(PIANO, 4.0, seconds=6.1, seed=0)
    table, expected = note_table(read_midi(take.midi).score), note_table(whole.score)
    check_facts(take)
    assert take.prompt_notes == 16
    assert table.onset_s == pytest.approx(expected.onset_s, abs=0.01)
    assert table.end_s == pytest.approx(expected.end_s, abs=0.02)
    assert table.pitch.tolist() == expected.pitch.tolist()
    assert (take.repairs, take.warnings) == (0, ())
