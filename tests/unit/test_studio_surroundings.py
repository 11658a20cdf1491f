"""Processes that compute beside the studio share its machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from musicgen.errors import MusicgenError
from musicgen.studio import estimates, runs
from musicgen.studio.estimates import try_sizes
from musicgen.studio.orders import TrainingOrder
from musicgen.studio.runs import Runs
from musicgen.studio.surroundings import beside_others
from musicgen.training import TrainingRecipe


def test_who_set_a_policy_keeps_it():
    assert beside_others({"HOME": "/h"}) == {"HOME": "/h", "OMP_WAIT_POLICY": "passive"}
    assert beside_others({"OMP_WAIT_POLICY": "active"}) == {"OMP_WAIT_POLICY": "active"}


@pytest.fixture
def environments(monkeypatch) -> list[dict[str, str]]:
    """Keep the environments of processes that are begun, which then fail."""
    seen: list[dict[str, str]] = []

    def popen(*_: Any, env: dict[str, str], **__: Any):
        seen.append(env)
        raise OSError("not here")

    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    for room in (runs, estimates):
        monkeypatch.setattr(room.subprocess, "Popen", popen)
    return seen


def test_a_trial_and_a_run_wait_without_burning(environments, tmp_path: Path):
    """Guards a run that takes twice as long, and a studio that stutters, since threads spin."""
    runs_here = Runs(tmp_path)
    tray = runs_here.trays.add("a visitor", [("a.mid", b"MThd")])
    recipe = TrainingRecipe(preset="tiny")
    order = TrainingOrder(title="x", music=str(tray.music), recipe=recipe, begun_s=0.0)
    with pytest.raises(MusicgenError):
        runs_here.start(order)
    with pytest.raises(MusicgenError):
        next(try_sizes(str(tmp_path), 1.0))
    assert [each["OMP_WAIT_POLICY"] for each in environments] == ["passive", "passive"]
