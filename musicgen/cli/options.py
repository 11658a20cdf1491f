"""The options that several commands share, with their ranges in the sentence that refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

MAX_SEED = 2**53 - 1  # the largest whole number that every JSON reader keeps exact
MAX_TAKES = 999
SHORTEST_S, LONGEST_S = 0.1, 4 * 3600.0
DEVICES = ("auto", "cpu", "cuda")
ENGINES = ("auto", "numba", "numba-float32", "lanes", "lanes-float32", "torch")

_MOST_QUOTED = 60
"""So many letters of a value are repeated in the sentence that refuses it."""

TextT = TypeVar("TextT", bound="str | None")


def number(
    low: float, high: float, *, whole: bool = False, above_low: bool = False
) -> Callable[[Any], Any]:
    """Return an option's parser of a number in a range (nan never is).

    Typer's own would say that `abc` is no valid float, and nothing of the range.

    Args:
        low: The smallest value.
        high: The largest value.
        whole: Only whole numbers.
        above_low: `low` itself is too small.
    """
    start = f"above {low:g}" if above_low else f"from {low:.16g}"
    wanted = f"{start} to {high:.16g}"

    def parse(text: Any) -> Any:
        try:
            value = _read(text, whole)
        except ValueError:
            kind = "a whole number" if whole else "a number"
            raise typer.BadParameter(f"{shortened(repr(text))} is not {kind} {wanted}.") from None
        fits = low < value <= high if above_low else low <= value <= high
        if not fits:
            raise typer.BadParameter(f"{shortened(str(text))} is out of range: {wanted}.")
        return value

    return parse


def _read(text: Any, whole: bool) -> float:
    if not whole:
        return float(text)
    try:
        return int(text)
    except ValueError:
        # Python reads no whole number of thousands of digits; nor is one wanted anywhere.
        if str(text).lstrip("+-").isdecimal():
            return math.inf
        raise


def shortened(text: str) -> str:
    """Return a value as a sentence repeats it: cut if it is long."""
    return text if len(text) <= _MOST_QUOTED else text[: _MOST_QUOTED - 3] + "..."


def one_of(names: Sequence[str]) -> Callable[[TextT], TextT]:
    """Return an option's check that its value, if it is given, is one of `names`."""

    def check(value: TextT) -> TextT:
        if value is not None and value not in names:
            raise typer.BadParameter(f"{shortened(repr(value))} is not one of {', '.join(names)}.")
        return value

    return check


def _some_text(value: str) -> str:
    if not value.strip():
        raise typer.BadParameter("it is empty.")
    return value


# Each is read by Typer when the commands are built.
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME|DIR",
        callback=_some_text,
        help="A model that ships with musicgen, or the folder of one that you trained.",
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        metavar="S",
        parser=number(SHORTEST_S, LONGEST_S),
        help="Length of the new music, in seconds.",
    ),
]
Temperature = Annotated[
    float,
    typer.Option(
        metavar="X",
        parser=number(0, 100),
        help="Variety: below 1 safer, above 1 bolder, 0 always the likeliest event.",
    ),
]
TopP = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        parser=number(0, 1),
        help="Of every attribute, choose among the likeliest values that sum up to this share. "
        "Without it: 0.95 of pitches, all values of time, velocity and length.",
    ),
]
TopK = Annotated[
    int,
    typer.Option(
        metavar="K",
        parser=number(0, 1_000_000, whole=True),
        help="Choose among this many likeliest values; 0: among all.",
    ),
]
MinP = Annotated[
    float,
    typer.Option(
        metavar="P",
        parser=number(0, 1),
        help="Leave out values less likely than this share of the likeliest one's probability.",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(0, MAX_SEED, whole=True),
        help="The same seed, settings and model make the same music. Without it: a new one.",
    ),
]
Takes = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=number(1, MAX_TAKES, whole=True),
        help="Make this many takes, up to eight at a time on each core, or on a GPU: OUT-1.mid, "
        "OUT-2.mid, ... with seeds N, N+1, ...",
    ),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="|".join(DEVICES),
        callback=one_of(DEVICES),
        help="What computes; auto takes a CUDA device where there is one.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="|".join(ENGINES),
        callback=one_of(ENGINES),
        help="What decodes; auto is numba on a CPU: compiled code with int8 weights, one thread; "
        "and lanes on a GPU: torch in bf16, takes together.",
    ),
]
Wav = Annotated[bool, typer.Option("--wav", help="Write the sound beside it, as OUT.wav.")]
Out = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="The file to write.")]
