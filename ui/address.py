"""The settings in the page's address: read strictly, written without what is left as it comes.

An address is somebody else's text. Whoever opens it gets the same settings, and with a seed the
same piece; what it asks for that is not possible here is left out, and named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Value = int | float | str | None

LENGTHS_S: Final = (5, 120)
VARIETIES: Final = (0.5, 1.5)
TOP_PS: Final = (0.0, 1.0)
TOP_KS: Final = (0, 128)
MIN_PS: Final = (0.0, 0.3)
MAX_SEED: Final = 2**32 - 1
COUNTS: Final = (1, 4)
DEFAULTS: Final[dict[str, Any]] = {
    "length": 30,
    "variety": 1.0,
    "top_p": None,
    "top_k": 0,
    "min_p": 0.0,
    "seed": None,
    "count": 1,
    "model": "",
}
"""What the settings are before anybody touches them, by their names on the page.

The studio's own model is "" and not None, of which Streamlit makes a box with nothing chosen.
"""

_NUMBER: Final = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
_DIGITS: Final = 4  # behind the point: what a slider can set, without the noise of its sums
_MOST_NAMED, _LONGEST_NAMED = 6, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting that is a number: its name on the page, its range, and whether it counts."""

    name: str
    low: float
    high: float
    whole: bool

    def read(self, text: str) -> int | float | None:
        """Return the value; None if it is no number in the range."""
        if not _NUMBER.fullmatch(text) or (self.whole and "." in text):
            return None
        value = int(text) if self.whole else float(text)
        return value if self.low <= value <= self.high else None


_SETTINGS: Final = {
    "seconds": Setting(name="length", low=LENGTHS_S[0], high=LENGTHS_S[1], whole=True),
    "temperature": Setting(name="variety", low=VARIETIES[0], high=VARIETIES[1], whole=False),
    "top_p": Setting(name="top_p", low=TOP_PS[0], high=TOP_PS[1], whole=False),
    "top_k": Setting(name="top_k", low=TOP_KS[0], high=TOP_KS[1], whole=True),
    "min_p": Setting(name="min_p", low=MIN_PS[0], high=MIN_PS[1], whole=False),
    "seed": Setting(name="seed", low=0, high=MAX_SEED, whole=True),
    "takes": Setting(name="count", low=COUNTS[0], high=COUNTS[1], whole=True),
}
MODEL: Final = "model"
NAMES: Final = (*_SETTINGS, MODEL)
"""What the settings are called in the address: as on the command line."""


def rounded(value: float) -> float:
    """Return a setting without the noise of a slider's sums: 0.85 for 0.8500000000000001."""
    return round(float(value), _DIGITS)


def ours(params: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return what of an address's parameters is ours."""
    return {name: tuple(params[name]) for name in NAMES if name in params}


def read(
    params: Mapping[str, Sequence[str]], model: Callable[[str], str | None]
) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Return the settings that an address asks for, and what of it is not possible here.

    Args:
        params: The address's parameters, each with all its values.
        model: Returns which model an address names: "" for the studio's own, None for none.

    Returns:
        Every setting by its name on the page, defaults where the address says nothing; and what was
        left out, as it stands in the address (foreign text, shortened).
    """
    asked, left_out = taken(
        ours(params),
        lambda name, text: model(text) if name == MODEL else _SETTINGS[name].read(text),
    )
    settings: dict[str, Value] = dict(DEFAULTS)
    for name, value in asked.items():
        settings[name if name == MODEL else _SETTINGS[name].name] = value
    return settings, left_out


def taken(
    params: Mapping[str, Sequence[str]], meant: Callable[[str, str], Value]
) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Return what each parameter says, and those that say nothing that is possible here.

    Args:
        params: Each with all its values; with two it says nothing.
        meant: Returns the value that is meant by (name, text), or None.

    Returns:
        The values by the parameters' names; and what was left out, as it stands in the address
        (foreign text, shortened).
    """
    found: dict[str, Value] = {}
    left_out: list[str] = []
    for name, values in params.items():
        value = meant(name, values[0]) if len(values) == 1 else None
        if value is None:
            told = f"{name}={', '.join(values)}"
            left_out.append(told if len(told) <= _LONGEST_NAMED else f"{told[:_LONGEST_NAMED]}…")
        else:
            found[name] = value
    return found, tuple(left_out[:_MOST_NAMED])


def written(
    settings: Mapping[str, Any], model: Callable[[str], str | None]
) -> dict[str, tuple[str, ...]]:
    """Return the parameters that say these settings; defaults are left out.

    Args:
        settings: By their names on the page.
        model: Returns what an address calls a model, or None for nothing.
    """
    params: dict[str, tuple[str, ...]] = {}
    for name, known in _SETTINGS.items():
        value = settings[known.name]
        if value is not None and rounded(value) != DEFAULTS[known.name]:
            params[name] = (number_text(rounded(value)),)
    called = model(settings[MODEL]) if settings[MODEL] else None
    if called is not None:
        params[MODEL] = (called,)
    return params


def number_text(value: float) -> str:
    """Return a number as an address has it, never as 1e-05."""
    if value.is_integer():
        return str(int(value))
    return f"{value:.{_DIGITS}f}".rstrip("0")
