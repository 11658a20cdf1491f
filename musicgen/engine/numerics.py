"""Compiled pieces of arithmetic: norms, exponentials, and rounding numbers to fewer bits.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from the arrays that are passed in

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from musicgen.engine.vectors import float_of_bits

ZERO, ONE = np.float32(0), np.float32(1)
_EPS = np.float32(1e-6)
_TINY, _NAN = np.float32(1e-30), np.float32(np.nan)
_LARGEST_INT8, _LARGEST_INT16 = np.float32(127), np.float32(32767)
_LARGEST_SUM = np.float32(16.8e6)  # of |int16| numbers: 127 times it stays below 2^31
_ROUND = np.float32(12582912.0)  # 1.5 · 2^23: added and taken away again, it leaves a whole number

_LOG2_E = np.float32(1.44269504)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOWEST = np.float32(-87.0)
_C2, _C3, _C4 = np.float32(0.5), np.float32(1.6666665459e-1), np.float32(4.1665795894e-2)
_C5, _C6, _C7 = (
    np.float32(8.3334519073e-3),
    np.float32(1.3981999507e-3),
    np.float32(1.9875691500e-4),
)

EXACT = {"fastmath": {"contract"}, "nogil": True, "_nrt": False, "error_model": "numpy"}
LOOSE = {**EXACT, "fastmath": {"contract", "reassoc", "nsz"}}
"""Sums in any order, so that they fill a machine's vectors. Never numba's whole "fastmath": a
damaged model's nan must stay one, to be refused."""
ORDERED = {**EXACT, "fastmath": {"nnan", "nsz"}}
"""For the largest of numbers: vectors of comparisons. A nan may be passed over."""


@njit(**EXACT)
def rounded(x):
    """Return the whole number nearest to x, |x| < 2^22."""
    return (x + _ROUND) - _ROUND


@njit(**EXACT)
def copy(x, out):
    """Write x into the beginning of `out`."""
    for i in range(x.size):
        out[i] = x[i]


@njit(**EXACT)
def exp(x):
    """Return e^x for x ≤ 88, within 2 units of the last place (Cephes, expf)."""
    x = x if x > _LOWEST else _LOWEST
    n = rounded(x * _LOG2_E)
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    p = ((((_C7 * r + _C6) * r + _C5) * r + _C4) * r + _C3) * r + _C2
    power = (np.int32(n) + np.int32(127)) << np.int32(23)
    return (p * r * r + r + ONE) * float_of_bits(power)  # pyright: ignore


@njit(**LOOSE)
def rms_norm(x, gain, out):
    """Write x / rms(x) · gain into `out`, all of one length."""
    total = ZERO
    for i in range(x.size):
        total += x[i] * x[i]
    factor = ONE / np.sqrt(total / np.float32(x.size) + _EPS)
    for i in range(x.size):
        out[i] = x[i] * factor * gain[i]


@njit(**ORDERED)
def largest(x):
    """Return the largest of x (N ≥ 1)."""
    best = x[0]
    for i in range(x.size):
        best = x[i] if x[i] > best else best
    return best


@njit(**ORDERED)
def _largest(x):
    best = ZERO
    for i in range(x.size):
        size = abs(x[i])
        best = size if size > best else best
    return best


@njit(**LOOSE)
def _total(x):
    total = ZERO
    for i in range(x.size):
        total += abs(x[i])
    return total


@njit(**EXACT)
def _checked(scale, total):
    """Return a scale to divide by; nan if what it was made from is not finite."""
    if not total < np.float32(np.inf):
        return _NAN
    return max(scale, _TINY)


def narrow(x, out):
    """Write x into `out` as its type allows, zeros behind; return what to multiply it by.

    The largest int8 number becomes 127. int16 numbers are as large as can be while 127 times
    their sum still fits an int32. float32 numbers stay as they are.
    """
    raise TypeError("narrow exists in compiled code only")


@overload(narrow, jit_options=EXACT)  # pyright: ignore
def _narrow(x, out):
    def to_int8(x, out):
        scale = _checked(_largest(x) / _LARGEST_INT8, _total(x))
        inverse = ONE / scale
        for i in range(x.size):
            out[i] = np.int8(rounded(x[i] * inverse))
        for i in range(x.size, out.size):
            out[i] = 0
        return scale

    def to_int16(x, out):
        total = _total(x)
        scale = _checked(max(_largest(x) / _LARGEST_INT16, total / _LARGEST_SUM), total)
        inverse = ONE / scale
        for i in range(x.size):
            out[i] = np.int16(rounded(x[i] * inverse))
        for i in range(x.size, out.size):
            out[i] = 0
        return scale

    def to_float32(x, out):
        for i in range(x.size):
            out[i] = x[i]
        for i in range(x.size, out.size):
            out[i] = ZERO
        return ONE

    if out.dtype == types.int8:
        return to_int8
    return to_int16 if out.dtype == types.int16 else to_float32
