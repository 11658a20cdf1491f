"""The gradient in parts, memory that runs out, and the shares of several processes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from musicgen.corpus import Piece
from musicgen.errors import ConfigError, NonFiniteLossError, OutOfMemoryError
from musicgen.model import KVCache
from musicgen.tokens import get_tokenizer
from musicgen.training import TrainingRecipe, step
from musicgen.training.augmentation import Augmentation
from musicgen.training.batches import Batch, Batches
from musicgen.training.curriculum import curriculum_of
from musicgen.training.joining import place_in
from musicgen.training.memory import is_out_of_memory
from musicgen.training.optim import make_optimizers
from musicgen.training.sharing import check_share
from musicgen.training.step import Stepper, make_loss
from musicgen.training.windows import Share
from small_models import small_decoder

CPU = torch.device("cpu")
RECIPE = TrainingRecipe(
    seq_len=16, early_seq_len=8, batch_size=6, precision="float32", compile=False, seed=3
)


def events(n: int = 400) -> np.ndarray:
    sizes = get_tokenizer().vocab_sizes
    random = np.random.default_rng(0)
    # Ids above those that mean something else than a number.
    return np.stack([random.integers(8, size - 8, n) for size in sizes], axis=1)


def batches(**settings: Any) -> Batches:
    recipe = replace(RECIPE, **settings.pop("recipe", {}))
    piece = Piece(
        path="a.mid", split="train", start=0, n_events=400, n_notes=398, seconds=9.0, digest=""
    )
    return Batches(
        curriculum=curriculum_of(recipe, events(), [piece]),
        augmentation=Augmentation.of(recipe, get_tokenizer()),
        steps=10,
        **settings,
    )


def stepper(decoder: torch.nn.Module, **settings: Any) -> Stepper:
    recipe = replace(RECIPE, **settings.pop("recipe", {}))
    return Stepper(decoder, make_optimizers(decoder, recipe), recipe, CPU, **settings)


def gradients_of(decoder: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in decoder.parameters() if p.grad is not None])


@pytest.mark.parametrize("n_processes", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("number", [0, 9])  # of short windows, and of whole ones
def test_the_shares_are_the_batch(n_processes: int, number: int):
    """Guards windows that two processes read, or none, or that are varied in another way."""
    varied = {"augment_semitones": 3, "augment_velocity": 8}
    whole = batches(recipe=varied).of(number)
    shares = [
        batches(recipe=varied, share=Share(index=index, of=n_processes)).of(number)
        for index in range(n_processes)
    ]
    assert (np.concatenate([share.ids for share in shares]) == whole.ids).all()
    assert {share.n_events for share in shares} == {whole.n_events} == {96}


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_only_gradients_above_the_norm_are_clipped(optimizer: str):
    """Guards a step that clips nothing or scales gradients up, and an optimizer left out."""
    kept, clipped = small_decoder().train(), small_decoder().train()
    recipe = {"clip_norm": 1e6, "optimizer": optimizer}
    taking = stepper(kept, recipe=recipe)
    taken = taking.take(batches().of(9), rate=0.0, turn=0)
    assert taken
    norm = taken.gradient_norm
    assert gradients_of(kept).norm().item() == pytest.approx(norm, rel=1e-5)
    clipping = stepper(clipped, recipe={**recipe, "clip_norm": norm / 4})
    again = clipping.take(batches().of(9), rate=0.0, turn=0)
    assert again
    assert again.gradient_norm == norm
    means, fourths = taking._optimizers.tensors(kept), clipping._optimizers.tensors(clipped)
    held = [name for name in means if name.endswith((":momentum", ":exp_avg"))]
    assert len(held) == len(list(kept.parameters()))
    for name in held:
        torch.testing.assert_close(fourths[name], means[name] / 4)


@pytest.mark.parametrize("windows_at_once", [1, 2, 4, 6, 99])
def test_parts_give_the_gradient_of_the_whole(windows_at_once: int):
    """Guards means of means: 6 windows in parts of 4 and 2 weighed alike."""
    whole, parted = small_decoder().train(), small_decoder().train()
    batch = batches().of(9)
    taken = stepper(whole).take(batch, rate=0.0, turn=0)
    in_parts = stepper(parted, windows_at_once=windows_at_once).take(batch, rate=0.0, turn=0)
    assert taken
    assert in_parts
    assert in_parts.loss == pytest.approx(taken.loss, rel=1e-6)
    torch.testing.assert_close(gradients_of(parted), gradients_of(whole), rtol=1e-4, atol=1e-6)


def test_one_part_is_the_whole_to_the_bit():
    """Guards the default: what is not parted must not change by a rounding."""
    whole, parted = small_decoder().train(), small_decoder().train()
    batch = batches().of(0)
    assert stepper(whole).take(batch, 1e-3, turn=0) == stepper(parted, windows_at_once=6).take(
        batch, 1e-3, turn=0
    )
    for left, right in zip(whole.parameters(), parted.parameters(), strict=True):
        assert torch.equal(left, right)


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A machine that holds 32 events; the list tells how many it was asked for."""
    asked: list[int] = []

    def made(*args: Any):
        losses = make_loss(*args)

        def small(ids: torch.Tensor) -> torch.Tensor:
            asked.append(ids.shape[0] * (ids.shape[1] - 1))
            if asked[-1] > 32:
                raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
            return losses(ids)

        return small

    monkeypatch.setattr(step, "make_loss", made)
    return asked


def test_a_step_that_does_not_fit_is_taken_again_in_halves(small_memory: list[int]):
    """Guards a gradient that counts the first part twice, and weights half a step further."""
    reference, decoder = small_decoder().train(), small_decoder().train()
    batch = batches().of(9)
    before = [parameter.clone() for parameter in decoder.parameters()]
    tried = stepper(decoder)
    assert tried.take(batch, 1e-3, turn=0) is None
    assert all(map(torch.equal, before, decoder.parameters()))
    assert tried.halve() == 3
    assert tried.take(batch, 1e-3, turn=0) is None
    assert tried.halve() == 1
    taken = tried.take(batch, 1e-3, turn=0)
    assert small_memory == [96, 48, *[16] * 6]
    expected = stepper(reference, windows_at_once=1).take(batch, 1e-3, turn=0)
    assert taken == expected
    assert all(map(torch.equal, reference.parameters(), decoder.parameters()))


def test_short_windows_are_halved_to_as_many_events(small_memory: list[int]):
    decoder = small_decoder().train()
    tried = stepper(decoder, windows_at_once=2)
    assert tried.take(batches().of(0), 1e-3, turn=0) is not None  # 12 windows of 8 events
    assert small_memory == [32, 32, 32]


def test_one_window_that_does_not_fit_is_a_sentence():
    tried = stepper(small_decoder(), windows_at_once=1)
    with pytest.raises(OutOfMemoryError, match="one window of 16 events") as caught:
        tried.halve()
    assert "recompute_activations" in caught.value.hint


def test_a_loss_in_parts_that_leaves_the_numbers_leaves_the_weights():
    decoder = small_decoder().train()
    with torch.no_grad():
        next(decoder.parameters()).fill_(float("inf"))
    before = [parameter.clone() for parameter in decoder.parameters()]
    with pytest.raises(NonFiniteLossError):
        stepper(decoder, windows_at_once=2).take(batches().of(9), 1e-3, turn=0)
    assert all(map(torch.equal, before, decoder.parameters()))


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried ..."),
        RuntimeError("std::bad_alloc"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling ..."),
    ],
)
def test_memory_runs_out_in_many_words(error: Exception):
    assert is_out_of_memory(error)


@pytest.mark.parametrize("error", [RuntimeError("shapes do not fit"), ValueError("std::bad_alloc")])
def test_other_errors_are_no_lack_of_memory(error: Exception):
    assert not is_out_of_memory(error)


def kept_bytes(decoder: torch.nn.Module, batch: Batch, **settings: Any) -> int:
    """Return what a forward pass keeps for the gradient, without the weights."""
    weights = {parameter.untyped_storage().data_ptr() for parameter in decoder.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        make_loss(decoder, replace(RECIPE, **settings), CPU)(torch.from_numpy(batch.ids))
    return sum(kept.values())


def test_recomputed_blocks_keep_less_and_change_no_bit():
    plain, recomputed = (small_decoder(n_layers=6).train() for _ in range(2))
    batch = batches().of(9)
    again = {"recompute_activations": True}
    assert stepper(recomputed, recipe=again).take(batch, 1e-3, turn=0) == stepper(plain).take(
        batch, 1e-3, turn=0
    )
    for left, right in zip(plain.parameters(), recomputed.parameters(), strict=True):
        assert torch.equal(left, right)
    assert kept_bytes(plain, batch, **again) < 0.7 * kept_bytes(plain, batch)


def test_blocks_that_fill_a_cache_are_not_recomputed():
    decoder = small_decoder()
    ids = torch.from_numpy(batches().of(9).ids[:1])
    with pytest.raises(ValueError, match="twice"):
        decoder.trunk(ids, cache=KVCache.allocate(decoder.config), recompute=True)


TORCHRUN = {
    "RANK": "3",
    "WORLD_SIZE": "8",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "a",
    "MASTER_PORT": "1",
}


def test_the_place_among_processes_is_what_torchrun_says():
    place = place_in(TORCHRUN)
    assert place is not None
    assert (place.rank, place.n_ranks, place.local_rank) == (3, 8, 1)


@pytest.mark.parametrize("change", [{"WORLD_SIZE": "1"}, {"MASTER_ADDR": None}, {"RANK": None}])
def test_a_process_alone_has_no_place(change: dict[str, str | None]):
    """Guards `WORLD_SIZE=1`, and a variable that some cluster sets for everybody."""
    environment = {k: v for k, v in {**TORCHRUN, **change}.items() if v is not None}
    assert place_in(environment) is None


def test_a_place_that_is_none_is_a_sentence():
    with pytest.raises(ConfigError, match="not numbers"):
        place_in({**TORCHRUN, "RANK": "first"})


def test_the_command_line_knows_the_writer_without_torch():
    from musicgen.cli.train import _is_writer

    for environment in (TORCHRUN, {**TORCHRUN, "RANK": "0"}, {}, {"RANK": "3"}):
        place = place_in(environment)
        assert _is_writer(environment) == (place is None or place.rank == 0)


def test_what_torchrun_starts_again_goes_on(tmp_path):
    """Guards `--max-restarts`: the second start found a run there, and was refused."""
    from musicgen.cli.train import _is_restarted

    again = {**TORCHRUN, "TORCHELASTIC_RESTART_COUNT": "1"}
    assert not _is_restarted(again, tmp_path)
    (tmp_path / "run.json").write_text("{}")
    assert _is_restarted(again, tmp_path)
    assert not _is_restarted({**again, "TORCHELASTIC_RESTART_COUNT": "0"}, tmp_path)
    assert not _is_restarted(TORCHRUN, tmp_path)


def test_a_batch_that_does_not_divide_is_refused():
    check_share(RECIPE, 3)
    with pytest.raises(ConfigError, match=r"batch_size 6 .* 4 processes") as caught:
        check_share(RECIPE, 4)
    assert "batch_size = 8" in caught.value.hint


def test_a_step_in_bf16_warns_of_nothing_and_norms_as_before(recwarn):
    """Guards: two lines of torch's on dtypes that differ, in whose terminal trains."""
    decoder = small_decoder()
    recipe = replace(RECIPE, precision="bf16")
    ids = torch.as_tensor(events(34)).view(2, 17, -1)
    make_loss(decoder, recipe, CPU)(ids).sum().backward()
    assert [str(warning.message) for warning in recwarn] == []
    norm = decoder.final_norm
    assert norm.weight.dtype == torch.float32
    with torch.no_grad():
        norm.weight.normal_(generator=torch.Generator().manual_seed(0))
    x = torch.randn(4, norm.weight.numel(), generator=torch.Generator().manual_seed(1))
    rounded = x.bfloat16()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = F.rms_norm(rounded, norm.normalized_shape, norm.weight, norm.eps)
    assert torch.equal(norm(rounded), before)
    assert torch.equal(norm(x), F.rms_norm(x, norm.normalized_shape, norm.weight, norm.eps))
