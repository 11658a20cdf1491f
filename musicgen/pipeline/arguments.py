"""What a caller asks for, checked before anything is computed."""

from __future__ import annotations

import secrets

from musicgen.errors import ConfigError

LARGEST_SEED = 2**63 - 1


def checked_seed(seed: int | None) -> int:
    """Return the seed, or draw one.

    Raises:
        ConfigError: It is out of range.
    """
    if seed is None:
        return secrets.randbits(32)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= LARGEST_SEED:
        raise ConfigError(
            f"The seed is {seed!r}; it must be a whole number from 0 to 2^63 - 1.",
            hint="Leave it out to have one drawn.",
        )
    return seed


def checked_span(seconds: float | None) -> float | None:
    """Return how much of a file is to be used; None is all of it.

    Raises:
        ConfigError: It is not above 0.
    """
    if seconds is None:
        return None
    number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not number or not 0 < seconds < float("inf"):
        raise ConfigError(
            f"The part of the file to use is {seconds!r} s long; it must be above 0.",
            hint="Leave it out to use the whole file.",
        )
    return float(seconds)


def checked_engine(name: str) -> str:
    """Return the engine's name.

    Raises:
        ConfigError: There is no such engine.
    """
    from musicgen.engine import ENGINES  # torch comes with it

    if name not in ENGINES:
        raise ConfigError(
            f"There is no engine {name!r}.", hint=f"The engines are {', '.join(ENGINES)}."
        )
    return name
