"""The environment of processes that compute for long beside a studio."""

from __future__ import annotations

from collections.abc import Mapping


def beside_others(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which threads sleep while they wait for one another.

    OpenMP's threads wait in a loop, hundreds of times a training step. On a machine with nothing
    else to do that is faster by an eighth. Beside a studio that makes music, one of them is often
    put aside, and the other burns what its core could have done: with two busy processes on two
    cores a run took twice as long (docs/lab_log.md). Whoever set the policy keeps it.

    Args:
        environment: This process's.
    """
    return {"OMP_WAIT_POLICY": "passive", **environment}
