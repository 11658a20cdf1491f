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

    A matrix at least twice as wide as high takes two polynomials at a time, as one of X · Xᵀ, which
    is small beside it. Three would lose too much to rounding: what they scale up, 134 times where
    it is small, must come out right beside what they leave as it is.

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
    squares = part(groups, 2 * size, 3 * (square // 2))
    loose = part(groups, 2 * size + 3 * (square // 2), few)
    sums, panel = part(floats, 0, square), part(floats, square, n_rows * WIDTH)
    scale = ONE / (margin * _norm(x) + _TINY)
    for j in range(padded // WIDTH):
        _load(x, steps, shape, scale, j * WIDTH, panel)
        _round(panel, loose, part(columns, j * few, few), part(by_rows, j * few, few))
    n_at_once = 2 if shape[1] >= 2 * shape[0] else 1
    for i in range(0, coefficients.shape[0], n_at_once):
        n_now = min(n_at_once, coefficients.shape[0] - i)
        _lower_half(columns, columns, n_rows, sums)
        _mirror(sums, n_rows, part(squares, 0, square // 2))
        factor = _compose(part(coefficients.reshape(-1), 3 * i, 3 * n_now), n_rows, squares, sums)
        matrix = part(squares, square // 2, square // 2)
        for j in range(padded // WIDTH):
            here = part(by_rows, j * few, few)
            _read(here, factor, panel)
            for r in range(0, n_rows, _TILE):
                _multiply(
                    *(matrix, r, 1, n_rows, here, 0, WIDTH, n_rows // 2),
                    *(panel, r * WIDTH, WIDTH, True),
                )
            if i + n_now < coefficients.shape[0]:
                _round(panel, loose, part(columns, j * few, few), here)
            else:
                _store(panel, steps, shape, j * WIDTH, out)


def room(n_rows: int, n_columns: int) -> tuple[int, int]:
    """Return how many int32 and float32 numbers a thread needs at R and C."""
    n_rows, padded = (-(-n // WIDTH) * WIDTH for n in (n_rows, n_columns))
    square = n_rows * n_rows
    return (n_rows * (2 * padded + WIDTH) + 3 * square) // 2, square + n_rows * WIDTH


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
def _compose(coefficients, n, squares, sums):
    """Make one matrix of one polynomial of G, or of two, the second of what the first makes of G.

    With G = X · Xᵀ, the first one's a + P is a + b · G + c · G², and the second's d + Q is made of
    (a + P) · G · (a + P); together they are a · d + (d · P + a · Q + P · Q).

    Args:
        coefficients: Three of each.
        n: Rows of G.
        squares: Room for three matrices as pairs of rows: G, which is lost; written, what comes
            with `factor`; and one between.
        sums: Room for a matrix.

    Returns:
        factor: How often 1 comes with the matrix.
    """
    half = n * n // 2
    gram, first = part(squares, 0, half), part(squares, half, half)
    between = part(squares, 2 * half, half)
    a, b, c = coefficients[0], coefficients[1], coefficients[2]
    _combine(gram, gram, n, (b, ZERO, c), sums, first)
    if coefficients.size == 3:
        return a
    _combine(first, gram, n, (ZERO, a, ONE), sums, between)
    _combine(first, between, n, (ZERO, a, ONE), sums, gram)
    d, e, f = coefficients[3], coefficients[4], coefficients[5]
    _combine(gram, gram, n, (e, ZERO, f), sums, between)
    _combine(first, between, n, (d, a, ONE), sums, first)
    return a * d


@njit(**EXACT)
def _combine(left, right, n, factors, sums, out):
    """Write multiples of L, of R and of L · R, added up, of two symmetric matrices that commute.

    Args:
        left: L as pairs of rows, which are its pairs of columns.
        right: R as pairs of rows.
        n: Rows.
        factors: Of L, R and L · R.
        sums: Room for a matrix.
        out: Written, as pairs of rows; may be L or R.
    """
    _lower_half(left, right, n, sums)
    of_left, of_right, of_product = factors
    for r in range(0, n, 2):
        pairs, others = part(left, r // 2 * n, r + 2), part(right, r // 2 * n, r + 2)
        upper, lower = part(sums, r * n, r + 2), part(sums, (r + 1) * n, r + 2)
        for i in range(r + 2):
            with_left, with_right = pairs[i], others[i]
            upper[i] = (
                of_left * float_of_bits(with_left << _HALF)
                + of_right * float_of_bits(with_right << _HALF)
                + of_product * upper[i]
            )
            lower[i] = (
                of_left * float_of_bits(with_left & _HIGH)
                + of_right * float_of_bits(with_right & _HIGH)
                + of_product * lower[i]
            )
    _mirror(sums, n, out)


@njit(**EXACT)
def _lower_half(left, right, n_rows, out):
    """Multiply X, as pairs of columns, with Y, as pairs of rows, as far as the diagonal's tiles."""
    n_pairs = left.size // n_rows
    for j in range(0, n_rows, WIDTH):
        for r in range(j, n_rows, _TILE):
            _multiply(
                *(left, r, 1, n_rows, right, j, n_rows, n_pairs),
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
