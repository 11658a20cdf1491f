"""Lanes against the reference: the same scores, whoever else plays, recorded or not."""

from __future__ import annotations

import gc
import random
import threading

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from musicgen.engine import TorchEngine, choice, make_engine
from musicgen.engine.graphs import captured
from musicgen.engine.lane_steps import LanesEngine
from musicgen.errors import ConfigError, GenerationError
from musicgen.generation.context import Context
from small_models import small_decoder

DECODER = small_decoder()
SIZES = DECODER.config.vocab_sizes


class Recorder(TorchDispatchMode):
    """Keeps every operation, and refuses to look at a number as a recording GPU does."""

    def __init__(self):
        super().__init__()
        self.operations = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._local_scalar_dense.default:
            raise RuntimeError("a number was looked at")
        result = func(*args, **(kwargs or {}))
        self.operations.append((func, args, kwargs or {}, result))
        return result


def recorded(call):
    """Do as a CUDA graph does: the operations of one call, again on the same tensors, no Python."""
    with Recorder() as recorder:
        result = call()

    def replay():
        for func, args, kwargs, kept in recorder.operations:
            again = func(*args, **kwargs)
            for old, new in zip(tree_leaves(kept), tree_leaves(again), strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)
        return result

    return replay


def lanes(decoder=DECODER, *, dtype=torch.float32, capture=None, n_lanes=8):
    return LanesEngine(decoder, dtype=dtype, capture=capture, n_lanes=n_lanes)


def random_ids(n_events, seed=0):
    generator = np.random.default_rng(seed)
    columns = [generator.integers(0, size, n_events) for size in SIZES]
    return [tuple(map(int, event)) for event in np.stack(columns, axis=1)]


def all_logits(steps, following):
    return [steps.logits(k, following[:k]).copy() for k in range(len(following))]


def walk(engine, seed, n_steps, *, prompt=30, backs=True):
    """Play random events with steps back and readings again; return every score."""
    steps = engine.begin()
    context, ids, mine = Context(steps), random_ids(n_steps, seed), random.Random(seed)
    context.extend(np.array(random_ids(prompt, seed + 100)))
    scores = []
    for event in ids:
        scores += all_logits(steps, event)
        context.append(event)
        if backs and mine.random() < 0.1:
            context.step_back(len(context) - mine.randrange(1, 6))
    return scores


def apart(one, other):
    return max(float(np.abs(a - b).max()) for a, b in zip(one, other, strict=True))


def equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_float32_gives_torchs_scores_past_a_prompt_and_after_steps_back():
    expected = walk(TorchEngine(DECODER), seed=1, n_steps=300)
    assert apart(walk(lanes(), seed=1, n_steps=300), expected) < 1e-4


def test_bf16_gives_nearly_torchs_scores():
    expected = walk(TorchEngine(DECODER), seed=2, n_steps=40)
    found = walk(lanes(dtype=torch.bfloat16), seed=2, n_steps=40)
    assert 0 < apart(found, expected) < 0.05 * max(float(np.abs(x).max()) for x in expected)


def test_recorded_operations_do_what_the_calls_do():
    """Guards Python that a graph would not do again: a position baked in, a tensor made anew."""
    assert equal(walk(lanes(capture=recorded), 3, 100), walk(lanes(), 3, 100))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_take_among_others_is_the_take_alone_bit_for_bit(dtype):
    """Guards against one take hearing another: through the cache, the state or the scores."""
    engine, found = lanes(dtype=dtype, n_lanes=5), {}
    threads = [
        threading.Thread(target=lambda i=i: found.__setitem__(i, walk(engine, i, 40, prompt=5 + i)))
        for i in range(7)  # more than there are lanes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(7):
        assert equal(found[i], walk(lanes(dtype=dtype, n_lanes=5), i, 40, prompt=5 + i))


def test_what_has_nothing_to_read_stays_as_it_is_to_the_bit():
    engine = lanes(n_lanes=2)
    still, busy = engine.begin(), engine.begin()
    still.prefill(random_ids(64))  # its window is full: where would it write?
    before = still._batch._static._cache._keys[:, 0, :, :64].clone()
    scores = all_logits(still, random_ids(1)[0])
    for event in random_ids(64, seed=5):
        busy.append(event)
        busy.logits(1, event[:1])
    assert torch.equal(still._batch._static._cache._keys[:, 0, :, :64], before)
    assert equal(all_logits(still, random_ids(1)[0]), scores)


def test_takes_that_stand_still_hold_nobody_up():
    """Guards a deadlock: a listener may read two streams by turns, or leave one where it is."""
    engine = lanes(n_lanes=3)
    one, other, third = engine.begin(), engine.begin(), engine.begin()
    for steps in (one, other, third):
        steps.append((0,) * len(SIZES))
    for event in random_ids(20):
        one.append(event)
        one.logits(1, event[:1])
        other.append(event)
    assert third.length == 1
    assert one.length == other.length == 21


def test_lanes_come_back_and_more_are_set_up_when_all_are_taken():
    engine = lanes(n_lanes=2)
    taken = [engine.begin() for _ in range(5)]
    assert len({(id(steps._batch), steps._lane) for steps in taken}) == 5
    batches = {id(steps._batch) for steps in taken}
    assert len(batches) == 3
    del taken
    gc.collect()
    again = [engine.begin() for _ in range(6)]
    assert {id(steps._batch) for steps in again} == batches
    # Few takes share one batch, whichever lanes came back first.
    order = [id(steps._batch) for steps in again]
    assert order == [batch for batch in dict.fromkeys(order) for _ in range(2)]
    # A lane that another take has left is as good as new.
    again[0].prefill(random_ids(40))
    expected = all_logits(again[0], (0,) * len(SIZES))
    del again
    fresh = lanes(n_lanes=2).begin()
    fresh.prefill(random_ids(40))
    assert equal(all_logits(fresh, (0,) * len(SIZES)), expected)


def test_what_would_stop_a_gpu_for_good_is_refused():
    steps = lanes(n_lanes=1).begin()
    with pytest.raises(ValueError, match="at least one event"):
        steps.prefill([])
    with pytest.raises(ValueError, match="no event was read"):
        steps.logits(0, ())
    for event in ((-1, 0, 0, 0), (0, SIZES[1], 0, 0), (0,)):
        with pytest.raises(ValueError, match="vocabularies"):
            steps.append(event)
    with pytest.raises(ValueError, match="do not fit"):
        steps.prefill(random_ids(65))
    steps.append((0, 0, 0, 0))
    with pytest.raises(ValueError, match="vocabularies"):
        steps.logits(1, (SIZES[0],))
    with pytest.raises(ValueError, match="cannot step back"):
        steps.truncate(2)
    assert steps.length == 1


def test_a_weight_that_is_no_number_is_refused():
    decoder = small_decoder()
    with torch.no_grad():
        decoder.get_parameter("blocks.1.mlp.down.weight")[3] = float("nan")
    steps = lanes(decoder, n_lanes=1).begin()
    steps.append((3, 3, 3, 3))
    with pytest.raises(GenerationError, match="no numbers"):
        steps.draw(steps.logits(0, ()), np.ones(SIZES[0], dtype=bool), Plain, 0.5)


class Plain:
    temperature, top_k, top_p, min_p = 1.0, 0, 0.95, 0.0


def test_where_nothing_can_be_recorded_it_computes_one_by_one_and_says_so():
    """Never a silent fallback. On a machine without CUDA the recording itself fails."""

    def fails(call):
        call()
        raise RuntimeError("operation not permitted\nand more lines")

    engine = lanes(capture=fails)
    assert engine.name == "lanes-float32"
    [sentence] = engine.warnings
    assert "RuntimeError: operation not permitted)" in sentence
    assert equal(walk(engine, 4, 20), walk(lanes(), 4, 20))
    if not torch.cuda.is_available():
        assert lanes(capture=captured).warnings
    assert lanes(capture=recorded).name == "lanes-float32-graph"
    assert lanes(capture=recorded).warnings == ()


def test_lanes_may_be_asked_for_on_a_cpu_and_compiled_code_not_on_a_gpu(monkeypatch):
    assert {name: make_engine(DECODER, name).name for name in ("lanes", "lanes-float32")} == {
        "lanes": "lanes-float32",
        "lanes-float32": "lanes-float32",
    }
    assert make_engine(DECODER, "lanes").takes_at_once == 8
    assert make_engine(DECODER, "numba").takes_at_once is None
    chosen = []

    def fast(decoder, name, device):
        chosen.append((name, device))
        raise OSError("no GPU")

    monkeypatch.setattr(choice, "_fast_engine", fast)

    class OnGpu:
        def parameters(self):
            return iter([self])

        device = torch.device("cuda")
        config = DECODER.config

    engine = make_engine(OnGpu())
    assert chosen == [("lanes", "cuda")]
    assert engine.name == "torch"
    assert "OSError: no GPU" in engine.warnings[0]
    with pytest.raises(ConfigError, match="on cuda"):
        make_engine(OnGpu(), "numba")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpus_graphs_give_torchs_scores():
    engine = LanesEngine(small_decoder().cuda(), dtype=torch.float32, capture=captured)
    assert (engine.name, engine.warnings) == ("lanes-float32-graph", ())
    expected = walk(TorchEngine(DECODER), seed=1, n_steps=300)
    assert apart(walk(engine, seed=1, n_steps=300), expected) < 1e-3
    assert make_engine(small_decoder().cuda()).warnings == ()
