"""Where the marks of an axis stand, and what is written beside them."""

from __future__ import annotations

import math

_TIMES_S = (
    0.1,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    15,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    21600,
    86400,
)


def time_step(seconds: float, width_px: float, *, apart_px: float = 80.0) -> float:
    """Return a round number of seconds between marks at least `apart_px` apart."""
    least = seconds * apart_px / max(width_px, 1.0)
    return next((step for step in _TIMES_S if step >= least), math.ceil(least / 86400) * 86400.0)


def round_step(span: float, marks: int) -> float:
    """Return 1, 2 or 5 times a power of ten such that about `marks` steps fill `span`."""
    least = max(span, 1e-12) / max(marks, 1)
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def marks(first: float, last: float, step: float) -> list[float]:
    """Return the multiples of `step` from `first` to `last`."""
    begin, end = math.ceil(first / step - 1e-9), math.floor(last / step + 1e-9)
    return [n * step for n in range(begin, end + 1)]


def clock(seconds: float, step: float = 1.0) -> str:
    """Return a time as m:ss, h:mm:ss or, for steps below a second, m:ss.t."""
    tenths = round(seconds * 10)
    whole, tenth = divmod(tenths, 10)
    minutes, rest = divmod(whole, 60)
    hours, minutes_left = divmod(minutes, 60)
    text = f"{hours}:{minutes_left:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{text}.{tenth}" if step < 1 else text
