"""TensorBoard, where a recipe asks for it: the metrics once more, in RUN/tensorboard.

The only importer of torch.utils.tensorboard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from musicgen.errors import TrainingError

FOLDER = "tensorboard"


class Board(Protocol):
    """Takes figures by their names."""

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        """Take the figures of a step."""
        ...


class _NoBoard:
    def add(self, step: int, figures: Mapping[str, float]) -> None:
        pass


class _TensorBoard:
    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def add(self, step: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, step)


def check_tensorboard() -> None:
    """Refuse a run that wants TensorBoard where it is not installed.

    Raises:
        TrainingError: It is not.
    """
    if find_spec("tensorboard") is None:
        raise TrainingError(
            "The settings ask for TensorBoard, which is not installed.",
            hint="Install it with pip install tensorboard, or leave tensorboard out; "
            "metrics.jsonl and loss.png tell the same.",
        )


@contextmanager
def board_of(run_folder: Path, *, wanted: bool, first_step: int) -> Iterator[Board]:
    """Open the run's board, or one that takes nothing.

    Args:
        run_folder: The run's.
        wanted: Whether the recipe asks for it.
        first_step: Steps already done: what the board holds of later ones is dropped.

    Raises:
        TrainingError: It is wanted and not installed.
    """
    if not wanted:
        yield _NoBoard()
        return
    check_tensorboard()
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(run_folder / FOLDER), purge_step=first_step + 1)
    try:
        yield _TensorBoard(writer)
    finally:
        writer.close()
