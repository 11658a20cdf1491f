"""The figures to reach, where each is found in the results, and why the ones that fall short do."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rounds import ratio_of

Line = Mapping[str, Any]
Results = Mapping[str, list[Line]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure to reach.

    Attributes:
        what: The figure in words.
        file: Whose results tell it.
        where: Facts of the lines that do; the latest counts.
        found: Reads the figure from a line.
        least: To be reached.
        dream: Would be splendid; None where nothing more is wished for.
        unit: Of the figures.
        is_most: Whether a figure may be at most `least`, not at least.
        why: Why it falls short, should it.
    """

    what: str
    file: str
    found: Callable[[Line], float]
    least: float
    where: Mapping[str, Any] = field(default_factory=dict)
    dream: float | None = None
    unit: str = "×"
    is_most: bool = False
    why: str = ""

    def holds(self, found: float, wanted: float) -> bool:
        """Return whether a figure is as good as it should be."""
        return found <= wanted if self.is_most else found >= wanted


def latest(results: Results, file: str, where: Mapping[str, Any]) -> Line | None:
    """Return the last line of a file with those facts."""
    lines = [
        line
        for line in results.get(file, [])
        if all(line.get(key) == value for key, value in where.items())
    ]
    return lines[-1] if lines else None


def against(mine: str, theirs: str, also: str = "") -> Callable[[Line], float]:
    """Return what reads the ratio of our best contender to the strongest of others.

    Args:
        mine: How the names of ours begin.
        theirs: How the names of the others begin.
        also: What else stands in the names of the others.
    """

    def found(line: Line) -> float:
        measured = line["measured"]
        ours = [name for name in measured if name.startswith(mine)]
        others = [name for name in measured if name.startswith(theirs) and also in name]
        return max(min(ratio_of(measured, name, other) for other in others) for name in ours)

    return found


def median(name: str) -> Callable[[Line], float]:
    """Return what reads the median of the contender whose name begins so."""

    def found(line: Line) -> float:
        return statistics.median(
            next(figures for key, figures in line["measured"].items() if key.startswith(name))
        )

    return found


def longest(name: str) -> Callable[[Line], float]:
    """Return what reads the largest figure of a contender."""
    return lambda line: max(line["measured"][name])


def beside_weights(line: Line) -> float:
    """Return the most megabytes that a take with compiled code needs beside weights and cache."""
    needed = line["weights_and_cache"]
    return max(
        max(figures) - needed[name]
        for name, figures in line["measured"].items()
        if name != "by torch"
    )


_READS = (
    "a step fetches all weights, 6.3 MB in int8, from the shared cache; the dream is a two-thread "
    "experiment's in C++"
)
_AT_BEST = (
    "one thread of ours against two of theirs; a second one of ours would have to meet the first "
    "at 40 places a step, and what was tried was taken out again (see the lab log)"
)
_BOTH, _ONE, _BEST = (512, 1024), "one thread", "each at its best"
_DECODING = tuple(
    Goal(
        what=f"{shape} shape, {ours}, {position} positions before, against {words}",
        file="decode.jsonl",
        where={"shape": shape, "position": position},
        found=against("musicgen, numba", theirs, also),
        least=least,
        dream=dream,
        why=why,
    )
    for shape, positions, ours, words, theirs, also, least, dream, why in (
        ("6M", _BOTH, _ONE, "plain PyTorch with a cache", "plain PyTorch", "", 10, 25, _READS),
        ("6M", _BOTH, _BEST, "llama.cpp q8_0", "llama.cpp q8_0", "", 3.5, 7, _AT_BEST),
        ("20M", (512,), _BEST, "llama.cpp q8_0", "llama.cpp q8_0", "", 1, 1.8, ""),
        ("20M", (512,), _ONE, "Hugging Face bf16", "Hugging Face", "bf16", 8, 15, _READS),
    )
    for position in positions
)
_HEADS = (
    "our four heads, as large as a layer of the trunk, and Muon, a fourteenth of a step at 20M, "
    "come on top of what the others do; two thirds of the rest are products at the machine's full "
    "speed "
    "(`docs/lab_log.md`)"
)
_TRAINING = tuple(
    Goal(
        what=f"training step, {shape}, {whose}{words}",
        file="train_step.jsonl",
        where={"shape": shape, "length": 1024},
        found=against(mine, "Hugging Face", also),
        least=1.1,
        dream=1.4,
        why=_HEADS,
    )
    for shape in ("6M", "20M")
    for mine, whose in (("musicgen", ""), ("a layer fewer", "a layer fewer (as many parameters), "))
    for words, also in (
        ("against a Hugging Face bf16 loop without dropout", "bf16"),
        ("against the best Hugging Face loop, fp32 included", ""),
    )
)
_TOKENIZING = tuple(
    Goal(
        what=f"{what} against miditok's TSD, one core",
        file="tokenize.jsonl",
        where={"what": what},
        found=against("musicgen", "miditok TSD, as it comes"),
        least=10,
        dream=40,
    )
    for what in ("encoding", "decoding")
)
GOALS = (
    *_DECODING,
    Goal(
        what="8 takes at once, 6M, against llama.cpp batch 8",
        file="decode.jsonl",
        where={"takes": 8, "shape": "6M"},
        found=against("musicgen", "llama.cpp"),
        least=4,
        dream=7,
    ),
    Goal(
        what="the shipped model, 30 s of music, warm: seconds of the processor, one thread",
        file="startup.jsonl",
        where={"what": "warm", "seconds": 30.0, "seconds_of": "processor"},
        found=median("30 s of music"),
        least=0.6,
        dream=0.15,
        unit=" s",
        is_most=True,
        why="twenty other processes shared the core and its cache; on a calm machine it was 0.49 s "
        "(`docs/lab_log.md`)",
    ),
    *_TOKENIZING,
    *_TRAINING,
    Goal(
        what="click to first note in the app, warm",
        file="ui_first_sound.jsonl",
        found=median("30 s of music"),
        least=1,
        dream=0.3,
        unit=" s",
        is_most=True,
    ),
    *(
        Goal(
            what=f"twenty visitors for ten minutes: {words}, the longest of all",
            file="ui_visitors.jsonl",
            where={"visitors": 20, "minutes": 10.0},
            found=longest(name),
            least=1,
            unit=" s",
            is_most=True,
            why="on two cores, on which eight pieces are made and heads of others are read",
        )
        for words, name in (
            ("a page that is opened", "page, first"),
            ("a page after a click", "page, after the click"),
            ("from Stop to the piece's end", "stop"),
        )
    ),
    Goal(
        what="the same: what 500 takes add to the server's memory behind the first hundred",
        file="ui_visitors.jsonl",
        where={"visitors": 20, "minutes": 10.0},
        found=lambda line: line["memory_growth_mb"],
        least=100,
        unit=" MB",
        is_most=True,
    ),
    Goal(
        what="memory beside weights and cache, counted from after the imports",
        file="memory.jsonl",
        found=beside_weights,
        least=300,
        unit=" MB",
        is_most=True,
    ),
    Goal(
        what="steps a second of its processor time, a process busy on every core, against alone",
        file="busy.jsonl",
        where={"shape": "6M", "seconds_of": "processor"},
        found=against("musicgen, every core busy", "musicgen, alone"),
        least=0.9,
    ),
    Goal(
        what="speed late in a stream, against a new take past its window",
        file="stream.jsonl",
        found=against("the same after", "a new take"),
        least=0.97,
    ),
)
