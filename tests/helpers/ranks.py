"""Several processes of one training run, started as torchrun starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence

COMMAND = "from musicgen.cli.app import main; main()"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_ranks(
    n_ranks: int, args: Sequence[object], *, before: str = ""
) -> list[subprocess.Popen[str]]:
    """Start the command line in several processes that train together.

    Args:
        n_ranks: How many.
        args: Of `musicgen`.
        before: Python that each runs first; `RANK` is its rank there.
    """
    port = free_port()
    prelude = "import os\nRANK = int(os.environ['RANK'])\n"
    return [
        subprocess.Popen(
            [sys.executable, "-c", prelude + before + "\n" + COMMAND, *map(str, args)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": str(n_ranks),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
            },
        )
        for rank in range(n_ranks)
    ]


def ended(ranks: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """Wait for them; return exit code, stdout and stderr of each."""
    outputs = [rank.communicate(timeout=300) for rank in ranks]
    return [(rank.returncode, out, err) for rank, (out, err) in zip(ranks, outputs, strict=True)]
