"""How the next event is chosen among those the model thinks possible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from musicgen.errors import ConfigError

#: Attributes whose values are steps of a scale, of which no single one is likely.
SCALES = ("gap", "velocity", "length")

#: The range of each setting, as messages quote it.
RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 100.0),
    "top_p": (0.0, 1.0),
    "top_k": (0, 1_000_000),
    "min_p": (0.0, 1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """The filters of the draw, in the order in which they apply.

    Attributes:
        temperature: Above 1 flattens the model's probabilities, below 1 sharpens them; 0 always
            takes the most probable.
        top_k: Only the k most probable remain; 0 keeps all.
        top_p: Only the most probable that together reach this probability remain; 1 keeps all,
            0 only the first. Attributes that are measured in narrow steps (`SCALES`) are left out,
            unless it is 0 or `per_attribute` names them: a nucleus keeps the few steps that are
            likely by themselves, and music becomes short, dry and even.
        min_p: Only those at least this share as probable as the most probable remain; 0 keeps all.
        per_attribute: Other values for single attributes of an event, by the attribute's name:
            `{"velocity": {"temperature": 0.8}}`.

    Raises:
        ConfigError: A setting is out of its range or unknown.
    """

    temperature: float = 1.0
    top_p: float = 0.95
    top_k: int = 0
    min_p: float = 0.0
    per_attribute: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in RANGES:
            _check(name, getattr(self, name))
        for attribute, overrides in self.per_attribute.items():
            for name, value in overrides.items():
                if name not in RANGES:
                    raise ConfigError(
                        f"There is no sampling setting {name!r} for the attribute {attribute!r}.",
                        hint=f"The settings are {', '.join(RANGES)}.",
                    )
                _check(name, value)

    def resolve(self, attribute_names: tuple[str, ...]) -> tuple[SamplingSettings, ...]:
        """Return the settings of each of the K attributes.

        Raises:
            ConfigError: `per_attribute` names an attribute that an event does not have.
        """
        unknown = [name for name in self.per_attribute if name not in attribute_names]
        if unknown:
            raise ConfigError(
                f"The model's events have no attribute {unknown[0]!r}.",
                hint=f"Its attributes are {', '.join(attribute_names)}.",
            )
        plain = replace(self, per_attribute={})
        whole = replace(plain, top_p=1.0 if self.top_p else 0.0)
        return tuple(
            replace(whole if name in SCALES else plain, **self.per_attribute.get(name, {}))  # type: ignore[arg-type]
            for name in attribute_names
        )

    def heated(self, temperature: float) -> SamplingSettings:
        """Return settings that leave the beaten path: at least this warm, and less filtered."""
        return replace(
            self,
            temperature=max(self.temperature, temperature),
            top_p=max(self.top_p, 0.98),
            top_k=0,
            min_p=min(self.min_p, 0.02),
        )


def _check(name: str, value: float) -> None:
    low, high = RANGES[name]
    whole = name == "top_k"
    number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        raise ConfigError(
            f"{name} is {value!r}; it must be {kind} from {low:g} to {high:g}.",
            hint=f"Choose {name} in that range.",
        )
