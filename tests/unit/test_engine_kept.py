"""Compiled code that is kept between runs: damage to it costs time, never the engine."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from musicgen.engine import compiled


def kept(folder: Path) -> Callable[[int], int]:
    """Return a small function as a new process would: compiled, or from its folder."""
    file = folder / "small.py"
    if not file.exists():
        file.write_text("def twice(x):\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("small", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return compiled._kept(module.twice)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damaged", [b"", b"\0" * 500, b"hello" * 100])
def test_damaged_files_are_compiled_anew_and_replaced(tmp_path, suffix, damaged):
    # After a power cut each run fell back to torch, many times slower, until somebody tidied up.
    assert kept(tmp_path)(21) == 42
    (file,) = tmp_path.rglob(f"*{suffix}")
    file.write_bytes(damaged)
    assert kept(tmp_path)(21) == 42
    again = kept(tmp_path)
    assert again(21) == 42
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_full_disk_costs_time_only(tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    assert kept(tmp_path)(21) == 42


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path, monkeypatch):
    def nowhere(*_arguments):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compiled._Kept, "__init__", nowhere)
    assert kept(tmp_path)(21) == 42
