"""What a stream of music yields."""

from __future__ import annotations

from dataclasses import dataclass, field

from musicgen.engine import StepDecoder
from musicgen.tokens import PlayedEvent

Event = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefilled:
    """The prompt was taken; the model sees its last `seen_events` events.

    Attributes:
        seen_events: How many of the prompt's events it sees.
        steps: What decodes the take: for whoever has several takes read together.
    """

    seen_events: int
    steps: StepDecoder = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventMade:
    """One more event.

    Attributes:
        index: Its number among the new ones.
        event: Its K ids.
        played: When it sounds, and what.
        clock_s: The instant from which the times of all new events up to this one count.
        again: It was made and withdrawn before, and is now back for good.
    """

    index: int
    event: Event
    played: PlayedEvent
    clock_s: float
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedBack:
    """The new events from number `index` on are withdrawn; others may come.

    Attributes:
        index: The first that is withdrawn.
        why: What was noticed, or "another-ending" where nothing was wrong.
    """

    index: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """There is no more.

    Attributes:
        reason: "length" (what was asked for is reached), "end" (the model ended the piece) or
            "event_limit" (the model stood still).
        notices: What was noticed and sampled again in the music that remains, as (why, how often).
        end_chance: The probability of an end that the model saw where the music ends; None where
            it was not asked.
    """

    reason: str
    notices: tuple[tuple[str, int], ...]
    end_chance: float | None = None


StreamEvent = Prefilled | EventMade | SteppedBack | Finished
