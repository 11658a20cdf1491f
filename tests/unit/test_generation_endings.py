"""Endings chosen among several: where the model thinks an end most probable, and no note cut."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from musicgen.engine.filters import checked_logits, choose, filtered_probabilities
from musicgen.generation import (
    EventMade,
    Finished,
    LengthPlan,
    SteppedBack,
    fit_ending,
    stream_events,
)
from musicgen.generation.closure import ODDS, closure
from musicgen.generation.endings import (
    ANOTHER,
    N_ENDINGS,
    Mark,
    end_chance,
    make_with_chosen_ending,
)
from musicgen.pipeline.ingredients import Ingredients
from musicgen.pipeline.making import TakeStream
from musicgen.pipeline.recipe import Recipe
from musicgen.tokens import PlayedEvent, get_tokenizer

PIANO = get_tokenizer()


class Musing:
    """A stand-in for an engine: even notes, and an end the more probable the higher the last.

    Where it is staccato, it wants notes of 50 ms.
    """

    def __init__(self, tokenizer=PIANO, eagerness=0.3, highest=80, *, staccato=False):
        self.staccato = staccato
        self.name, self.warnings, self.takes_a_thread = "musing", (), 1
        self.tokenizer, self.eagerness, self.highest = tokenizer, eagerness, highest

    def begin(self):
        return MusingSteps(self)

    def first_logits(self, last):
        logits = np.full(PIANO.vocab_sizes[0], -30.0, dtype=np.float32)
        logits[3 + 10 : 3 + 60] = 0.0
        logits[2] = self.eagerness * (last[1] - 4 - self.highest)
        return logits


class MusingSteps:
    capacity = 100_000

    def __init__(self, engine):
        self.engine, self.events = engine, []

    @property
    def length(self):
        return len(self.events)

    def prefill(self, events):
        self.events += events

    def append(self, event):
        self.events.append(event)

    def truncate(self, length):
        del self.events[length:]

    def logits(self, k, previous):
        engine = self.engine
        logits = np.zeros(engine.tokenizer.vocab_sizes[k], dtype=np.float32)
        if engine.tokenizer.n_attributes == 1:
            return logits
        if k == 0:
            return engine.first_logits(self.events[-1])
        if k == 1:
            logits[:] = -30.0
            logits[4 + 40 : 4 + 81] = 0.0
        if k == 3 and engine.staccato:
            logits[4 + 4] = 30.0
        return logits

    def draw(self, logits, allowed, filters, uniform):
        return choose(filtered_probabilities(checked_logits(logits), allowed, filters), uniform)


def listen(engine=None, *, seed=0, tokenizer=PIANO, n_endings=N_ENDINGS, **plan):
    engine = engine or Musing(tokenizer)
    return stream_events(
        engine,
        tokenizer,
        plan=LengthPlan(**plan),
        generator=torch.Generator().manual_seed(seed),
        n_endings=n_endings,
    )


def played_out(events):
    """What remains of a stream, what there was after each of its events, and its last event."""
    made, states = [], []
    for event in events:
        if isinstance(event, EventMade):
            assert event.index == len(made)
            made.append(event)
        elif isinstance(event, SteppedBack):
            del made[event.index :]
        states.append((event, list(made)))
    assert isinstance(event, Finished)
    return made, states, event


def ids_of(made):
    return np.array([m.event for m in made])


def may_end(made, plan):
    """Whether these events meet the length by a release, told from their decoded notes."""
    if not made or made[-1].played.is_end:
        return False
    end_s = PIANO.decode_events(ids_of(made)).notes.end_s.max()
    return plan.reached(end_s) and end_s - made[-1].played.onset_s >= 0.25


@pytest.mark.parametrize("seed", range(3))
def test_it_ends_where_an_end_is_most_probable_by_model_and_chord(seed):
    engine, plan = Musing(), LengthPlan(seconds=20.0)
    made, states, finished = played_out(listen(engine, seed=seed, seconds=20.0))

    def chance(there):
        return end_chance(engine.first_logits(there[-1].event), PIANO.legal(0, ()), 2)

    def worth(there):
        return chance(there) * ODDS[closure([m.played for m in there])]

    fork = min(event.index for event, _ in states if isinstance(event, SteppedBack))
    worths = [
        worth(there)
        for event, there in states[:-1]
        if isinstance(event, EventMade) and not event.again and may_end(there, plan)
        if len(there) >= fork
    ]
    kept = made[:-1] if made[-1].played.is_end else made
    assert worth(kept) == pytest.approx(max(worths))
    assert finished.end_chance == pytest.approx(chance(kept))
    assert may_end(kept, plan)
    assert finished.reason == ("end" if made[-1].played.is_end else "length")
    assert dict(finished.notices).keys() <= {"stuck-note"}


def test_the_part_before_is_made_once_and_the_last_part_several_times():
    _, states, _ = played_out(listen(seed=1, seconds=20.0))
    back = [event for event, _ in states if isinstance(event, SteppedBack)]
    assert len([b for b in back if b.why == ANOTHER]) in (N_ENDINGS - 1, N_ENDINGS)
    plain, _, _ = played_out(listen(seed=1, seconds=20.0, n_endings=0))
    fork = min(b.index for b in back)
    assert plain[fork - 1].played.onset_s < 16.0 <= plain[fork].played.onset_s
    first = next(there for event, there in states if isinstance(event, SteppedBack))
    before = states[[there is first for _, there in states].index(True) - 1][1]
    assert before == plain


def test_a_seed_tells_the_take():
    first, again, other = (played_out(listen(seed=s, seconds=12.0)) for s in (3, 3, 4))
    assert first == again
    assert first[0] != other[0]


def test_an_end_that_the_model_sets_is_kept_as_such():
    made, _, finished = played_out(listen(Musing(eagerness=9.0, highest=60), seconds=20.0))
    assert finished.reason == "end"
    assert made[-1].played.is_end
    assert finished.end_chance > 0.99


@pytest.mark.parametrize(
    "plan",
    [{"seconds": 4.9}, {"seconds": 20.0, "may_end_early": True}, {"seconds": None}],
)
def test_without_a_length_to_meet_nothing_is_made_twice(plan):
    engine = Musing(eagerness=1.0, highest=78)  # ends by itself
    _, states, _ = played_out(listen(engine, **plan))
    assert not [e for e, _ in states if isinstance(e, SteppedBack) and e.why == ANOTHER]


def test_in_a_flat_scheme_nothing_is_made_twice():
    _, states, _ = played_out(listen(tokenizer=get_tokenizer("tsd"), seconds=5.0))
    assert not [e for e, _ in states if isinstance(e, SteppedBack) and e.why == ANOTHER]


@pytest.mark.parametrize("start_s", [0.0, 5.003])
@pytest.mark.parametrize("seconds", [0.1, 0.2, 1.0, 8.0])
def test_no_note_is_cut_to_meet_the_length(seconds, start_s):
    # Notes told to sound for 7 s were cut at 104% of the length: an end that nobody had meant.
    plan = LengthPlan(start_s=start_s, seconds=seconds)
    for seed in range(4):
        made, _, _ = played_out(listen(seed=seed, seconds=seconds, start_s=start_s))
        told = [m.played.end_s for m in made if m.played.pitch is not None]
        assert max(told) <= plan.latest_release_s + 1e-5
        notes = PIANO.decode_events(ids_of(made)).notes
        fitted, held = fit_ending(notes, plan, ring=True)
        assert not held
        assert fitted.end_s == pytest.approx(notes.end_s, abs=1e-5)


@pytest.mark.parametrize("n_endings", [0, N_ENDINGS])
def test_a_run_of_short_notes_ends_with_one_that_rings(n_endings):
    # Of dense takes no place was an ending: they broke off in the middle of a run.
    for seed in range(4):
        engine = Musing(staccato=True)
        made, _, _ = played_out(listen(engine, seed=seed, seconds=10.0, n_endings=n_endings))
        assert may_end([m for m in made if not m.played.is_end], LengthPlan(seconds=10.0))


def take_stream(seed, seconds=12.0):
    plan = LengthPlan(seconds=seconds)
    recipe = Recipe(
        model="musing", model_sha256="", engine="musing", device="cpu", seed=seed, seconds=seconds
    )
    ingredients = Ingredients(
        recipe=recipe, engine_warnings=(), tokenizer=PIANO, plan=plan, prompt=None
    )
    return TakeStream(ingredients, listen(seed=seed, seconds=seconds))


def test_whoever_stops_in_the_last_part_keeps_a_take():
    n_progress = sum(1 for _ in take_stream(2))
    for stop_after in range(5, n_progress):
        stream = take_stream(2)
        progress = [next(stream) for _ in range(stop_after)][-1]
        take = stream.finish()
        assert take.finish_reason == "stopped"
        assert take.notes == progress.notes > 0
        assert take.repairs == 0


def test_other_endings_are_no_repairs_and_no_events_of_the_take():
    take = list(take_stream(2))[-1]
    assert take.seconds == pytest.approx(12.0, rel=0.05)
    assert take.repairs == 0
    assert take.warnings == ()
    assert take.events == len(take.ids) - 1


@dataclass
class Scripted:
    """A stand-in for a take: (onset, chance), ("back", index) or ("over", chance)."""

    script: list
    made: int = 0
    reason: str = ""
    end_chance: float | None = None
    rings_s: float = 1.0
    notices: dict = field(default_factory=dict)
    heard: dict = field(default_factory=dict)

    def mark(self):
        return Mark(
            n_made=self.made,
            notices=tuple(self.notices.items()),
            steps_back_left=0,
            hot_until=0,
        )

    def played(self, n_made):
        return self.heard.get(n_made, [])

    def go_back(self, mark):
        self.made, self.reason, self.notices = mark.n_made, "", dict(mark.notices)

    def step(self):
        what, value = self.script.pop(0)
        self.end_chance = None if what == "back" else value
        if what == "back":
            self.made = value
            self.notices["loop"] = 1 + self.notices.get("loop", 0)
            return SteppedBack(index=value, why="loop")
        if what == "over":
            self.reason = "length"
            return None
        self.made += 1
        played = PlayedEvent(onset_s=what, end_s=what + 1, pitch=60, velocity=64)
        return EventMade(index=self.made - 1, event=(self.made,) * 4, played=played, clock_s=0.0)


def ended(*script, n_endings):
    take = Scripted(list(script))
    events = make_with_chosen_ending(take, LengthPlan(seconds=10.0), n_endings=n_endings)
    made, _, finished = played_out(events)
    return [m.played.onset_s for m in made], finished


def chords(*pitches):
    """A chord a second, each two seconds long."""
    return [
        PlayedEvent(onset_s=float(at), end_s=at + 1.0, pitch=pitch, velocity=64)
        for at, chord in enumerate(pitches)
        for pitch in chord
    ]


IN_C = ((60, 64, 67), (53, 57, 60), (60, 64, 67), (55, 59, 62), (60, 64, 67), (53, 57, 60))


@pytest.mark.parametrize(
    ("last", "signs"),
    [
        ((48, 64, 67, 72), 2),  # the tonic's own chord
        ((48, 55), 2),  # a part of it
        ((36, 48, 60), 2),  # the tonic alone
        ((52, 60, 67), 1),  # the chord, with its third below
        ((48, 53, 57), 1),  # the tonic below another chord
        ((55, 59, 62, 65), 0),  # a seventh that wants to go on
        ((54, 61, 66), 0),
    ],
)
@pytest.mark.parametrize("up", [0, 5])
def test_a_close_is_the_tonic_below_and_its_triad(last, signs, up):
    """Guards pieces that stop on any chord, as they did in 89 of 100 takes."""
    moved = [[pitch + up for pitch in chord] for chord in (*IN_C, *IN_C, last)]
    assert closure(chords(*moved)) == signs


def test_what_no_longer_sounds_is_no_close():
    """Guards a key struck again: its first note would ring on, were it not for the second."""
    held = PlayedEvent(onset_s=0.0, end_s=30.0, pitch=54, velocity=64)
    again = PlayedEvent(onset_s=1.0, end_s=1.5, pitch=54, velocity=64)
    music = [held, again, *chords(*IN_C, *IN_C, (48, 64, 67))]
    assert closure(music) == 2
    assert closure([]) == 0
    assert closure([PlayedEvent(onset_s=0.0)]) == 0


def test_of_two_endings_the_one_that_closes_is_kept_though_the_model_likes_the_other():
    take = Scripted([(7.0, None), (8.5, None), (9.0, 0.3), (9.2, 0.2), ("over", 0.01)])
    take.heard = {2: chords(*IN_C, (54, 61)), 3: chords(*IN_C, (48, 55))}
    events = make_with_chosen_ending(take, LengthPlan(seconds=10.0), n_endings=1)
    made, _, finished = played_out(events)
    assert finished.end_chance == 0.2
    assert len(made) == 3


def test_what_a_loop_withdrew_is_no_ending():
    onsets, finished = ended(
        *[(7.0, None), (8.5, None), (9.0, 0.2), (9.1, 0.9), ("back", 2), (9.3, 0.1), ("over", 0.3)],
        n_endings=1,
    )
    assert onsets == [7.0, 8.5, 9.3]
    assert finished.end_chance == 0.3
    assert finished.notices == (("loop", 1),)


def test_a_loop_that_reaches_back_before_the_last_part_begins_the_search_anew():
    onsets, finished = ended(
        *[(7.0, None), (7.5, None), (8.5, None), (9.0, 0.9), ("over", 0.1)],
        *[(8.6, None), ("back", 1), (7.7, None), (8.8, None), (9.2, 0.2), ("over", 0.1)],
        n_endings=2,
    )
    assert onsets == [7.0, 7.7, 8.8]
    assert finished.end_chance == 0.2


def test_what_was_noticed_in_an_ending_that_is_not_kept_is_not_told():
    onsets, finished = ended(
        *[(7.0, None), (8.5, None), (9.0, 0.6), ("over", 0.1)],
        *[(8.5, None), ("back", 1), (9.4, None), ("over", 0.2)],
        n_endings=2,
    )
    assert onsets == [7.0, 8.5]
    assert finished.notices == ()
    assert finished.reason == "length"
