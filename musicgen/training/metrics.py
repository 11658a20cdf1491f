"""metrics.jsonl: one line a step, one a validation, one for the model that a run begins with."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from musicgen.files import is_file


def add_line(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line.

    Raises:
        OSError: The file cannot be written.
    """
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def lines_with(path: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the lines that tell a figure, in their order; what is no whole line is left out.

    Raises:
        OSError: The file cannot be read.
    """
    mark = f'"{name}"'.encode()
    with open(path, "rb") as file:
        for line in file:
            if mark not in line or _step_of(line) == math.inf:
                continue
            told = json.loads(line)
            if name in told:
                yield told


def rewind(path: Path, step: int) -> None:
    """Drop what tells of steps after `step`, and what tells of none: a resumed run writes on.

    Raises:
        OSError: The file cannot be read or written.
    """
    if is_file(path):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(line for line in lines if _step_of(line) <= step))


def last_step(path: Path) -> int:
    """Return the last step that is told of; 0 where there is none.

    Raises:
        OSError: The file cannot be read.
    """
    lines = path.read_bytes().splitlines(keepends=True) if is_file(path) else []
    steps = [step for step in map(_step_of, lines) if step < math.inf]
    return int(max(steps, default=0))


def _step_of(line: bytes) -> float:
    """Return the step that a line tells of; infinite where it tells of none.

    A process that was killed may have left a part of a line, and a power cut anything.
    """
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return math.inf
    step = told.get("step") if isinstance(told, dict) else None
    return step if isinstance(step, int) and line.endswith(b"\n") else math.inf
