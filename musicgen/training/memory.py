"""Memory: whether it ran out, how much there is, and how much something takes.

Memory that ran out is told in many words by CPU and CUDA.
"""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from musicgen.errors import OutOfMemoryError

_SENTENCES = (
    "can't allocate memory",  # torch's own allocator, Linux and macOS
    "not enough memory",  # the same, Windows
    "bad_alloc",  # the C++ runtime's, through torch
    "could not create a memory object",  # oneDNN
    "ALLOC_FAILED",  # cuBLAS, cuDNN
)
_CGROUP = Path("/sys/fs/cgroup")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out; on a CPU torch says so by a plain RuntimeError."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    told = str(error)
    return isinstance(error, RuntimeError) and any(words in told for words in _SENTENCES)


def out_of_memory(seq_len: int | None = None) -> OutOfMemoryError:
    """Return the error for one window of so many events, or for what stands beside the windows."""
    what = "this model's training" if seq_len is None else f"one window of {seq_len:,} events"
    return OutOfMemoryError(
        f"The memory does not hold {what}.",
        hint="Lower seq_len, set recompute_activations = true in a TOML file, or "
        "choose a smaller preset.",
    )


def free_bytes(device: torch.device) -> int | None:
    """Return how much memory a device has left; None where this system does not say.

    On macOS it is what the machine has in all.
    """
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if sys.platform == "win32":
        return _free_bytes_of_windows()
    if sys.platform == "darwin":
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    found = [_free_bytes_of_linux(), _free_bytes_of_container()]
    return min((each for each in found if each is not None), default=None)


def _free_bytes_of_linux() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    told = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return int(told[0][1]) * 1024 if told else None


def _free_bytes_of_container() -> int | None:
    """Return what a container's limit leaves (cgroup version 2), or None without one."""
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = (_CGROUP / "memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return max(0, int(limit) - int(used)) if limit.isdigit() else None


def _free_bytes_of_windows() -> int | None:
    # MEMORYSTATUSEX: two 32-bit numbers (its own length, the load), then seven 64-bit ones (total
    # and free memory, paging file, address space). Source: Microsoft's sysinfoapi.h.
    status = (ctypes.c_uint64 * 8)(64)
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 -- other systems have none
    return status[2] if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


@dataclass(slots=True)
class Peak:
    """The most memory that tensors took at one time, beyond what they took before."""

    bytes: int = 0


@contextmanager
def peak_bytes(device: torch.device) -> Iterator[Peak]:
    """Measure the most memory that new tensors take at one time; slows a step down a little.

    On CUDA the allocator knows; on a CPU the tensors that operations return are counted while
    they live, without what operations use inside.
    """
    peak = Peak()
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        yield peak
        peak.bytes = torch.cuda.max_memory_allocated(device) - before
        return
    with _Counting(peak):
        yield peak


class _Counting(TorchDispatchMode):
    """Counts the storages of the tensors that operations return, while they live."""

    def __init__(self, peak: Peak) -> None:
        super().__init__()
        self._peak, self._now = peak, 0
        self._known: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # What goes in is there already, or was counted as it came out.
        for tensor in _tensors((args, kwargs)):
            self._known.add(tensor.untyped_storage())
        result = func(*args, **(kwargs or {}))
        for tensor in _tensors(result):
            self._count(tensor.untyped_storage())
        return result

    def _count(self, storage: torch.UntypedStorage) -> None:
        if storage in self._known:
            return
        self._known.add(storage)
        n_bytes = storage.nbytes()
        weakref.finalize(storage, self._forget, n_bytes)
        self._now += n_bytes
        self._peak.bytes = max(self._peak.bytes, self._now)

    def _forget(self, n_bytes: int) -> None:
        self._now -= n_bytes


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
