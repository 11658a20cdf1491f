"""Muon's polynomials as compiled code: a matrix made nearly orthogonal, in bf16, half for free.

    R rows   C columns, at least R   N rows, and P columns, with padding   I polynomials

X · Xᵀ and its square are symmetric, so that only the half under the diagonal has to be multiplied,
for which torch has no product in bf16. A matrix is one thread's work; between its products numbers
are float32. Rows and columns of zeros behind it change nothing.

This module imports numba: import it only where something is to be computed.
"""
# ruff: noqa: ANN001, ANN201, ANN202  numba takes the types from the arrays that are passed in

from __future__ import annotations

import numpy as np
from numba import njit

from musicgen.engine.numerics import EXACT, LOOSE, ONE, ZERO
from musicgen.engine.products import (
    LANES,
    make_product,
    tile_of_this_machine,
    write_column_pairs,
    write_pairs,
)
from musicgen.engine.rows import across
from musicgen.engine.vectors import float_of_bits, part

_TILE, _N_VECTORS = tile_of_this_machine()
WIDTH = LANES * _N_VECTORS
"""Columns of a tile, of which matrices have a whole number."""
_multiply = make_product(_TILE, _N_VECTORS)
_TINY = np.float32(1e-7)
_HALF, _HIGH = np.int32(16), np.int32(-65536)


def apply_polynomials(x, out, steps, shape, margin, coefficients, groups, floats):
    """Write X · p(X · Xᵀ) for each polynomial p in turn, of a matrix X scaled to its norm.

    Args:
        x: The matrix, float32, one-dimensional.
        out: Written: of x's form.
        steps: How far rows and columns lie apart.
        shape: R and C.
        margin: How often X's norm goes into its largest singular value at most.
        coefficients: (I, 3), float32: of 1, of X · Xᵀ and of its square.
        groups: Room of int32, `room` says how much.
        floats: Room of float32.
    """
    n_rows, padded = _whole(shape[0]), _whole(shape[1])
    size, square, few = n_rows * padded // 2, n_rows * n_rows, n_rows * WIDTH // 2
    columns, by_rows = part(groups, 0, size), part(groups, size, size)
    gram_by_rows = part(groups, 2 * size, square // 2)
    loose = part(groups, 2 * size + square // 2, few)
    gram, squared = part(floats, 0, square), part(floats, square, square)
    panel = part(floats, 2 * square, n_rows * WIDTH)
    scale = ONE / (margin * _norm(x) + _TINY)
    for j in range(padded // WIDTH):
        _load(x, steps, shape, scale, j * WIDTH, panel)
        _round(panel, loose, part(columns, j * few, few), part(by_rows, j * few, few))
    for i in range(coefficients.shape[0]):
        _lower_half(columns, n_rows, gram)
        _mirror(gram, n_rows, gram_by_rows)
        _lower_half(gram_by_rows, n_rows, squared)
        _combine(gram_by_rows, squared, n_rows, coefficients[i, 1], coefficients[i, 2])
        _mirror(squared, n_rows, gram_by_rows)
        for j in range(padded // WIDTH):
            here = part(by_rows, j * few, few)
            _read(here, coefficients[i, 0], panel)
            for r in range(0, n_rows, _TILE):
                _multiply(
                    *(gram_by_rows, r, 1, n_rows, here, 0, WIDTH, n_rows // 2),
                    *(panel, r * WIDTH, WIDTH, True),
                )
            if i + 1 < coefficients.shape[0]:
                _round(panel, loose, part(columns, j * few, few), here)
            else:
                _store(panel, steps, shape, j * WIDTH, out)


def room(n_rows: int, n_columns: int) -> tuple[int, int]:
    """Return how many int32 and float32 numbers a thread needs at R and C."""
    n_rows, padded = (-(-n // WIDTH) * WIDTH for n in (n_rows, n_columns))
    square = n_rows * n_rows
    return (n_rows * (2 * padded + WIDTH) + square) // 2, 2 * square + n_rows * WIDTH


@njit(**EXACT)
def _whole(n):
    """Round a number of rows or columns up to whole tiles."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


@njit(**LOOSE)
def _norm(x):
    """Return √Σ x²."""
    total = ZERO
    for i in range(x.size):
        total += x[i] * x[i]
    return np.sqrt(total)


@njit(**EXACT)
def _load(x, steps, shape, scale, begin, panel):
    """Copy a panel of columns of a matrix, with zeros around it."""
    n_columns = min(WIDTH, shape[1] - begin)
    for i in range(panel.size):
        panel[i] = ZERO
    if steps[1] == 1:
        for r in range(shape[0]):
            given, row = part(x, r * steps[0] + begin, n_columns), part(panel, r * WIDTH, WIDTH)
            for c in range(n_columns):
                row[c] = given[c] * scale
        return
    for first in range(0, shape[0], LANES):  # few rows at a time, which lie side by side
        for c in range(n_columns):
            for r in range(first, min(first + LANES, shape[0])):
                panel[r * WIDTH + c] = x[r * steps[0] + (begin + c) * steps[1]] * scale


@njit(**EXACT)
def _store(panel, steps, shape, begin, out):
    """Write a panel of columns to where `_load` has it from."""
    n_columns = min(WIDTH, shape[1] - begin)
    if steps[1] == 1:
        for r in range(shape[0]):
            row, made = part(panel, r * WIDTH, WIDTH), part(out, r * steps[0] + begin, n_columns)
            for c in range(n_columns):
                made[c] = row[c]
        return
    for first in range(0, shape[0], LANES):
        for c in range(n_columns):
            for r in range(first, min(first + LANES, shape[0])):
                out[r * steps[0] + (begin + c) * steps[1]] = panel[r * WIDTH + c]


@njit(**EXACT)
def _round(panel, loose, columns, by_rows):
    """Round a panel of columns: to pairs of columns, each along the rows, and to pairs of rows."""
    write_pairs(panel, loose)
    across(loose, WIDTH // 2, columns)
    for r in range(0, panel.size // WIDTH, 2):
        upper, lower = part(panel, r * WIDTH, WIDTH), part(panel, (r + 1) * WIDTH, WIDTH)
        write_column_pairs(upper, lower, part(by_rows, r // 2 * WIDTH, WIDTH))


@njit(**EXACT)
def _read(by_rows, factor, panel):
    """Turn a panel's pairs of rows back into numbers, times a factor."""
    for r in range(0, panel.size // WIDTH, 2):
        pairs = part(by_rows, r // 2 * WIDTH, WIDTH)
        upper, lower = part(panel, r * WIDTH, WIDTH), part(panel, (r + 1) * WIDTH, WIDTH)
        for i in range(WIDTH):
            upper[i] = factor * float_of_bits(pairs[i] << _HALF)
            lower[i] = factor * float_of_bits(pairs[i] & _HIGH)


@njit(**EXACT)
def _lower_half(columns, n_rows, out):
    """Multiply X with Xᵀ, given as pairs of columns, as far as the diagonal's tiles."""
    n_pairs = columns.size // n_rows
    for j in range(0, n_rows, WIDTH):
        for r in range(j, n_rows, _TILE):
            _multiply(
                *(columns, r, 1, n_rows, columns, j, n_rows, n_pairs),
                *(out, r * n_rows + j, n_rows, False),
            )


@njit(**EXACT)
def _mirror(x, n, by_rows):
    """Copy what lies under the diagonal over it, and round all to pairs of rows."""
    for begin in range(0, n, LANES):
        for first in range(0, begin + LANES, LANES):
            for c in range(first, first + LANES):
                for r in range(max(begin, c + 1), begin + LANES):
                    x[c * n + r] = x[r * n + c]
    for r in range(0, n, 2):
        upper, lower = part(x, r * n, n), part(x, (r + 1) * n, n)
        write_column_pairs(upper, lower, part(by_rows, r // 2 * n, n))


@njit(**EXACT)
def _combine(gram, squared, n, b, c):
    """Turn the square's lower half, and a little more, into b times the matrix and c times it."""
    for r in range(0, n, 2):
        pairs = part(gram, r // 2 * n, r + 2)
        upper, lower = part(squared, r * n, r + 2), part(squared, (r + 1) * n, r + 2)
        for i in range(r + 2):
            upper[i] = b * float_of_bits(pairs[i] << _HALF) + c * upper[i]
            lower[i] = b * float_of_bits(pairs[i] & _HIGH) + c * lower[i]
