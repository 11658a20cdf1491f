"""Compiling once and for all: machine code is kept on the disk between runs.

numba keeps it beside the source, or where that cannot be written in the user's own cache folder,
or where NUMBA_CACHE_DIR says; it asks by itself for another processor or another numba. It does not
look at the functions that a function calls, so the hash of this room's files is part of the name.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import njit

from musicgen.engine import draws, kernels
from musicgen.engine.numerics import EXACT


@functools.cache
def read_events() -> Callable[..., bool]:
    """Return the compiled `kernels.read_events`."""
    return _kept(kernels.read_events)


@functools.cache
def score_attribute() -> Callable[..., bool]:
    """Return the compiled `kernels.score_attribute`."""
    return _kept(kernels.score_attribute)


@functools.cache
def draw() -> Callable[..., int]:
    """Return the compiled `draws.draw`."""
    return _kept(draws.draw)


def _kept(function: FunctionType) -> Callable[..., Any]:
    named = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    named.__module__ = function.__module__
    named.__qualname__ = f"{function.__name__}_{_digest()}"
    try:
        return njit(cache=True, **EXACT)(named)
    except RuntimeError:  # no folder can be written: it is compiled in every run
        return njit(**EXACT)(named)


@functools.cache
def _digest() -> str:
    folder = Path(__file__).parent
    text = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]
