"""What is written down of a take beside its MIDI file: a small JSON file, strict, versioned."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from musicgen.pipeline import Take

TAKE_NAME: Final = re.compile(r"[0-9a-f]{32}")
MOST_VOTES: Final = 40
LONGEST_TITLE: Final = 80
THUMB_WIDTH, THUMB_HEIGHT = 96, 28
_THUMB: Final = re.compile(rf"[A-Za-z0-9+/]{{{THUMB_WIDTH * THUMB_HEIGHT // 6}}}")
_MOST_WARNINGS, _LONGEST_TEXT, _LONGEST_WORD = 24, 400, 200
_LATEST_S: Final = 2.0**32  # in 2106: a zip tells no later time
_LONGEST_S: Final = 1e6  # of music; a file of the longest has a day
_WORDS: Final = ("finish_reason", "engine", "model", "model_sha256")

Verdict = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """How a take did beside another one, by ear and without names.

    Attributes:
        other: The other take.
        verdict: Of this one.
        at_s: When, in seconds since 1970.
    """

    other: str
    verdict: Verdict
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSettings:
    """What was asked for.

    Attributes:
        seconds: Length of the new music.
        seed: What was asked for; None drew one, which the take tells.
        model_folder: Of a model that was trained here; None for the studio's own.
    """

    seconds: float
    temperature: float
    top_p: float | None
    top_k: int
    min_p: float
    seed: int | None
    model_folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOrigin:
    """What music a take goes on from.

    Attributes:
        title: What that is called; foreign text.
        take: Its name, if it is a take; it may be gone.
        at_s: Where it was cut; None for all of it.
    """

    title: str
    take: str | None = None
    at_s: float | None = None

    def __post_init__(self) -> None:
        _check_text(self.title, LONGEST_TITLE)
        if self.take is not None:
            _check_name(self.take)
        if self.at_s is not None:
            _check_number(self.at_s, _LONGEST_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeFacts:
    """What the pipeline told of a take (`pipeline.Take`), but for the music itself."""

    notes: int
    seconds: float
    prompt_seconds: float
    prompt_notes: int
    seed: int
    finish_reason: str
    events: int
    events_per_s: float
    engine: str
    model: str
    model_sha256: str
    repairs: int
    warnings: tuple[str, ...]
    new_from: int

    def __post_init__(self) -> None:
        for number in (self.seconds, self.prompt_seconds):
            _check_number(number, _LONGEST_S)
        for name in _WORDS:
            _check_text(getattr(self, name), _LONGEST_WORD)
        if len(self.warnings) > _MOST_WARNINGS:
            raise ValueError(f"there are {len(self.warnings)} warnings, more than a take has")
        for text in self.warnings:
            _check_text(text, _LONGEST_TEXT)

    @classmethod
    def of(cls, take: Take) -> TakeFacts:
        """Return the facts of a take."""
        told: dict[str, Any] = {each.name: getattr(take, each.name) for each in fields(cls)}
        short = {name: value[:_LONGEST_WORD] for name, value in told.items() if name in _WORDS}
        warnings = tuple(text[:_LONGEST_TEXT] for text in take.warnings[:_MOST_WARNINGS])
        return cls(**{**told, **short, "warnings": warnings})


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeSheet:
    """All that is known of a take, but for its music.

    Attributes:
        version: Of this format.
        id: 128 random bits in hexadecimal: its name in addresses and on the disk.
        title: What its visitor calls it; foreign text.
        number: How many takes were made before it, and one.
        made_s: When, in seconds since 1970.
        is_starred: Whether it stays when others make room.
        facts: What the pipeline told.
        settings: What was asked for.
        origin: What it goes on from; None for a piece of its own.
        votes: How it did beside others, oldest first.
        thumb: A picture of its notes, `THUMB_WIDTH` × `THUMB_HEIGHT` bits from the top left, the
            highest bit of a byte first, in base64.
        midi_sha256: Of the MIDI file.
        events_sha256: Of the file with its events.
    """

    version: Literal[1] = 1
    id: str
    title: str
    number: int
    made_s: float
    is_starred: bool = False
    facts: TakeFacts
    settings: TakeSettings
    origin: TakeOrigin | None = None
    votes: tuple[Vote, ...] = ()
    thumb: str
    midi_sha256: str
    events_sha256: str

    def __post_init__(self) -> None:
        _check_name(self.id)
        _check_text(self.title, LONGEST_TITLE)
        _check_number(self.made_s, _LATEST_S)
        if len(self.votes) > MOST_VOTES:
            raise ValueError(f"there are {len(self.votes)} votes; {MOST_VOTES} are kept")
        if _THUMB.fullmatch(self.thumb) is None:
            raise ValueError("thumb is no picture")


def _check_name(name: str) -> None:
    if TAKE_NAME.fullmatch(name) is None:
        raise ValueError(f"{name[:40]!r} is no take's name")


def _check_number(number: float, most: float) -> None:
    if not 0 <= number < most:  # nor is NaN
        raise ValueError(f"a number is not from 0 to {most:g}")


def _check_text(text: str, longest: int) -> None:
    if len(text) > longest:
        raise ValueError(f"a text is {len(text)} characters long; {longest} are the most")
