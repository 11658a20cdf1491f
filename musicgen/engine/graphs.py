"""The one part that only a GPU runs: recording a call's operations, to launch them all at once.

A step of a small model is some hundred operations, each launched by Python in longer than it
computes. A graph launches them in one call. Source: torch's notes on CUDA graphs
(docs.pytorch.org/docs/stable/notes/cuda.html).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Call = Callable[[], Tensor]
Capture = Callable[[Call], Call]

N_WARM = 3
"""Calls before the recording: libraries choose their ways and set memory aside."""


def as_it_is(call: Call) -> Call:
    """Return the call: what is used where nothing is recorded."""
    return call


def captured(call: Call) -> Call:
    """Record a call on the current CUDA device.

    Args:
        call: Reads and writes tensors that stay where they are, with shapes that stay the same,
            and never looks at a number. It is called several times.

    Returns:
        What does the same in one launch. It returns the same tensor every time.

    Raises:
        RuntimeError: There is no such device, or the call cannot be recorded.
    """
    if not torch.cuda.is_available():  # torch itself would fail an assertion
        raise RuntimeError("there is no CUDA device")
    current = torch.cuda.current_stream()
    beside = torch.cuda.Stream()
    beside.wait_stream(current)
    with torch.cuda.stream(beside):
        for _ in range(N_WARM):
            call()
    current.wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    # What other threads do meanwhile on the device is none of the recording's business.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = call()

    def replay() -> Tensor:
        graph.replay()
        return result

    return replay
