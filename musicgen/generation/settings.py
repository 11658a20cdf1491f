"""How the next event is chosen among those the model thinks possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from musicgen.errors import ConfigError
from musicgen.generation.numbers import real_number, shown, whole_number

#: Attributes whose values are steps of a scale, of which no single one is likely: by default they
#: take no nucleus, since that keeps the few steps that are likely by themselves, and music becomes
#: short, dry and even (docs/lab_log.md).
SCALES = ("gap", "velocity", "length")
DEFAULT_TOP_P = 0.95

#: The range of each setting, as messages quote it.
RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 100.0),
    "top_p": (0.0, 1.0),
    "top_k": (0, 1_000_000),
    "min_p": (0.0, 1.0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeSettings:
    """The filters of one attribute's draw, in the order in which they apply.

    Attributes:
        temperature: What scores are divided by; 0 always takes the most probable.
        top_k: How many of the most probable remain; 0 for all.
        top_p: The probability that those which remain reach together; 1 for all.
        min_p: How probable those which remain are at least, relative to the most probable.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def heated(self, temperature: float) -> AttributeSettings:
        """Return settings that leave the beaten path: at least this warm, and less filtered."""
        return AttributeSettings(
            temperature=max(self.temperature, temperature),
            top_k=0,
            top_p=max(self.top_p, 0.98),
            min_p=min(self.min_p, 0.02),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingSettings:
    """The filters of the draw, in the order in which they apply.

    Attributes:
        temperature: Above 1 flattens the model's probabilities, below 1 sharpens them; 0 always
            takes the most probable.
        top_k: Only the k most probable remain; 0 keeps all.
        top_p: Only the most probable that together reach this probability remain; 1 keeps all,
            0 only the first. None: `DEFAULT_TOP_P` for attributes that name things, 1 for those
            measured in narrow steps (`SCALES`).
        min_p: Only those at least this share as probable as the most probable remain; 0 keeps all.
        per_attribute: Other values for single attributes of an event, by the attribute's name:
            `{"velocity": {"temperature": 0.8}}`.

    Raises:
        ConfigError: A setting is out of its range or unknown.
    """

    temperature: float = 1.0
    top_p: float | None = None
    top_k: int = 0
    min_p: float = 0.0
    per_attribute: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in RANGES:
            if name != "top_p" or self.top_p is not None:
                _check(name, getattr(self, name))
        _check_table("per_attribute", self.per_attribute)
        for attribute, overrides in self.per_attribute.items():
            _check_table(f"per_attribute[{attribute!r}]", overrides)
            for name, value in overrides.items():
                if name not in RANGES:
                    raise ConfigError(
                        f"There is no sampling setting {name!r} for the attribute {attribute!r}.",
                        hint=f"The settings are {', '.join(RANGES)}.",
                    )
                _check(name, value)

    def resolve(self, attribute_names: tuple[str, ...]) -> tuple[AttributeSettings, ...]:
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
        return tuple(self._of(name) for name in attribute_names)

    def _of(self, name: str) -> AttributeSettings:
        top_p = self.top_p
        if top_p is None:
            top_p = 1.0 if name in SCALES else DEFAULT_TOP_P
        shared = AttributeSettings(
            temperature=self.temperature, top_k=self.top_k, top_p=top_p, min_p=self.min_p
        )
        return replace(shared, **self.per_attribute.get(name, {}))  # type: ignore[arg-type]


def _check(name: str, value: float) -> None:
    low, high = RANGES[name]
    whole = name == "top_k"
    number = whole_number(value) if whole else real_number(value)
    if number is None or not low <= number <= high:
        kind = "a whole number" if whole else "a number"
        raise ConfigError(
            f"{name} is {shown(value)}; it must be {kind} from {low:g} to {high:g}.",
            hint=f"Choose {name} in that range.",
        )


def _check_table(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise ConfigError(
            f"{name} is {shown(value)}; it must be a mapping.",
            hint='An example of per_attribute: {"velocity": {"temperature": 0.8}}.',
        )
