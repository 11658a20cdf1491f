"""Events of several takes that compiled code reads in one go: what each reads is what it would
read alone, bit for bit, whoever else is there and wherever each of them stands."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from musicgen.engine import TorchEngine
from musicgen.engine.layout import TOKENS
from musicgen.engine.numba_steps import NumbaEngine
from small_models import small_decoder

DECODER = small_decoder()
SIZES = DECODER.config.vocab_sizes
ENGINES = {as_int8: NumbaEngine(DECODER, as_int8=as_int8) for as_int8 in (True, False)}
as_int8_or_not = pytest.mark.parametrize("as_int8", [True, False])


def random_ids(n_events, seed=0):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, size, n_events) for size in SIZES]
    return [tuple(map(int, event)) for event in np.stack(columns, axis=1)]


def all_logits(steps, following):
    return [steps.logits(k, following[:k]).copy() for k in range(len(following))]


def alone(engine, take, n_steps):
    """Play events behind a prompt whose length depends on the take; return every score."""
    steps, ids = engine.begin(), random_ids(64, take)
    steps.prefill(ids[: 1 + 5 * take])
    scores = []
    for event in ids[1 + 5 * take :][:n_steps]:
        scores += all_logits(steps, event)
        steps.append(event)
    return scores


def equal(one, other):
    return len(one) == len(other) and all(map(np.array_equal, one, other))


@as_int8_or_not
@pytest.mark.parametrize("n_takes", [1, 2, 3, 4, 5, 8])
def test_takes_read_together_are_the_takes_alone_bit_for_bit(n_takes, as_int8):
    """Guards sums whose order depends on how many takes there are, and takes that hear others.

    Each begins elsewhere, takes 3 and 6 end early, and nobody waits for a prompt.
    """
    engine, n_steps = ENGINES[as_int8], 9
    ids = [random_ids(64, take) for take in range(n_takes)]
    takes = {take: engine.begin() for take in range(n_takes)}
    scores = {take: [] for take in takes}
    for take, steps in takes.items():
        steps.prefill(ids[take][: 1 + 5 * take])
    while takes:
        is_read = engine.read_together(list(takes.values()))
        for (take, steps), is_ready in zip(list(takes.items()), is_read, strict=True):
            made = len(scores[take]) // len(SIZES)
            if made == (4 if take in (3, 6) else n_steps):
                del takes[take]
            elif is_ready:
                event = ids[take][1 + 5 * take + made]
                scores[take] += all_logits(steps, event)
                steps.append(event)
    for take, found in scores.items():
        assert equal(found, alone(engine, take, 4 if take in (3, 6) else n_steps))


@as_int8_or_not
def test_a_prompt_read_in_any_pieces_is_the_same_prompt(as_int8):
    """Guards float32 sums made otherwise in blocks of four events than in single ones."""
    engine, ids = ENGINES[as_int8], random_ids(50)
    expected = None
    for n_others in (0, 1, 6, TOKENS - 1):
        steps, others = engine.begin(), [engine.begin() for _ in range(n_others)]
        steps.prefill(ids[:49])
        while steps.unread:
            for other in others:
                other.append(ids[0])
            engine.read_together([*others, steps])
        found = all_logits(steps, ids[49])
        assert expected is None or equal(found, expected)
        expected = found


def test_float32_read_together_gives_torchs_scores():
    engine, n_takes = ENGINES[False], 5
    ids = [random_ids(60, take) for take in range(n_takes)]
    takes, theirs = ([e.begin() for _ in ids] for e in (engine, TorchEngine(DECODER)))
    for each in (takes, theirs):
        for take, steps in enumerate(each):
            steps.prefill(ids[take][: 1 + 7 * take])
    for i in range(20):
        while not all(engine.read_together(takes)):
            pass
        for take, (mine, reference) in enumerate(zip(takes, theirs, strict=True)):
            event = ids[take][1 + 7 * take + i]
            pairs = zip(all_logits(mine, event), all_logits(reference, event), strict=True)
            assert max(float(np.abs(a - b).max()) for a, b in pairs) < 1e-4
            mine.append(event)
            reference.append(event)


def test_nobody_waits_for_a_long_prompt():
    """Guards takes that stand still while another one reads a whole window."""
    engine = ENGINES[True]
    slow, quick = engine.begin(), [engine.begin() for _ in range(3)]
    slow.prefill(random_ids(60))
    n_rounds = 0
    while slow.unread:
        for steps in quick:
            steps.append((0,) * len(SIZES))
        assert engine.read_together([slow, *quick])[1:] == [True] * 3
        n_rounds += 1
    assert n_rounds == -(-60 // (TOKENS - 3))


def test_more_takes_than_are_read_in_one_go_are_all_read():
    engine = ENGINES[True]
    takes = [engine.begin() for _ in range(2 * TOKENS + 1)]
    for take, steps in enumerate(takes):
        steps.append(random_ids(1, take)[0])
    assert engine.read_together(takes) == [True] * len(takes)
    for take in (0, TOKENS, 2 * TOKENS):
        fresh = engine.begin()
        fresh.append(random_ids(1, take)[0])
        following = (0,) * len(SIZES)
        assert equal(all_logits(takes[take], following), all_logits(fresh, following))


def test_what_was_not_read_yet_can_be_taken_back():
    """Guards an event that is read although the take has stepped back before it."""
    engine, ids = ENGINES[True], random_ids(12)
    steps, straight = engine.begin(), engine.begin()
    steps.prefill(ids[:6])
    assert steps.length == 6
    steps.truncate(4)
    with pytest.raises(ValueError, match="no event was read"):
        steps.logits(0, ())
    steps.append(ids[9])
    engine.read_together([steps])
    steps.append(ids[10])
    steps.truncate(5)
    steps.append(ids[11])
    straight.prefill([*ids[:4], ids[9], ids[11]])
    assert steps.length == straight.length == 6
    assert equal(all_logits(steps, ids[0]), all_logits(straight, ids[0]))


def test_a_wrong_event_is_refused_before_it_waits():
    """Guards an error in whichever take reads first, and memory that is not the model's."""
    steps = ENGINES[True].begin()
    for event in ((0, 0, 0, SIZES[3]), (-1, 0, 0, 0), (0, 0, 0)):
        with pytest.raises(ValueError, match="id"):
            steps.append(event)
        with pytest.raises(ValueError, match="id"):
            steps.prefill([(0, 0, 0, 0), event])
    assert steps.length == 0


def test_a_damaged_model_is_refused_in_every_take():
    decoder = small_decoder()
    with torch.no_grad():
        decoder.get_parameter("blocks.1.mlp.down.weight")[3] = float("nan")
    engine = NumbaEngine(decoder, as_int8=True)
    takes = [engine.begin() for _ in range(5)]
    for steps in takes:
        steps.append((3, 3, 3, 3))
    engine.read_together(takes)
    assert all(np.isnan(steps.logits(0, ())).any() for steps in takes)


def test_where_nothing_waits_nothing_is_read_together():
    takes = [TorchEngine(DECODER).begin() for _ in range(3)]
    assert TorchEngine(DECODER).read_together(takes) == [True] * 3
