"""Memory that runs out in a run: half the windows at once, the same batch, the same losses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from musicgen.errors import OutOfMemoryError
from musicgen.training import Finished, MemoryStepDown, StepDone, step, train
from musicgen.training.step import make_loss
from runs import RECIPE


def weights(run: Path) -> bytes:
    folder = sorted((run / "checkpoints").iterdir())[-1]
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture
def holds(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the machine hold so many events of a step, and no more."""

    def small(n_events: int) -> None:
        def made(*args):
            losses = make_loss(*args)

            def limited(ids: torch.Tensor) -> torch.Tensor:
                if ids.shape[0] * (ids.shape[1] - 1) > n_events:
                    raise torch.OutOfMemoryError("CUDA out of memory.")
                return losses(ids)

            return limited

        monkeypatch.setattr(step, "make_loss", made)

    return small


def test_a_run_steps_down_once_and_resumes_as_it_was(
    music: Path, tmp_path: Path, holds: Callable[[int], None]
) -> None:
    """Guards a resume that forgets the smaller parts, and so ends with other bytes."""
    whole = replace(RECIPE, batch_size=4, steps=10, restart_steps=(), restart_learning_rates=())
    parted = replace(whole, micro_batch_size=1)
    list(train(music, tmp_path / "parted", parted, device="cpu"))
    holds(32)
    run, events = tmp_path / "run", []
    first = train(music, run, whole, device="cpu")
    for event in first:
        events.append(event)
        if isinstance(event, StepDone) and event.step == 5:
            break
    first.close()
    told = [event for event in events if isinstance(event, MemoryStepDown)]
    assert [(e.step, e.windows_at_once, e.batch_size) for e in told] == [(0, 2, 4), (0, 1, 4)]
    rest = list(train(music, run, None, device="cpu", resume=True))
    assert not any(isinstance(event, MemoryStepDown) for event in rest)
    assert isinstance(rest[-1], Finished)
    assert weights(run) == weights(tmp_path / "parted")


def test_a_window_that_does_not_fit_ends_the_run(
    music: Path, tmp_path: Path, holds: Callable[[int], None]
) -> None:
    holds(10)
    with pytest.raises(OutOfMemoryError, match="one window of 32 events"):
        list(train(music, tmp_path / "run", RECIPE, device="cpu"))


LIMITED = """
import json, resource, sys
from musicgen.configio import from_mapping
from musicgen.training import MemoryStepDown, Planned, StepDone, TrainingRecipe, train
recipe = from_mapping(TrainingRecipe, json.loads(sys.argv[3]))
for event in train(sys.argv[1], sys.argv[2], recipe, device="cpu"):
    if isinstance(event, Planned):
        in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + 160 * 2**20, resource.RLIM_INFINITY))
    elif isinstance(event, MemoryStepDown):
        print("down", event.windows_at_once)
    elif isinstance(event, StepDone):
        print("loss", event.loss)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's own")
def test_real_memory_that_runs_out_on_a_cpu(music: Path, tmp_path: Path) -> None:
    """Guards the words by which torch's CPU allocator says so: some 250 MB wanted, 160 there."""
    from musicgen.configio import to_mapping

    recipe = replace(
        RECIPE,
        d_model=64,
        n_layers=2,
        seq_len=512,
        early_seq_len=None,
        batch_size=16,
        steps=1,
        validation_windows=1,
        compile=False,
        restart_steps=(),
        restart_learning_rates=(),
    )
    settings = json.dumps({k: v for k, v in to_mapping(recipe).items() if v is not None})
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(music), str(tmp_path / "limited"), settings],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    *downs, last = [line.split() for line in done.stdout.splitlines()]
    assert downs[0] == ["down", "8"]
    unlimited = list(train(music, tmp_path / "unlimited", recipe, device="cpu"))
    expected = next(event.loss for event in unlimited if isinstance(event, StepDone))
    assert float(last[1]) == pytest.approx(expected, rel=1e-5)
