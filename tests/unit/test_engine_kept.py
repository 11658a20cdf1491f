"""Compiled code that is kept between runs: damage to it costs time, never the engine."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from musicgen.engine import compiled, make_engine
from small_models import small_decoder


def kept(folder: Path) -> Callable[[int], int]:
    """Return a small function as a new process would: compiled, or from its folder."""
    file = folder / "small.py"
    if not file.exists():
        file.write_text("def twice(x):\n    return 2 * x\n")
    sys.path.insert(0, str(folder))  # what was kept names its module
    sys.modules.pop("small", None)
    try:
        return compiled._kept(importlib.import_module("small").twice)
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damaged", [b"", b"\0" * 500, b"hello" * 100])
def test_damaged_files_are_compiled_anew_and_replaced(tmp_path, suffix, damaged):
    # After a power cut each run fell back to torch, many times slower, until somebody tidied up.
    assert kept(tmp_path)(21) == 42
    (file,) = tmp_path.rglob(f"*{suffix}")
    file.write_bytes(damaged)
    assert kept(tmp_path)(21) == 42
    assert file.read_bytes() != damaged


def test_what_was_compiled_anew_is_found_by_the_next_process(tmp_path):
    # In one process the same code twice is not what happens, and now and then does not load.
    assert kept(tmp_path)(21) == 42
    (index,) = tmp_path.rglob("*.nbi")
    index.write_bytes(b"")
    assert [hits_of_a_new_process(tmp_path) for _ in range(2)] == [0, 1]


def hits_of_a_new_process(folder: Path) -> int:
    code = (
        "import sys; from pathlib import Path; from test_engine_kept import kept; "
        "twice = kept(Path(sys.argv[1])); assert twice(21) == 42; "
        "print(sum(twice.stats.cache_hits.values()))"
    )
    search = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return int(done.stdout)


def test_a_full_disk_costs_time_only(tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    twice = kept(tmp_path)
    assert twice(21) == 42
    assert compiled.warnings_about(twice) == (compiled.NOT_KEPT,)


def test_a_folder_that_cannot_be_written_costs_time_only(tmp_path, monkeypatch):
    def nowhere(*_arguments):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(compiled._Kept, "__init__", nowhere)
    twice = kept(tmp_path)
    assert twice(21) == 42
    assert compiled.warnings_about(twice) == (compiled.NOT_KEPT,)


def test_code_that_is_kept_is_no_matter_for_words(tmp_path):
    twice = kept(tmp_path)
    assert twice(21) == 42
    assert compiled.warnings_about(twice, twice) == ()


@pytest.mark.skipif(os.name == "nt", reason="Windows knows the folder otherwise")
@pytest.mark.parametrize("cache_home", [None, "relative"])
def test_without_a_home_there_is_no_folder_called_tilde(tmp_path, monkeypatch, cache_home):
    """Guards a folder `~` in the working directory of users that have neither HOME nor an entry."""
    import pwd

    def nobody(_uid):
        raise KeyError("no such user")

    (tmp_path / "__pycache__").write_text("so that nothing can be kept beside the source")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    if cache_home:
        monkeypatch.setenv("XDG_CACHE_HOME", cache_home)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    twice = kept(tmp_path)
    assert twice(21) == 42
    assert not any((tmp_path / "work").iterdir())
    assert compiled.warnings_about(twice) == (compiled.NOT_KEPT,)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert compiled.warnings_about(kept(tmp_path)) == ()


@pytest.mark.parametrize("engine", ["numba", "numba-float32", "lanes-float32"])
def test_an_engine_says_that_its_code_is_not_kept(monkeypatch, engine):
    """Guards 17 seconds at every start of a read-only install, of which nothing was said."""
    monkeypatch.setattr(
        compiled, "warnings_about", lambda *functions: ("Not kept.",) * bool(functions)
    )
    assert "Not kept." in make_engine(small_decoder(), engine).warnings
