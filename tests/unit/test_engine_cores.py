"""How many cores there are to compute with."""

from __future__ import annotations

import pytest

from musicgen.engine import cores


@pytest.fixture
def four_cores(monkeypatch, tmp_path):
    """Four cores, and a file that says how much of them a container may use."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: {0, 1, 2, 3}, raising=False)
    monkeypatch.setattr("musicgen.engine.cores.QUOTA", tmp_path / "cpu.max")
    return tmp_path / "cpu.max"


@pytest.mark.parametrize(
    ("quota", "n_cores"),
    [
        ("max 100000", 4),
        ("200000 100000", 2),
        ("150000 100000", 1),
        ("50000 100000", 1),
        ("900000 100000", 4),
        ("what?", 4),
    ],
)
def test_a_container_has_the_cores_that_it_may_use(four_cores, quota, n_cores):
    """Guards four threads of a container that may use one core: each waits for the others."""
    four_cores.write_text(quota, encoding="ascii")
    assert cores.usable_cores() == n_cores


@pytest.mark.usefixtures("four_cores")
def test_without_a_container_all_cores_are_used():
    assert cores.usable_cores() == 4
