"""The processes that train one model together; most often there is one.

What several must agree on goes through here, so that the loop, the trial and the step are written
once. `processes` has the group of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torch import Tensor

from musicgen.model import Decoder
from musicgen.training.memory import is_out_of_memory
from musicgen.training.windows import WHOLE, Share


class LeftError(Exception):
    """Another process leaves the run between two steps."""


class Gradients:
    """The gradients of a model that trains in one process."""

    def __init__(self, decoder: Decoder) -> None:
        """Prepare for the parameters of a model."""
        self._decoder = decoder

    def of(self, add: Callable[[], Tensor]) -> Tensor | None:
        """Return the loss of all processes, with its gradient in the parameters.

        None where it does not fit into memory, on one process or another.

        Args:
            add: Adds this process's part of the gradient to the parameters' and returns its part
                of the loss.

        Raises:
            LeftError: Another process leaves the run.
        """
        self._clear()
        try:
            return add()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        # Outside the handler: the error's frames would hold the memory that is wanted.
        self._clear()
        return None

    def _clear(self) -> None:
        self._decoder.zero_grad(set_to_none=True)


class Group:
    """One process alone; the group of several overrides what they must agree on.

    Attributes:
        share: Which of a step's windows this process reads.
    """

    share: Share = WHOLE

    @property
    def is_writer(self) -> bool:
        """Whether this process writes checkpoints and metrics, and looks at held-out music."""
        return self.share.index == 0

    @property
    def size(self) -> int:
        """How many processes there are."""
        return self.share.of

    def gradients(self, decoder: Decoder) -> Gradients:
        """Return what sums the gradients of a model over the processes."""
        return Gradients(decoder)

    def same(self, value: float) -> float:
        """Return the writer's value: what is measured must not differ between processes."""
        return value

    def spread(self, tensors: Iterable[Tensor]) -> None:
        """Give every process the writer's numbers, in place."""

    def leave(self) -> None:
        """Tell the others, who are in a step, that this process takes no further one."""

    def part(self) -> None:
        """Wait until every process has come here: nobody is gone while the writer still saves."""


ALONE = Group()
