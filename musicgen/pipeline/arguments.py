"""What a caller asks for, checked before anything is computed."""

from __future__ import annotations

import secrets

import numpy as np

from musicgen.errors import ConfigError
from musicgen.generation.numbers import real_number, shown, whole_number

LARGEST_SEED = 2**63 - 1
MOST_THREADS = 4096


def checked_seed(seed: int | None) -> int:
    """Return the seed, or draw one.

    Raises:
        ConfigError: It is out of range.
    """
    if seed is None:
        return secrets.randbits(32)
    number = whole_number(seed)
    if number is None or not 0 <= number <= LARGEST_SEED:
        raise ConfigError(
            f"The seed is {shown(seed)}; it must be a whole number from 0 to 2^63 - 1.",
            hint="Leave it out to have one drawn.",
        )
    return number


def checked_span(seconds: float | None) -> float | None:
    """Return how much of a file is to be used; None is all of it.

    Raises:
        ConfigError: It is not above 0.
    """
    if seconds is None:
        return None
    number = real_number(seconds)
    if number is None or not 0 < number < float("inf"):
        raise ConfigError(
            f"The part of the file to use is {shown(seconds)} s long; it must be above 0.",
            hint="Leave it out to use the whole file.",
        )
    return number


def checked_choice(name: str, value: bool) -> bool:
    """Return a choice of two.

    Args:
        name: What it is called.
        value: What was given.

    Raises:
        ConfigError: It is neither True nor False; "no" would count as true.
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ConfigError(
            f"{name} is {shown(value)}; it must be True or False.",
            hint=f"Leave {name} out for False.",
        )
    return bool(value)


def checked_threads(threads: int | None) -> int | None:
    """Return how many threads torch takes an operation; None leaves them alone.

    Raises:
        ConfigError: It is no number of threads.
    """
    if threads is None:
        return None
    number = whole_number(threads)
    if number is None or not 1 <= number <= MOST_THREADS:
        raise ConfigError(
            f"threads is {shown(threads)}; it must be a whole number from 1 to {MOST_THREADS:,}.",
            hint="1 is the robust choice; leave it out to leave torch's threads alone.",
        )
    return number


def check_parts(model: object, tokenizer: object) -> None:
    """Refuse what is no model or no tokenizer.

    Raises:
        TypeError: One is something else.
    """
    from torch.nn import Module

    from musicgen.tokens import Tokenizer

    for what, value, kind in (("model", model, Module), ("tokenizer", tokenizer, Tokenizer)):
        if not isinstance(value, kind):
            raise TypeError(
                f"the {what} is no {what} but {type(value).__name__}; MusicPipeline.load makes a "
                "pipeline of a checkpoint"
            )


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
