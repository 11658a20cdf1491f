"""The stream on small models: lengths, the cut, guards, determinism, stepping back."""

import threading

import numpy as np
import pytest
import torch

from musicgen.engine import TorchEngine
from musicgen.errors import ConfigError, GenerationError
from musicgen.generation import (
    EventMade,
    Finished,
    LengthPlan,
    Prefilled,
    SamplingSettings,
    SteppedBack,
    stream_events,
)
from musicgen.midi import NoteTable
from musicgen.tokens import get_tokenizer
from small_models import small_config, small_decoder

TOKENIZER = get_tokenizer()
FIRST_GAP, FIRST_PITCH, FIRST_VALUE = 3, 4, 4


class Stubborn(torch.nn.Module):
    """A stand-in that always wants one event, whatever came before."""

    def __init__(self, event, eagerness=50.0):
        super().__init__()
        self.config = small_config()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.event, self.eagerness = event, eagerness

    def trunk(self, ids, *, cache):
        cache.advance(ids.shape[1])
        return torch.zeros(1, ids.shape[1], 32)

    def attribute_logits(self, hidden, k, previous):
        logits = torch.zeros(1, self.config.vocab_sizes[k])
        logits[0, self.event[k]] = self.eagerness
        return logits


DECODER = small_decoder()
ENGINE = TorchEngine(DECODER)


def run(decoder=DECODER, prompt=None, *, seed=0, seconds=10.0, start_s=0.0, early=False, **options):
    plan = LengthPlan(start_s=start_s, seconds=seconds, may_end_early=early)
    generator = torch.Generator().manual_seed(seed)
    engine = TorchEngine(decoder)
    events = stream_events(engine, TOKENIZER, prompt, plan=plan, generator=generator, **options)
    made = []
    for event in events:
        if isinstance(event, EventMade):
            assert event.index == len(made)
            made.append(event)
        elif isinstance(event, SteppedBack):
            del made[event.index :]
    assert isinstance(event, Finished)
    return made, event


def notes_of(made):
    return [m.played for m in made if m.played.pitch is not None]


def piece(n_notes, gap_s=0.25, length_s=0.2, start_s=0.0):
    onset = start_s + gap_s * np.arange(n_notes)
    pitch = 60 + np.arange(n_notes) % 12
    notes = NoteTable.of(onset, onset + length_s, pitch, np.full(n_notes, 64))
    return TOKENIZER.encode(notes, end=False)


def test_it_yields_its_kinds_in_order():
    events = list(
        stream_events(
            ENGINE,
            TOKENIZER,
            plan=LengthPlan(seconds=5.0),
            generator=torch.Generator().manual_seed(0),
        )
    )
    assert isinstance(events[0], Prefilled)
    assert isinstance(events[-1], Finished)
    assert all(isinstance(e, (EventMade, SteppedBack)) for e in events[1:-1])


def test_same_seed_same_events_and_other_seeds_others():
    first, again, other = (run(seed=seed)[0] for seed in (3, 3, 4))
    assert first == again
    assert [m.event for m in first] != [m.event for m in other]


def test_neither_the_global_generator_nor_grad_mode_is_touched():
    # A generator that held inference_mode across its yields would leak it to whoever consumes it.
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    for _ in stream_events(
        ENGINE,
        TOKENIZER,
        plan=LengthPlan(seconds=3.0),
        generator=torch.Generator().manual_seed(0),
    ):
        assert not torch.is_inference_mode_enabled()
        assert torch.is_grad_enabled()
    assert torch.equal(torch.random.get_rng_state(), before)


def test_listening_halfway_changes_nothing():
    whole, _ = run(seed=8, seconds=20.0)
    stream = stream_events(
        ENGINE,
        TOKENIZER,
        plan=LengthPlan(seconds=20.0),
        generator=torch.Generator().manual_seed(8),
    )
    part = [next(stream) for _ in range(6)]
    stream.close()
    assert part[1:] == whole[:5]


def test_threads_on_one_model_give_the_serial_result():
    serial = [run(seed=seed, seconds=15.0)[0] for seed in range(6)]
    results = {}
    threads = [
        threading.Thread(target=lambda s=s: results.update({s: run(seed=s, seconds=15.0)[0]}))
        for s in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[s] for s in range(6)] == serial


def test_no_note_comes_at_or_after_the_end_and_some_sound_up_to_it():
    # magenta: ends too early or cannot be told a length (7 threads)
    for seed in range(40):
        made, finished = run(seed=seed, seconds=6.0)
        notes = notes_of(made)
        assert finished.reason in ("length", "end")  # an end is taken in the last 4%
        assert notes
        assert max(n.onset_s for n in notes) < 6.0
        assert max(n.end_s for n in notes) >= 0.95 * 6.0


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.0])
def test_the_shortest_pieces_are_not_empty(seconds):
    # musicautobot #4: sometimes empty
    for seed in range(30):
        assert notes_of(run(seed=seed, seconds=seconds)[0])


def test_an_end_at_once_is_not_taken():
    # Perceiver-Music-Generation #3: very short pieces
    made, finished = run(Stubborn(TOKENIZER.end_event), seconds=5.0)
    assert finished.reason == "end"  # within the last 5%, where it is an ending
    assert max(n.end_s for n in notes_of(made)) >= 0.95 * 5.0


def test_the_model_may_end_when_it_is_let():
    made, finished = run(Stubborn(TOKENIZER.end_event, 20.0), seconds=60.0, early=True)
    notes = notes_of(made)
    assert finished.reason == "end"
    assert len(notes) >= 8
    assert max(n.end_s for n in notes) >= 3.0
    assert made[-1].played.is_end
    made, finished = run(Stubborn(TOKENIZER.end_event, 20.0), seconds=None)
    assert finished.reason == "end"


def test_the_new_music_begins_at_the_cut_and_not_before():
    for cut_s in (5.0, 5.07, 6.1, 19.0):  # the last onset is at 4.75: up to seven rests before
        made, _ = run(prompt=piece(20), start_s=cut_s, seconds=5.0)
        onsets = [n.onset_s for n in notes_of(made)]
        assert cut_s <= onsets[0] <= cut_s + 4.0
        assert onsets[-1] < cut_s + 5.0


def test_only_the_last_part_of_a_long_prompt_is_read():
    prompt = piece(100_000, gap_s=0.1)
    plan = LengthPlan(start_s=10_000.0, seconds=2.0)
    stream = stream_events(
        ENGINE, TOKENIZER, prompt, plan=plan, generator=torch.Generator().manual_seed(0)
    )
    first = next(stream)
    assert first.seen_events == 56
    onsets = [n.onset_s for n in notes_of([e for e in stream if isinstance(e, EventMade)])]
    assert onsets[0] >= 10_000.0


def test_far_past_the_window():
    # MuseMorphose #2: stuck when the length is raised
    made, finished = run(small_decoder(max_seq_len=16), seconds=200.0)
    assert len(made) > 10 * 16
    assert finished.reason == "length"


def test_a_key_is_never_struck_twice_at_one_instant():
    chord = (FIRST_GAP, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20)
    made, _ = run(Stubborn(chord, 8.0), seconds=2.0)
    struck = [(round(n.onset_s, 6), n.pitch) for n in notes_of(made)]
    assert len(set(struck)) == len(struck)
    at_once = np.unique([onset for onset, _ in struck], return_counts=True)[1]
    assert at_once.max() <= 32


@pytest.mark.parametrize("gap_s", [0.01, 0.04])
def test_a_key_is_not_struck_again_faster_than_a_piano_repeats(gap_s):
    """Guards the grit of doubled strokes: 12 of 1,000 notes in takes, 0.3 in real music."""
    again = (FIRST_GAP + round(gap_s * 100), FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20)
    made, _ = run(Stubborn(again, 8.0), seconds=4.0)
    onsets = sorted(n.onset_s for n in notes_of(made) if n.pitch == 60)
    assert len(onsets) > 10
    assert min(np.diff(onsets)) >= 0.05 - 1e-6


def test_a_key_that_the_prompt_holds_is_not_struck():
    event = (FIRST_GAP + 20, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20)
    made, _ = run(Stubborn(event, 15.0), piece(8), start_s=2.0, seconds=8.0, held_keys={60: 5.0})
    keys = [(n.pitch, n.onset_s) for n in notes_of(made)]
    assert all(onset >= 5.0 for pitch, onset in keys if pitch == 60)
    assert any(pitch == 60 for pitch, _ in keys)


def test_a_model_that_repeats_itself_is_noticed_and_ends_all_the_same():
    # Classical-Piano-Composer #51: one note for ever
    event = (FIRST_GAP + 20, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20)
    made, finished = run(Stubborn(event), seconds=30.0)
    notices = dict(finished.notices)
    assert finished.reason == "length"
    assert notices["loop"] == 15  # twelve, and one more for every ten seconds
    assert notices["loop-left"]
    assert max(n.end_s for n in notes_of(made)) >= 0.95 * 30.0


def test_stepping_back_leads_out_of_a_loop_that_is_not_inevitable():
    event = (FIRST_GAP + 20, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20)
    made, finished = run(
        Stubborn(event, 4.0), seconds=60.0, settings=SamplingSettings(temperature=0.3)
    )
    notices = dict(finished.notices)
    assert notices["loop"] >= 1
    assert "loop-left" not in notices
    keys = [n.pitch for n in notes_of(made)]
    runs = np.diff(np.flatnonzero(np.diff([-1, *keys, -1])))
    assert runs.max() < 24


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ((FIRST_GAP + 50, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 220), "stuck-note"),
        ((FIRST_GAP, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20), "crowd"),
    ],
)
def test_what_should_not_be_is_sampled_again_and_told(event, why):
    # A note that long is not even possible where less is left to be played.
    made, finished = run(
        Stubborn(event, 30.0), seconds=36.0 if why == "stuck-note" else 12.0, seed=2
    )
    notes = notes_of(made)
    assert dict(finished.notices)[why] >= 1
    latest_s = 0.0
    for note in notes:
        assert note.onset_s - latest_s <= 4.0 + 1e-6
        assert note.end_s - note.onset_s <= 20.0
        latest_s = max(latest_s, note.end_s)


def test_a_model_that_would_rest_for_ever_plays():
    """Guards takes that hold two pieces: a long silence is where the next one begins."""
    rest = (FIRST_GAP + 200, 3, 3, 3)
    made, finished = run(Stubborn(rest, 30.0), seconds=24.0, seed=2)
    latest_s = 0.0
    for note in notes_of(made):
        assert note.onset_s - latest_s <= 4.0 + 1e-6
        latest_s = max(latest_s, note.end_s)
    assert latest_s >= 0.95 * 24.0
    assert "silence" not in dict(finished.notices)


def test_a_weight_that_is_no_number_is_refused():
    broken = small_decoder()
    with torch.no_grad():
        next(broken.parameters())[5] = float("nan")
        broken.blocks[0].mlp.down.weight[0, 0] = float("nan")
    with pytest.raises(GenerationError, match="The model gave no numbers"):
        run(broken)


def test_settings_for_one_attribute_bind_that_one_alone():
    greedy = SamplingSettings(top_p=1.0, per_attribute={"velocity": {"temperature": 0.0}})
    event = (FIRST_GAP + 20, FIRST_PITCH + 60, FIRST_VALUE + 8, FIRST_VALUE + 20)
    made, _ = run(Stubborn(event, 2.0), seconds=20.0, settings=greedy)
    notes = [m.event for m in made if m.played.pitch is not None]
    assert {velocity for _, _, velocity, _ in notes} == {FIRST_VALUE + 8}
    assert len({pitch for _, pitch, _, _ in notes}) > 5


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), 1e6, "ten", True])
def test_a_length_out_of_range_is_a_sentence(seconds):
    with pytest.raises(ConfigError, match="seconds is"):
        LengthPlan(seconds=seconds)


def test_extreme_settings_run_through():
    # vllm #1623: temperature 0, 1e-6, 1e-4, 100; top_p 0, 1e-4, 1; top_k 0, 1, more than there are
    for settings in (
        {"temperature": 0.0},
        {"temperature": 1e-6},
        {"temperature": 1e-4},
        {"temperature": 100.0},
        {"top_p": 0.0},
        {"top_p": 1e-4},
        {"top_p": 1.0},
        {"top_k": 1},
        {"top_k": 10_000},
        {"min_p": 1.0},
    ):
        made, finished = run(seconds=4.0, settings=SamplingSettings(**settings))
        assert notes_of(made)
        assert finished.reason in ("length", "end")
