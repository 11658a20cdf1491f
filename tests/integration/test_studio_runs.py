"""Runs that the app begins: in a process of their own, found again, stopped, gone on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from musicgen.assets import asset_dir
from musicgen.errors import TrainingError
from musicgen.studio import trainer
from musicgen.studio.desk import TrainingDesk
from musicgen.studio.models import trained_models
from musicgen.studio.orders import TrainingOrder
from musicgen.studio.runs import Runs, RunView
from musicgen.training import Finished, Gain, Planned, StepDone
from musicgen.training.augmentation import told_readings
from musicgen.training.events import TrainingEvent
from musicgen.training.preparing import begins_with
from runs import RECIPE

PATIENCE_S = 120.0
NONE = "20260101-000000-" + 32 * "0"
LONG = replace(RECIPE, steps=100_000, compile=False)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return Runs(tmp_path / "runs")


@pytest.fixture
def music(runs: Runs) -> Path:
    files = sorted((asset_dir("data") / "starter").glob("*.mid"))[:4]
    return lay(runs, [(file.name, file.read_bytes()) for file in files])


def lay(runs: Runs, files: list[tuple[str, bytes]]) -> Path:
    return runs.trays.add("a visitor", files).music


def order(music: Path, recipe=RECIPE) -> TrainingOrder:
    return TrainingOrder(title="four pieces", music=str(music), recipe=recipe, begun_s=0.0)


def until(runs: Runs, name: str, is_so: Callable[[RunView], bool]) -> RunView:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        view = runs.view(name)
        assert view is not None
        if is_so(view):
            return view
        if view.status.state == "failed":
            log = TrainingDesk(folder=Path(view.order.music).parent).log
            pytest.fail(f"{view.status.error} {log.read_text(encoding='utf-8')[-3000:]}")
        time.sleep(0.05)
    pytest.fail(f"still {runs.view(name)}")


def test_a_run_is_trained_and_found_again(runs: Runs, music: Path, tmp_path: Path) -> None:
    begun = runs.start(order(music))
    assert begun.is_active
    with pytest.raises(TrainingError, match="four pieces is being trained"):
        runs.start(order(music))
    view = until(runs, begun.name, lambda view: not view.is_active)
    assert (view.status.state, view.status.error) == ("finished", "")
    assert view.status.step == view.status.steps == RECIPE.steps
    assert view.model is not None
    # Guards options of the command line on a page that has none.
    assert "little to learn music from" in view.status.notice
    assert "--" not in view.status.notice
    curve = runs.curve(begun.name)
    assert curve is not None
    assert curve.steps[-1] == RECIPE.steps
    assert curve.validated[-1] == RECIPE.steps
    assert [model.folder for model in trained_models(tmp_path / "runs")] == [view.model]
    # Another app, begun later, finds the same run: all that is known stands in files.
    assert Runs(tmp_path / "runs").all() == (view,)
    runs.remove(begun.name)
    assert runs.all() == ()


def test_a_stopped_run_goes_on(runs: Runs, music: Path) -> None:
    """Guards work lost at a stop, and a second order to stop that is left over from the first."""
    begun = runs.start(order(music, LONG))
    until(runs, begun.name, lambda view: view.status.step > 2)
    runs.stop(begun.name)
    stopped = until(runs, begun.name, lambda view: not view.is_active)
    assert stopped.status.state == "stopped"
    runs.go_on(begun.name)
    view = until(runs, begun.name, lambda view: view.status.step > stopped.status.step + 2)
    assert view.status.state == "training"
    runs.stop(begun.name)
    until(runs, begun.name, lambda view: view.status.state == "stopped")


def test_a_stop_before_the_first_step(runs: Runs, music: Path) -> None:
    """Guards a button that does nothing while steps are tried out for a minute."""
    begun = runs.start(order(music, replace(RECIPE, steps=None, minutes=60.0)))
    until(runs, begun.name, lambda view: view.status.state == "measuring")
    runs.stop(begun.name)
    before = time.monotonic()
    view = until(runs, begun.name, lambda view: not view.is_active)
    assert view.status.state == "stopped"
    assert time.monotonic() - before < 10
    runs.remove(begun.name)
    assert not music.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are asked for as POSIX has them")
def test_a_killed_process_is_told_from_one_at_work(runs: Runs, music: Path) -> None:
    begun = runs.start(order(music, replace(LONG, checkpoint_minutes=0.0)))
    until(runs, begun.name, lambda view: view.status.step > 2)
    folder = music.parent
    found = subprocess.run(
        ["pgrep", "-f", f"musicgen.studio.trainer {folder}"], capture_output=True, check=True
    )
    for number in found.stdout.split():
        os.kill(int(number), signal.SIGKILL)
    lost = until(runs, begun.name, lambda view: not view.is_active)
    assert lost.status.state == "lost"
    runs.go_on(begun.name)
    view = until(runs, begun.name, lambda view: view.status.step > lost.status.step + 2)
    assert view.status.state == "training"
    runs.stop(begun.name)
    until(runs, begun.name, lambda view: not view.is_active)


def test_a_failure_is_a_sentence(runs: Runs) -> None:
    empty = lay(runs, [("not music.mid", b"<html>")])
    begun = runs.start(order(empty))
    view = until(runs, begun.name, lambda view: not view.is_active)
    assert view.status.state == "failed"
    assert view.status.error
    assert view.model is None


def test_names_from_outside_lead_nowhere(runs: Runs, tmp_path: Path) -> None:
    names = (
        "../../up.mid",
        "../../up.mid",
        "C:\\x\\y.MID",
        "a/b/c",
        "",
        ".mid",
        "\x00<b>.mid",
        "ü" * 300 + ".mid",
    )
    folder = lay(runs, [(name, b"MThd") for name in names])
    laid = sorted(path.name for path in folder.iterdir())
    assert len(laid) == len(names)
    assert sorted(tmp_path.rglob("*.mid")) == sorted(folder.glob("*.mid"))
    assert all("<" not in name for name in laid)


def test_files_keep_their_names(runs: Runs) -> None:
    """Guards a table that told of 0012-page.mid, and Windows, where con.mid is a device."""
    names = ("Прелюдия.mid", "a b.mid", "A B.MID", "con.mid", "n.zip")
    folder = lay(runs, [(name, b"MThd") for name in names])
    assert {path.name for path in folder.iterdir()} == {
        "Прелюдия.mid",
        "a b.mid",
        "A B-2.mid",
        "con-.mid",
        "n.zip",
    }


@pytest.mark.parametrize("name", ["..", "", "x", NONE, f"{NONE}/../.."])
def test_a_run_that_is_none(runs: Runs, name: str) -> None:
    assert runs.view(name) is None
    assert runs.curve(name) is None
    with pytest.raises(TrainingError):
        runs.go_on(name)


@pytest.mark.parametrize("parent", [None, "piano"])
@pytest.mark.parametrize(("step", "times"), [(20, "10 times"), (8, "4 times"), (2, "once")])
def test_a_run_that_is_over_speaks_of_the_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parent: str | None, step: int, times: str
) -> None:
    """Guards "The music will be read 10 times" of a run that has ended, and had read it four."""
    seen: list[str] = []
    desk = TrainingDesk(folder=tmp_path)
    desk.write_order(order(tmp_path))
    begins = begins_with("piano") + " " if parent else ""

    def told(*_: object, **__: object) -> Generator[TrainingEvent, None, None]:
        notice = f"{begins}{told_readings(10.2)}"
        yield planned(notice=notice, readings=10.2)
        seen.append(desk.status().notice)
        yield done(step)
        if step < 20:
            desk.ask_to_stop()
        gain = Gain(
            parent="piano",
            parent_sha256="",
            licence="",
            before_bits_per_note=9.9,
            after_bits_per_note=9.0,
            n_windows=1,
            n_pieces=1,
        )
        best, own = tmp_path / "best", gain if parent else None
        yield (
            done(step) if step < 20 else Finished(step=step, best=best, bits_per_note=9.0, gain=own)
        )

    monkeypatch.setattr(trainer, "train", told)
    trainer.work(desk)
    status = desk.status()
    assert status.state == ("finished" if step == 20 else "stopped")
    assert "will be read 10 times" in seen[0]
    assert "will be" not in status.notice
    assert f"The music was read {times}, " in status.notice
    assert status.notice.startswith(begins) or "a gain of 0.900. The music was" in status.notice


def planned(**more: Any) -> Planned:
    return Planned(steps=20, first_step=0, parameters=1, seconds_per_step=None, **more)


def done(step: int) -> StepDone:
    return StepDone(
        step=step,
        steps=20,
        loss=1.0,
        learning_rate=1.0,
        gradient_norm=1.0,
        events_per_s=1.0,
        seconds_left=1.0,
    )


def test_a_damaged_status_is_none(tmp_path: Path) -> None:
    (tmp_path / "status.json").write_text('{"state": "training"')
    assert TrainingDesk(folder=tmp_path).status().state == "starting"
