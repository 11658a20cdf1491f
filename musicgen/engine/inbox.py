"""What a take's thread sends to its helper with a phase, and the helper takes over.

A line of the cache that two cores have is slow to write: the writer must have it back first. So
what is sent is copied into one of two boxes by turns, and the next box is called back meanwhile;
what a take computes with stays with its own core.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from what is passed in

from __future__ import annotations

from numba import njit

from musicgen.engine.layout import ALIGNMENT, TOKENS
from musicgen.engine.numerics import EXACT, copy
from musicgen.engine.opening import opened
from musicgen.engine.vectors import fetch_to_write, part

_LINE = ALIGNMENT // 4  # numbers of float32; of int16 it is half a line


@njit(**EXACT)
def send(plan, room, matrix, narrow_, phase, n_events, size, scale, n_scales):
    """Put `size` narrowed numbers of each event, and what goes with them, into a phase's box."""
    _, _, work = opened(plan, matrix, narrow_)
    sizes, _, theirs = opened(room, matrix, narrow_)
    box, scale_box = _box_of(phase, sizes, theirs)
    for t in range(n_events):
        start = t * sizes.stride
        copy(part(work.narrow, start, size), part(theirs.inbox, box + start, size))
    copy(part(scale, 0, n_scales), part(theirs.inbox_scale, scale_box, n_scales))


@njit(**EXACT)
def call_back(room, matrix, narrow_, phase, size):
    """Have the next phase's box brought near."""
    sizes, _, theirs = opened(room, matrix, narrow_)
    box, scale_box = _box_of(phase + 2, sizes, theirs)
    for i in range(0, size, _LINE):
        fetch_to_write(theirs.inbox, box + i)
    fetch_to_write(theirs.inbox_scale, scale_box)


@njit(**EXACT)
def take_over(room, matrix, narrow_, phase, n_events, size, scale, n_scales):
    """Copy what was sent with a phase into the helper's `Work`: it comes from afar, all at once."""
    sizes, _, work = opened(room, matrix, narrow_)
    box, scale_box = _box_of(phase, sizes, work)
    for t in range(n_events):
        start = t * sizes.stride
        copy(part(work.inbox, box + start, size), part(work.narrow, start, size))
    copy(part(work.inbox_scale, scale_box, n_scales), part(scale, 0, n_scales))


@njit(inline="always", **EXACT)
def _box_of(phase, sizes, work):
    number = phase >> 1 & 1
    return number * TOKENS * sizes.stride, number * (work.inbox_scale.size // 2)
