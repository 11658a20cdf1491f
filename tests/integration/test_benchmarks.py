"""Every benchmark runs at its `--smoke` size; the page of figures is made from the results."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math

import pytest

SMOKES = {
    "bench_decode": ("decode.jsonl", "steps/s", "musicgen, numba"),
    "bench_decode_gpu": ("decode_gpu.jsonl", "steps/s", "musicgen, lanes-float32, 8 takes"),
    "bench_train_step": ("train_step.jsonl", "positions/s", "musicgen"),
    "bench_tokenize": ("tokenize.jsonl", "files/s", "musicgen"),
    "bench_render": ("render.jsonl", "s/s", "musicgen render"),
    "bench_startup": ("startup.jsonl", "s", "musicgen generate, 2 s"),
    "bench_busy": ("busy.jsonl", "steps/s", "musicgen, every core busy"),
    "bench_memory": ("memory.jsonl", "MB", "compiled code from the cache"),
    "bench_stream": ("stream.jsonl", "events/s", "the same after 60 events"),
}
PEERS = {
    "bench_decode": {"transformers": "Hugging Face", "llama_cpp": "llama.cpp"},
    "bench_train_step": {"transformers": "Hugging Face"},
}
FACTS = {"when", "commit", "machine", "note", "smoke", "unit", "base", "measured"}


@pytest.fixture
def room(root, monkeypatch):
    """Return what imports a file of benchmarks/, whose programs find each other beside them."""
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    return importlib.import_module


@pytest.mark.parametrize("name", SMOKES)
def test_a_benchmark_prints_a_table_and_keeps_its_figures(name, room, tmp_path, capsys):
    file, unit, contender = SMOKES[name]
    room(name).main(["--smoke", "--results", str(tmp_path), "--note", "a test"])
    printed = capsys.readouterr().out
    lines = [json.loads(line) for line in (tmp_path / file).read_text().splitlines()]
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert contender in lines[0]["measured"]
    for line in lines:
        assert line.keys() >= FACTS
        assert (line["unit"], line["note"], line["smoke"]) == (unit, "a test", True)
        assert line["machine"]["processor"]
        assert line["base"] in line["measured"]
        assert f"ratios to {line['base']}" in printed
        for peer, figures in line["measured"].items():
            assert figures
            assert all(math.isfinite(figure) and figure > 0 for figure in figures)
            row = next(row for row in printed.splitlines() if row.startswith(f"{peer} "))
            assert row.endswith("×")
    for module, peer in PEERS.get(name, {}).items():
        is_installed = importlib.util.find_spec(module) is not None
        assert (f"left out: {peer}" in printed) != is_installed


def test_eight_takes_are_measured_as_they_are_made_together(room, tmp_path):
    options = ["--smoke", "--takes", "--threads", "1", "2", "--results", str(tmp_path)]
    room("bench_decode").main(options)
    (line,) = map(json.loads, (tmp_path / "decode.jsonl").read_text().splitlines())
    assert line["takes"] == 8
    assert {"musicgen, 1 thread", "musicgen, 2 threads"} <= line["measured"].keys()


def test_every_benchmark_of_speed_is_tried(root):
    """Guards a program that is added without a test, and so rots."""
    of_speed = {
        path.stem
        for path in (root / "benchmarks").glob("bench_*.py")
        if "parser_of" in path.read_text(encoding="utf-8")
    }
    in_the_app = {name for name in of_speed if name.startswith("bench_ui_")}
    assert of_speed - in_the_app == set(SMOKES)


def test_the_page_is_that_of_the_results(root, room):
    make_readme = room("make_readme")
    text = (root / "benchmarks" / "README.md").read_text(encoding="utf-8")
    hint = "run python benchmarks/make_readme.py"
    assert text == make_readme.page(make_readme.read_results()), hint


def test_the_page_says_what_is_reached_and_why_something_is_not(room):
    make_readme, goals = room("make_readme"), room("goals")

    def row(found, why=""):
        goal = goals.Goal(
            what="speed",
            file="speed.jsonl",
            where={"shape": "6M"},
            found=goals.against("musicgen", "plain"),
            least=10,
            dream=25,
            why=why,
        )
        measured = {"musicgen, one": [1, 1], "musicgen, two": [found, found], "plain": [1, 1]}
        lines = [{"shape": "6M", "measured": measured}, {"shape": "20M", "measured": {}}]
        return make_readme.goal_row(goal, {"speed.jsonl": lines})

    assert row(10.0).endswith("| 10.0× | reached |")
    assert row(25.0).endswith("| 25.0× | reached, and the dream |")
    assert row(9.0, "it is cold").endswith("| 9× | **short** by 10%: it is cold |")
    with pytest.raises(ValueError, match="does not say why"):
        row(9.0)


def test_a_ratio_is_to_the_strongest_of_the_others(room):
    """Guards a peer's weaker variant being taken for the peer."""
    goals = room("goals")
    measured = {"musicgen": [8.0, 9.0], "llama.cpp, a": [1.0, 1.0], "llama.cpp, b": [4.0, 3.0]}
    assert goals.against("musicgen", "llama.cpp")({"measured": measured}) == 2.5
