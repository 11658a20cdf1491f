"""Several processes train what one trains: same losses, one writer, one sentence when one fails.

Two processes sum the same gradients in another order, so losses agree to float32's rounding and
what it grows to in a dozen steps: a millionth at the first, a ten-thousandth is asked for.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from musicgen.training import StepDone, train
from ranks import ended, free_port, start_ranks
from runs import RECIPE

ROUNDING = 1e-4
SHARED = replace(RECIPE, batch_size=4, steps=12, restart_steps=(8,), restart_learning_rates=(1e-3,))


def told(run: Path, key: str) -> list[float]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line[key] for line in lines if key in line]


def steps_told(run: Path) -> list[int]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line["step"] for line in lines if "loss" in line]


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("config") / "shared.toml"
    lines = [
        f"{name} = {json.dumps(value)}"
        for name in type(SHARED).__dataclass_fields__
        if (value := getattr(SHARED, name)) is not None
    ]
    file.write_text("\n".join(lines))
    return file


@pytest.fixture(scope="session")
def alone(music: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "alone"
    list(train(music, run, SHARED, device="cpu"))
    return run


def test_two_processes_under_torchrun_give_the_losses_of_one(
    music: Path, alone: Path, config: Path, tmp_path: Path
) -> None:
    """Guards the shares of a step: windows read twice or never, means of means, two writers."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command = [*launcher, "--master-port", str(free_port()), "-m", "musicgen", "train", str(music)]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "run"), "--config", str(config), "--json"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1, "one process speaks"
    assert json.loads(done.stdout)["steps"] == 12
    assert "2 processes train together, 2 windows of every step each" in done.stderr
    assert done.stderr.count("bits a note, kept") == 2
    assert steps_told(tmp_path / "run") == list(range(1, 13))
    for key in ("loss", "gradient_norm", "learning_rate", "validation_loss"):
        assert told(tmp_path / "run", key) == pytest.approx(told(alone, key), rel=ROUNDING)


@pytest.mark.long  # five interpreters; two processes against one are held above
def test_a_run_of_one_process_is_resumed_by_three(
    music: Path, alone: Path, config: Path, tmp_path: Path
) -> None:
    """Guards weights and optimizer states that the others never got; three share 4 unevenly."""
    run = tmp_path / "run"
    uneven = ended(start_ranks(3, ["train", music, "-o", run, "--config", config]))
    assert [code for code, _, _ in uneven] == [1, 1, 1]
    assert "batch_size 4 cannot be shared out evenly to 3 processes" in uneven[0][2]
    assert [(out, err) for _, out, err in uneven[1:]] == [("", "")] * 2
    begun = train(music, run, SHARED, device="cpu")
    next(event for event in begun if isinstance(event, StepDone) and event.step == 5)
    begun.close()
    first, second = ended(start_ranks(2, ["train", music, "-o", run, "--resume"]))
    assert (first[0], second[0]) == (0, 0), first[2] + second[2]
    assert "12 steps, 5 of them done" in first[2]
    assert second[1:] == ("", ""), "one process speaks"
    assert steps_told(run) == list(range(1, 13))
    assert told(run, "loss") == pytest.approx(told(alone, "loss"), rel=ROUNDING)


FAILS = """
if RANK == 1:
    import itertools
    import musicgen.training.step as step
    from musicgen.errors import TrainingError
    calls, whole = itertools.count(), step.add_gradients
    def failing(*args, **kwargs):
        if next(calls) == 3:
            raise TrainingError("This compiler is broken.", hint="Mend it.")
        return whole(*args, **kwargs)
    step.add_gradients = failing
"""


def test_what_fails_in_one_process_is_one_sentence(
    music: Path, config: Path, tmp_path: Path
) -> None:
    """Guards processes that wait for ever for one that is gone, and errors told once a process."""
    args = ["train", music, "-o", tmp_path / "run", "--config", config, "--json"]
    first, second = ended(start_ranks(2, args, before=FAILS))
    assert (first[0], second[0]) == (1, 1)
    assert json.loads(first[1])["error"]["message"] == (
        "Process 1 of the run failed: This compiler is broken."
    )
    assert "Mend it." in first[2]
    assert "Traceback" not in first[2]
    assert second[1:] == ("", "")


NO_MEMORY = """
if RANK == 1:
    import torch
    import musicgen.training.step as step
    def losses_of(make):
        def made(*args):
            losses = make(*args)
            def small(ids):
                if ids.shape[0] * (ids.shape[1] - 1) > 32:
                    raise torch.OutOfMemoryError("a device that holds one window")
                return losses(ids)
            return small
        return made
    step.make_loss = losses_of(step.make_loss)
"""


def test_where_memory_ends_in_one_process_all_step_down(
    music: Path, alone: Path, config: Path, tmp_path: Path
) -> None:
    """Guards processes that part: one takes a step again while the others are at the next."""
    run = tmp_path / "run"
    args = ["train", music, "-o", run, "--config", config]
    first, second = ended(start_ranks(2, args, before=NO_MEMORY))
    assert (first[0], second[0]) == (0, 0), first[2] + second[2]
    assert "Step 1 did not fit into memory" in first[2]
    assert told(run, "loss") == pytest.approx(told(alone, "loss"), rel=ROUNDING)
    [kept] = (run / "checkpoints").iterdir()
    assert json.loads((kept / "state.json").read_text())["windows_at_once"] == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c_in_one_process_ends_all_and_keeps_what_was_learned(
    music: Path, tmp_path: Path, config: Path
) -> None:
    """Guards a run whose processes wait for the interrupted one, or stop at different steps."""
    run = tmp_path / "run"
    longer = tmp_path / "longer.toml"
    lines = config.read_text().replace("steps = 12", "steps = 5000\ncompile = false")
    longer.write_text(lines.replace("checkpoint_minutes = 3.0", "checkpoint_minutes = 1000.0"))
    ranks = start_ranks(2, ["train", music, "-o", run, "--config", longer])
    metrics, until = run / "metrics.jsonl", time.monotonic() + 300
    while time.monotonic() < until and not (metrics.is_file() and metrics.stat().st_size > 2000):
        assert ranks[0].poll() is None, ranks[0].communicate()
        time.sleep(0.1)
    ranks[1].send_signal(signal.SIGINT)
    first, second = ended(ranks)
    assert (first[0], second[0]) == (130, 130), first[2] + second[2]
    assert "Go on with" in first[2]
    assert second[1:] == ("", "")
    [kept] = (run / "checkpoints").iterdir()
    assert int(kept.name[-9:]) == steps_told(run)[-1]
    resumed = train(music, run, None, device="cpu", resume=True)
    step = next(event for event in resumed if isinstance(event, StepDone))
    assert step.step == steps_told(run)[-1]
    resumed.close()
