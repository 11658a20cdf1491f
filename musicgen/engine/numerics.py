"""Compiled pieces of arithmetic: norms, exponentials, and rounding numbers to fewer bits.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from the arrays that are passed in

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

from musicgen.engine.vectors import bits_of_float, float_of_bits, part

ZERO, ONE = np.float32(0), np.float32(1)
_EPS = np.float32(1e-6)
_TINY, _INFINITY, _NAN = np.float32(1e-30), np.float32(np.inf), np.float32(np.nan)
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

# All is put inline: a function that is called could be one that this process compiled by itself,
# or the copy that lies in a cached file, and the two need not round alike.
EXACT = {
    "fastmath": {"contract"},
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "forceinline": True,
}
LOOSE = {**EXACT, "fastmath": {"contract", "reassoc", "nsz"}}
"""Sums in any order, so that they fill a machine's vectors. Never numba's whole "fastmath": a
damaged model's nan must stay one, to be refused."""


@njit(**EXACT)
def rounded(x):
    """Return the whole number nearest to x, |x| < 2^22."""
    return (x + _ROUND) - _ROUND


@njit(**EXACT)
def are_ids(ids, n_ids):
    """Whether each of the first attributes is one of its ids: compiled code looks at no bounds."""
    n_others = 0
    for k in range(ids.size):
        n_others += ids[k] < 0 or ids[k] >= n_ids[k]
    return n_others == 0


@njit(**EXACT)
def copy(x, out):
    """Write x into the beginning of `out`."""
    for i in range(x.size):
        out[i] = x[i]


@njit(**EXACT)
def exp(x):
    """Return e^x for x ≤ 88, within 2 units of the last place (Cephes, expf); nan for nan."""
    x = _LOWEST if x < _LOWEST else x
    n = rounded(x * _LOG2_E)
    r = x - n * _LN2_HIGH - n * _LN2_LOW
    p = ((((_C7 * r + _C6) * r + _C5) * r + _C4) * r + _C3) * r + _C2
    power = (np.int32(n) + np.int32(127)) << np.int32(23)
    return (p * r * r + r + ONE) * float_of_bits(power)  # pyright: ignore


@njit(**EXACT)
def add(x, out):
    """Add x to `out`."""
    for i in range(x.size):
        out[i] += x[i]


@njit(**EXACT)
def gate(x, out):
    """Write silu(first half of x) · second half (SwiGLU)."""
    first, second = part(x, 0, out.size), part(x, out.size, out.size)
    for i in range(out.size):
        out[i] = first[i] / (ONE + exp(-first[i])) * second[i]


@njit(**EXACT)
def rotate(x, cos, sin, scale):
    """Turn each pair (i, i + D / 2) of x by its angle, and scale it."""
    low, high = part(x, 0, cos.size), part(x, cos.size, cos.size)
    for i in range(cos.size):
        a, b = low[i] * scale, high[i] * scale
        low[i] = a * cos[i] - b * sin[i]
        high[i] = b * cos[i] + a * sin[i]


@njit(**EXACT)
def sum_rows(table, first_row, ids, out):
    """Sum the rows of a table (rows · C): for each k the one at first_row[k] + ids[k]."""
    for i in range(out.size):
        out[i] = ZERO
    for k in range(ids.size):
        add(part(table, (first_row[k] + ids[k]) * out.size, out.size), out)


@njit(**LOOSE)
def rms_norm(x, gain, out):
    """Write x / rms(x) · gain into `out`, all of one length."""
    total = ZERO
    for i in range(x.size):
        total += x[i] * x[i]
    factor = ONE / np.sqrt(total / np.float32(x.size) + _EPS)
    for i in range(x.size):
        out[i] = x[i] * factor * gain[i]


@njit(**LOOSE)
def softmax(score, value_scale):
    """Turn scores into weights times the values' scales; return what to divide by."""
    best = highest(score)
    total = ZERO
    for i in range(score.size):
        weight = exp(score[i] - best)
        total += weight
        score[i] = weight * value_scale[i]
    return total


@njit(**EXACT)
def highest(x):
    """Return the largest of x (N ≥ 1); see `_ordered`."""
    best = _ordered(bits_of_float(x[0]))
    for i in range(x.size):
        bits = _ordered(bits_of_float(x[i]))
        best = bits if bits > best else best
    return float_of_bits(_ordered(best))


@njit(**EXACT)
def _ordered(bits):
    """Turn a float's bits into a whole number of the same order, and back.

    LLVM makes vectors of whole-number comparisons; of float ones only if no nan may come.
    """
    return bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))


@njit(**EXACT)
def _largest(x):
    """Return the largest |x|; nan if there is a nan."""
    best = np.int32(0)
    for i in range(x.size):
        bits = bits_of_float(x[i]) & np.int32(0x7FFFFFFF)
        best = bits if bits > best else best
    return float_of_bits(best)


@njit(**LOOSE)
def _total(x):
    total = ZERO
    for i in range(x.size):
        total += abs(x[i])
    return total


@njit(**EXACT)
def _checked(scale):
    """Return a scale that can be divided by; nan if it is not finite."""
    return max(scale, _TINY) if scale < _INFINITY else _NAN


def narrow(x, out):
    """Write x into `out` as its type allows, zeros behind; return what to multiply it by.

    The largest int8 number becomes 127. int16 numbers are as large as can be while 127 times
    their sum still fits an int32. float32 numbers stay as they are.
    """
    raise TypeError("narrow exists in compiled code only")


@overload(narrow, jit_options=EXACT)  # pyright: ignore
def _narrow(x, out):
    def to_int8(x, out):
        scale = _checked(_largest(x) / _LARGEST_INT8)
        inverse = ONE / scale
        for i in range(x.size):
            out[i] = np.int8(rounded(x[i] * inverse))
        for i in range(x.size, out.size):
            out[i] = 0
        return scale

    def to_int16(x, out):
        scale = _checked(max(_largest(x) / _LARGEST_INT16, _total(x) / _LARGEST_SUM))
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


def spread(x, out, start, step):
    """Write x into `out` in groups, one every `step`: int8 in pairs, float32 singly."""
    raise TypeError("spread exists in compiled code only")


@overload(spread, jit_options=EXACT)  # pyright: ignore
def _spread(x, out, start, step):
    def pairs(x, out, start, step):
        for i in range(x.size // 2):
            out[start + i * step] = x[2 * i]
            out[start + i * step + 1] = x[2 * i + 1]

    def singles(x, out, start, step):
        for i in range(x.size):
            out[start + i * step] = x[i]

    return pairs if out.dtype == types.int8 else singles
