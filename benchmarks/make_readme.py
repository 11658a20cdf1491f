"""Make `benchmarks/README.md` from the results.

python benchmarks/make_readme.py
"""

from __future__ import annotations

import ast
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from goals import GOALS, Goal, Line, Results, latest
from rounds import RESULTS, ratio_of, said

HERE = Path(__file__).resolve().parent
HEAD = """# Benchmarks

This page is made from `results/*.jsonl` by `python benchmarks/make_readme.py`; a test holds it up
to date.

Contenders run side by side, one after another in every round; a ratio is the median of the rounds'
ratios. Shared machines drift by a factor of two within a minute, so only ratios count; figures of
two tables are not to be compared. A step of ours is a whole event (trunk, four heads, four draws),
others' is one token of the same trunk. Peers that are not installed are left out, and it is said:
`pip install transformers llama-cpp-python gguf`. Every benchmark of speed has `--smoke`, a size
that runs in seconds, which the tests run.
"""
_TITLES = {
    "decode.jsonl": ("Decoding", ("shape", "position", "takes")),
    "decode_gpu.jsonl": ("Decoding on a GPU", ("shape", "position", "gpu")),
    "train_step.jsonl": ("A training step", ("shape", "length")),
    "tokenize.jsonl": ("Tokenizing", ("what", "seconds_of")),
    "render.jsonl": ("Sound and pictures", ("seconds",)),
    "startup.jsonl": ("Starting up", ("what", "seconds_of")),
    "ui_first_click.jsonl": ("The first click in the app", ("model",)),
    "ui_first_sound.jsonl": ("First sound in the app", ("model",)),
    "ui_first_paint.jsonl": ("The page in the app", ("model",)),
    "ui_visitors.jsonl": ("Many people at once", ("visitors", "minutes")),
    "ui_arcs.jsonl": ("Attention in the app", ("model", "what")),
    "ui_roll.jsonl": ("The roll in the app", ("what",)),
    "busy.jsonl": ("Beside busy processes", ("shape", "seconds_of")),
    "memory.jsonl": ("Memory", ("seconds",)),
    "stream.jsonl": ("A long stream", ("model", "events")),
}
"""By file of results, a title, and the facts by which its lines are told apart."""


def read_results(folder: Path = RESULTS) -> dict[str, list[Line]]:
    """Return the lines of each file, those of `--smoke` left out."""
    found = {}
    for file in sorted(folder.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        found[file.name] = [line for line in lines if not line.get("smoke")]
    return found


def page(results: Results) -> str:
    """Return the whole page.

    Raises:
        ValueError: A figure falls short and `goals.py` does not say why.
    """
    parts = [HEAD, "## What there is\n", *programs(), "\n## Figures to reach\n"]
    parts += ["| what | at least | the dream | found | |", "|---|---|---|---|---|"]
    parts += [goal_row(goal, results) for goal in GOALS]
    for file, (title, facts) in _TITLES.items():
        parts += section(title, facts, results.get(file, []))
    return "\n".join(parts) + "\n"


def programs() -> Iterator[str]:
    """Yield a row for each benchmark: its name, and what its first line says."""
    yield "| program | what it measures |\n|---|---|"
    for file in sorted(HERE.glob("bench_*.py")):
        head = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        yield f"| `{file.name}` | {' '.join(head.split(chr(10) * 2)[0].split())} |"


def goal_row(goal: Goal, results: Results) -> str:
    """Return the row that tells whether a figure is reached."""
    sign = "at most " if goal.is_most else ""
    dream = "" if goal.dream is None else f"{goal.dream:g}{goal.unit}"
    row = f"| {goal.what} | {sign}{goal.least:g}{goal.unit} | {dream} |"
    line = latest(results, goal.file, goal.where)
    if line is None:
        return f"{row} | not measured yet |"
    found = goal.found(line)
    if not goal.holds(found, goal.least):
        if not goal.why:
            raise ValueError(f"{goal.what}: {found:.3g} falls short, and goals.py does not say why")
        missing = f"{abs(found / goal.least - 1):.0%}"
        return f"{row} {said(found)}{goal.unit} | **short** by {missing}: {goal.why} |"
    is_dream = goal.dream is not None and goal.holds(found, goal.dream)
    return f"{row} {said(found)}{goal.unit} | reached{', and the dream' * is_dream} |"


def section(title: str, facts: tuple[str, ...], lines: list[Line]) -> Iterator[str]:
    """Yield a table for the latest line of each combination of facts."""
    newest = {tuple(line.get(fact) for fact in facts): line for line in lines}
    if newest:
        yield f"\n## {title}"
    for key in sorted(newest, key=str):
        yield from one_table(newest[key], facts)


def one_table(line: Line, facts: tuple[str, ...]) -> Iterator[str]:
    """Yield the medians, spreads and ratios of one line of results."""
    measured = line["measured"]
    plain = "plain PyTorch, fp32"  # the base of the first lines, which do not tell theirs
    base = line.get("base") or (plain if plain in measured else list(measured)[-1])
    named = [f"{fact} {line[fact]}" for fact in facts if line.get(fact) is not None]
    machine = line["machine"]
    cores = machine.get("cores_used") or machine["cores"]
    about = [line["when"][:10], f"commit {line.get('commit') or 'not kept'}"]
    about += [machine["processor"], f"{cores} of {machine['cores']} cores"]
    about += [f"load {machine['load']:.1f}"] if machine.get("load") is not None else []
    about += [line["note"]] if line.get("note") else []
    yield f"\n**{', '.join(named)}** ({'; '.join(about)})\n"
    yield f"| | {line.get('unit', 'steps/s')} | spread | ratio |\n|---|---|---|---|"
    for name, figures in measured.items():
        spread = f"{said(min(figures))} to {said(max(figures))}"
        ratio = said(ratio_of(measured, name, base))
        yield f"| {name} | {said(statistics.median(figures))} | {spread} | {ratio}× |"


def main() -> None:
    (HERE / "README.md").write_text(page(read_results()), encoding="utf-8")
    print(f"written: {HERE.name}/README.md")


if __name__ == "__main__":
    main()
