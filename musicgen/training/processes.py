"""Several processes that train one model, each with its share of every step's windows.

Gradients are summed in one buffer, which also carries the loss and what each process has to say:
that its memory does not suffice, that it failed, that it leaves. So every process takes the same
decision at the same step, and none waits for one that is gone. All of them hold the same weights
and the same sums, so they take the same step, whatever the optimizer.

torch.distributed waits until there are several processes; only `joining` imports it too.

Legend: P numbers of the model that learn.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from musicgen.errors import ElsewhereError, MusicgenError, TrainingError
from musicgen.model import Decoder
from musicgen.training.group import Gradients, Group, LeftError
from musicgen.training.memory import is_out_of_memory
from musicgen.training.windows import Share

_POLL_S = 0.05
_MOMENT_S = 1.0
"""torchrun ends all processes as soon as one of them fails: the writer must have spoken by then."""
_LOSS, _FAILED, _NO_MEMORY, _LEAVING = range(4)


class Processes(Group):
    """Several processes, each with its share of every step's windows."""

    def __init__(self, share: Share, store: Any, device: torch.device) -> None:
        """Begin where all have found one another.

        Args:
            share: Which of a step's windows this one reads.
            store: What small messages go through, a `torch.distributed.Store`.
            device: Where it trains.
        """
        self.share = share
        self._store, self._device = store, device
        self._n_told = 0
        self._gradients: _SummedGradients | None = None

    def tell(self, message: Mapping[str, Any]) -> None:
        """Tell all the others; for the writer alone."""
        self._store.set(f"musicgen/told/{self._n_told}", json.dumps(message))
        self._n_told += 1

    def hear(self) -> Any:
        """Wait for what the writer tells next, however long it takes.

        Raises:
            ElsewhereError: The writer has failed, and says so itself.
        """
        key = f"musicgen/told/{self._n_told}"
        while not self._store.check([key]):
            time.sleep(_POLL_S)  # rather than a wait in C++, which no Ctrl-C would reach
        self._n_told += 1
        message = json.loads(self._store.get(key))
        if "error" in message:
            raise ElsewhereError(message["error"]["message"])
        return message

    def fail(self, error: MusicgenError) -> None:
        """Let nobody wait for this process, which ends by an error."""
        if self.is_writer:
            self.tell({"error": error.as_dict()})
        else:
            time.sleep(_MOMENT_S)

    def same(self, value: float) -> float:
        """Return the writer's value."""
        if self.is_writer:
            self.tell({"value": value})
            return value
        return self.hear()["value"]

    def gradients(self, decoder: Decoder) -> Gradients:
        """Return what sums the gradients of a model over the processes."""
        self._gradients = _SummedGradients(decoder, self, self._device)
        return self._gradients

    def sum(self, tensor: Tensor) -> None:
        """Sum a tensor over the processes, in place.

        Raises:
            TrainingError: One of them is gone.
        """
        import torch.distributed as dist

        try:
            dist.all_reduce(tensor)
        except RuntimeError as error:
            raise self._gone() from error

    def spread(self, tensors: Iterable[Tensor]) -> None:
        """Give every process the writer's numbers, in place.

        Raises:
            TrainingError: One of them is gone.
        """
        import torch.distributed as dist

        try:
            for tensor in tensors:
                there = tensor.to(self._device)
                dist.broadcast(there, src=0)
                tensor.copy_(there)
        except RuntimeError as error:
            raise self._gone() from error

    def agree(self, error: MusicgenError | None) -> None:
        """Wait until all have come here; raise if one of them has failed.

        Raises:
            MusicgenError: On the writer: what went wrong on one of them.
            ElsewhereError: On the others, who leave it to the writer to tell.
        """
        told = {} if error is None else error.as_dict()
        self._store.set(f"musicgen/ready/{self.share.index}", json.dumps(told))
        for rank in range(self.size):
            while not self._store.check([f"musicgen/ready/{rank}"]):
                time.sleep(_POLL_S)
            found = json.loads(self._store.get(f"musicgen/ready/{rank}"))
            if found:
                self._raise(rank, found)

    def report(self, error: MusicgenError) -> None:
        """Write down what went wrong here, for the writer to tell."""
        self._store.set(
            "musicgen/failed", json.dumps({"rank": self.share.index, **error.as_dict()})
        )

    def raise_reported(self) -> None:
        """Raise what one of them has reported.

        Raises:
            MusicgenError: See `agree`.
        """
        found = json.loads(self._store.get("musicgen/failed"))
        self._raise(found.pop("rank"), found)

    def _raise(self, rank: int, error: Mapping[str, str]) -> None:
        if not self.is_writer:
            raise ElsewhereError(error["message"])
        where = f"Process {rank} of the run failed: " if rank else ""
        raise TrainingError(where + error["message"], hint=error["hint"], code=error["code"])

    def _gone(self) -> MusicgenError:
        message = "Another process of this run has ended."
        if not self.is_writer:
            return ElsewhereError(message)
        return TrainingError(message, hint="Go on from the last checkpoint with --resume.")

    def leave(self) -> None:
        """Tell the others, who are in a step, that this process takes no further one."""
        if self._gradients is not None:
            self._gradients.leave()

    def part(self) -> None:
        """Wait until every process has come here, and give the writer a moment to tell."""
        self.sum(torch.zeros(1, device=self._device))
        if not self.is_writer:
            time.sleep(_MOMENT_S)


class _SummedGradients(Gradients):
    """The gradients of all that learns in one buffer (P + 4), summed at once.

    The last four are the loss and three counts: who failed, whose memory does not suffice, who
    leaves.
    """

    def __init__(self, decoder: Decoder, group: Processes, device: torch.device) -> None:
        super().__init__(decoder)
        self._group = group
        learning = [each for each in decoder.parameters() if each.requires_grad]
        n_numbers = sum(parameter.numel() for parameter in learning)
        self._flat = torch.zeros(n_numbers + 4, device=device)
        self._told = self._flat[n_numbers:]
        at = 0
        for parameter in learning:
            part = self._flat[at : at + parameter.numel()]
            parameter.grad = part.view_as(parameter)
            at += parameter.numel()

    def of(self, add: Callable[[], Tensor]) -> Tensor | None:
        self._clear()
        says = self._add(add)
        if says != _LOSS:
            self._clear()
            self._told[says] = 1
        return self._told[_LOSS] if self._fits() else None

    def _add(self, add: Callable[[], Tensor]) -> int:
        """Add this process's part to the buffer; return what there is to say besides."""
        try:
            loss = add()
        except MusicgenError as error:
            self._group.report(error)
            return _FAILED
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return _NO_MEMORY
        self._told[_LOSS] = loss
        return _LOSS

    def _fits(self) -> bool:
        """Sum the buffer; return whether the gradient of every process fitted."""
        self._group.sum(self._flat)
        _, failed, no_memory, leaving = self._told.tolist()
        if failed:
            self._group.raise_reported()
        if leaving:
            raise LeftError
        return not no_memory

    def _clear(self) -> None:
        self._flat.zero_()

    def leave(self) -> None:
        self._clear()
        self._told[_LEAVING] = 1
        self._group.sum(self._flat)
