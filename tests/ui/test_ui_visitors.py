"""Many people at once, by the benchmark's own visitors: nothing mixes, nothing is lost."""

from __future__ import annotations

import json

import pytest


@pytest.mark.long
def test_visitors_get_their_own_pieces_and_stop_in_time(root, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    monkeypatch.setenv("MUSICGEN_HOME", str(tmp_path / "home"))
    bench = pytest.importorskip("bench_ui_visitors")
    bench.main(
        ["--visitors", "4", "--minutes", "0.05", "--results", str(tmp_path), "--note", "a test"]
    )
    (line,) = map(json.loads, (tmp_path / "ui_visitors.jsonl").read_text().splitlines())
    assert line["faults"] == 0
    assert line["takes"] >= 4
    median_s, *_ = line["measured"]["page, at the end"]
    assert median_s < 2
