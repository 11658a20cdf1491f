"""What every tokenizer offers: music becomes events of K attributes, and events become music.

Arrays: T events, K attributes of an event, V vocabulary of one attribute, N notes.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable, fold_pedal, note_table, notes_to_score

if TYPE_CHECKING:
    from symusic.core import ScoreTick

FORMAT = "musicgen-tokenizer"
VERSION = 1

Event = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedEvents:
    """The music in a sequence of events, and what had to be mended to play it.

    Attributes:
        notes: The notes, in the order of a NoteTable.
        note_index: (T,) int64, the row in `notes` of the note an event begins, -1 without one.
        onset_s: (T,) float64, the clock after each event: the onset of its note.
        repairs: What was skipped or mended: (code, how often), by code.
    """

    notes: NoteTable
    note_index: np.ndarray
    onset_s: np.ndarray
    repairs: tuple[tuple[str, int], ...]

    @property
    def n_repairs(self) -> int:
        """How many things were mended in all."""
        return sum(count for _, count in self.repairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedEvent:
    """One event at its time; without a note (a rest, an end) pitch, velocity and end_s are None."""

    onset_s: float
    end_s: float | None = None
    pitch: int | None = None
    velocity: int | None = None
    is_end: bool = False


class EventClock(Protocol):
    """Tells the time of events one by one, while they are being sampled."""

    @property
    def now_s(self) -> float:
        """The onset of the last event, in seconds."""
        ...

    def copy(self) -> EventClock:
        """Return a clock that tells the same time, and goes on by itself."""
        ...

    def push(self, event: Event) -> PlayedEvent:
        """Take the next event, and tell when it sounds."""
        ...

    def lengths_s(self, previous: Event) -> np.ndarray | None:
        """Return how long a note sounds with each id of its last attribute (V,), in seconds.

        Args:
            previous: The attributes before that one.

        Returns:
            NaN for ids that say no length at this moment; None where lengths have no attribute.
            Only to be read.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How music differs from what was played, for training.

    Attributes:
        semitones: Up, or down where negative.
        stretch: How long all times become, as a multiple.
        velocity_bins: Louder, or softer where negative.
    """

    semitones: int = 0
    stretch: float = 1.0
    velocity_bins: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemeFacts:
    """What a tokenizer tells about itself; see the properties of `Tokenizer`."""

    scheme: str
    attribute_names: tuple[str, ...]
    vocab_sizes: tuple[int, ...]
    grid_ms: float
    velocity_bins: int


class Tokenizer(ABC):
    """Music to events and back. Immutable: one may be shared by threads, takes and models."""

    __slots__ = ()

    @property
    @abstractmethod
    def _facts(self) -> SchemeFacts: ...

    @property
    def scheme(self) -> str:
        """The name under which `get_tokenizer` knows it."""
        return self._facts.scheme

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The K attributes of an event, in the order in which they are predicted."""
        return self._facts.attribute_names

    @property
    def vocab_sizes(self) -> tuple[int, ...]:
        """How many ids each of the K attributes has."""
        return self._facts.vocab_sizes

    @property
    def grid_ms(self) -> float:
        """The grid of onsets, in milliseconds."""
        return self._facts.grid_ms

    @property
    def velocity_bins(self) -> int:
        """How many velocities are told apart."""
        return self._facts.velocity_bins

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Everything that decides which ids a piece gets, as JSON values."""

    @abstractmethod
    def encode_notes(self, notes: NoteTable, *, end: bool = True) -> np.ndarray:
        """Encode notes in seconds, taken as they are; see `encode`."""

    @abstractmethod
    def decode_events(self, ids: np.ndarray, *, after: np.ndarray | None = None) -> DecodedEvents:
        """Turn any integers (T, K) into notes; never fails on their values.

        Args:
            ids: The events.
            after: Events (S, K) before them, whose notes they may refer to. Times count from
                their last onset, and they are not decoded again.

        Raises:
            ValueError: `ids` is not an integer array of shape (T, K).
        """

    @abstractmethod
    def legal(self, k: int, previous: Event) -> np.ndarray:
        """Which ids attribute `k` may take after the event's earlier attributes.

        Args:
            k: The attribute, 0 to K - 1.
            previous: The k ids of the same event before it.

        Returns:
            (V_k,) bool, read-only, never all False. PAD and START are never legal.
        """

    @abstractmethod
    def clock(self, start_s: float = 0.0, *, after: np.ndarray | None = None) -> EventClock:
        """A clock for events that follow an onset at `start_s`, and the events `after` (S, K)."""

    @abstractmethod
    def describe(self, event: Event) -> str:
        """Say an event in words."""

    @abstractmethod
    def n_notes(self, ids: np.ndarray) -> int:
        """How many notes the events (T, K) hold."""

    def vary(self, ids: np.ndarray, variation: Variation) -> np.ndarray:
        """Return the events of the same music in another key, tempo or touch.

        Args:
            ids: Events (T, K), a piece or a stretch of one. Music that would leave the keyboard is
                moved as far as it goes.
            variation: What to change.

        Raises:
            TokenizerError: The scheme's ids cannot be varied one by one.
        """
        raise TokenizerError(
            f"The scheme {self.scheme} cannot vary music that is already encoded.",
            hint="Leave out the augment_ settings, or train with --scheme piano.",
        )

    @property
    def n_attributes(self) -> int:
        """K, the attributes of an event."""
        return len(self.attribute_names)

    @property
    def pad_id(self) -> int:
        """The id that fills up shorter sequences, in every attribute."""
        return 0

    @property
    def start_event(self) -> Event:
        """The event before the first of every piece."""
        return (1,) * self.n_attributes

    @property
    def end_event(self) -> Event:
        """The event that ends a piece."""
        return (2,) * self.n_attributes

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the description: equal fingerprints, equal ids."""
        return hashlib.sha256(_canonical(self._description()).encode()).hexdigest()

    def encode(self, source: ScoreTick | NoteTable, *, end: bool = True) -> np.ndarray:
        """Turn music into events.

        Args:
            source: A score, whose notes of all tracks but drums are read with the pedal folded
                into their lengths; or notes in seconds, taken as they are.
            end: Whether the end event comes last.

        Returns:
            (T, K) int64; the first row is the start event.

        Raises:
            TokenizerError: The music is too long for the scheme.
        """
        if not isinstance(source, NoteTable):
            source = fold_pedal(note_table(source), source)
        return self.encode_notes(source, end=end)

    def decode(self, ids: np.ndarray) -> ScoreTick:
        """Turn events into a score of one piano at 120 bpm, one tick a millisecond."""
        return notes_to_score(self.decode_events(ids).notes)

    def to_json(self) -> str:
        """The whole tokenizer as JSON text; `tokenizer_from_json` reads it back."""
        return json.dumps({**self._description(), "fingerprint": self.fingerprint}, indent=1)

    def _description(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "scheme": self.scheme,
            "settings": self.settings(),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.scheme!r}, vocab_sizes={self.vocab_sizes})"


def checked_ids(ids: np.ndarray, n_attributes: int) -> np.ndarray:
    """Return `ids` as int64 (T, K).

    Raises:
        ValueError: Another shape, or not integers.
    """
    array = np.asarray(ids)
    if array.ndim != 2 or array.shape[1] != n_attributes:
        raise ValueError(f"ids have shape {array.shape}; expected (T, {n_attributes})")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"ids are {array.dtype}; expected integers")
    return array.astype(np.int64, copy=False)


def _canonical(description: dict[str, Any]) -> str:
    return json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
