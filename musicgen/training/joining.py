"""Finding the other processes of a run, where torchrun started several."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch

from musicgen.errors import ConfigError, MusicgenError, TrainingError
from musicgen.training.group import ALONE, Group
from musicgen.training.processes import Processes
from musicgen.training.windows import Share

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_STEP_TIMEOUT = timedelta(hours=1)
"""The others wait this long for a step, while the writer looks at held-out music and saves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which process this is.

    Attributes:
        rank: Of all processes, from 0; 0 is the writer.
        n_ranks: How many there are.
        local_rank: Of those on this machine.
    """

    rank: int
    n_ranks: int
    local_rank: int


def place_in(environment: Mapping[str, str]) -> Place | None:
    """Return what torchrun says in a process's environment; None for a process alone.

    Raises:
        ConfigError: What is said there are no numbers.
    """
    if any(name not in environment for name in _VARIABLES):
        return None
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    try:
        rank, n_ranks, local = (int(environment.get(name, "0")) for name in names)
    except ValueError as error:
        raise ConfigError(
            "RANK, WORLD_SIZE and LOCAL_RANK in the environment are not numbers.",
            hint="Start several processes with torchrun, or unset these variables.",
        ) from error
    return Place(rank=rank, n_ranks=n_ranks, local_rank=local) if n_ranks > 1 else None


@contextmanager
def joined(device: str) -> Iterator[tuple[Group, torch.device]]:
    """Join the processes that torchrun started, or be alone; give the group and its device.

    Args:
        device: "cpu" or "cuda".

    Raises:
        ConfigError: This machine has fewer devices than processes.
        TrainingError: The processes do not find one another.
    """
    place = place_in(os.environ)
    if place is None:
        yield ALONE, torch.device(device)
        return
    own = _device_of(place, device)
    group = _join(place, own)
    try:
        yield group, own
    except MusicgenError as error:
        group.fail(error)
        raise
    finally:
        _part_from_all()


def _device_of(place: Place, device: str) -> torch.device:
    if device != "cuda":
        return torch.device(device)
    if place.local_rank >= torch.cuda.device_count():
        raise ConfigError(
            f"This machine has {torch.cuda.device_count()} CUDA devices, too few for process "
            f"{place.local_rank + 1} on it.",
            hint="Give torchrun a --nproc-per-node of at most that, or train with --device cpu.",
        )
    # What names no device (a stream, a question about bf16) must not open the first one as well.
    torch.cuda.set_device(place.local_rank)
    return torch.device("cuda", place.local_rank)


def _join(place: Place, device: torch.device) -> Processes:
    import torch.distributed as dist

    if not dist.is_available():
        raise TrainingError(
            "This build of torch cannot train in several processes.",
            hint="Train in one process, without torchrun.",
        )
    from torch.distributed.rendezvous import rendezvous

    backend = "nccl" if device.type == "cuda" and dist.is_nccl_available() else "gloo"
    try:
        store, rank, n_ranks = next(rendezvous("env://"))
        dist.init_process_group(
            backend,
            store=store,
            rank=rank,
            world_size=n_ranks,
            timeout=_STEP_TIMEOUT,
            device_id=device if backend == "nccl" else None,
        )
    except (RuntimeError, ValueError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise TrainingError(
            f"The {place.n_ranks} processes of this run do not find one another: {reason}",
            hint="See whether the address and port given to torchrun can be reached.",
        ) from error
    return Processes(Share(index=place.rank, of=place.n_ranks), store, device)


def _part_from_all() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()
