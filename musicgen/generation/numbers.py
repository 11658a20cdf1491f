"""Numbers from callers: of any kind (numpy's, too), and never a truth or a text taken for one."""

from __future__ import annotations

import operator

import numpy as np

_NO_NUMBERS = (bool, np.bool_, str, bytes, bytearray, complex)
_MOST_SHOWN = 60  # characters


def whole_number(value: object) -> int | None:
    """Return a whole number as an int; None for what is none."""
    if isinstance(value, _NO_NUMBERS):
        return None
    try:
        return operator.index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return None


def real_number(value: object) -> float | None:
    """Return a number as a float; None for what is none, and for what no float can hold."""
    if isinstance(value, _NO_NUMBERS) or getattr(value, "ndim", 0):
        return None
    try:
        return float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, OverflowError):
        return None


def shown(value: object) -> str:
    """Return a value as a sentence repeats it: cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of thousands of digits
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."
