"""How long threads that compute wait awake for one another."""

from __future__ import annotations

from collections.abc import Mapping

_SHORT = {"GOMP_SPINCOUNT": "20000", "KMP_BLOCKTIME": "1"}
"""A third of a millisecond for GNU's OpenMP, which torch has on Linux; 1 ms for LLVM's, Intel's."""


def short_waits(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what to add to the environment before torch is imported, which reads it once.

    OpenMP's threads wait in a loop, by themselves for six milliseconds and on some systems for two
    hundred. Meanwhile compiled code lacks the cores wherever its threads are not OpenMP's (see
    `engine/workers.py`): at 6 million parameters a step on two cores takes a fifth longer. Where
    nothing else computes a short wait costs nothing, and torch's own loops are as fast with it
    (docs/lab_log.md). Whoever set the way of waiting keeps it, as a studio does for the runs beside
    it.

    Args:
        environment: This process's.
    """
    return {} if {"OMP_WAIT_POLICY", *_SHORT} & environment.keys() else _SHORT
