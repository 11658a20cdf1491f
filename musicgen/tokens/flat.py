"""The flat schemes: miditok's TSD, REMI and MIDI-like tokens, one id a position (K = 1).

They are for comparison, and for those who know miditok. Decoding reads the vocabulary that is
saved with the tokenizer, so only encoding and training import miditok.

Arrays: T events, K = 1 attribute, V vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable, fold_pedal, note_table
from musicgen.tokens import flat_decode
from musicgen.tokens.base import DecodedEvents, Event, SchemeFacts, Tokenizer
from musicgen.tokens.flat_vocabulary import Expansion, read_vocabulary
from musicgen.tokens.grid import GRID_MS, VELOCITY_BINS

if TYPE_CHECKING:
    from symusic.core import ScoreTick

_PARAMETERS = {"config", "tokenization", "_vocab_base", "_vocab_base_byte_to_token", "_model"}
_SPECIAL_WORDS = ("padding", "start", "end")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FlatTokenizer(Tokenizer):
    """One of miditok's schemes, with or without byte-pair encoding; see `get_tokenizer`."""

    _facts: SchemeFacts  # pyright: ignore[reportIncompatibleMethodOverride]
    _parameters_text: str
    _vocabulary_text: str
    _vocabulary: tuple[Expansion, ...]

    @classmethod
    def untrained(cls, scheme: str) -> FlatTokenizer:
        """The bare vocabulary of a scheme."""
        from musicgen.tokens import flat_miditok

        return cls._of(scheme, *flat_miditok.untrained(scheme))

    @classmethod
    def from_settings(cls, scheme: str, settings: Any) -> FlatTokenizer:
        """Rebuild a tokenizer from its `settings`.

        Raises:
            TokenizerError: They are not settings of a flat tokenizer.
        """
        if not isinstance(settings, dict) or not {"miditok", "vocabulary"} <= settings.keys():
            raise TokenizerError(
                f"The settings of the tokenizer {scheme} lack miditok's parameters.",
                hint="The checkpoint's tokenizer.json is damaged: copy the checkpoint again.",
            )
        parameters = settings["miditok"]
        # miditok makes an attribute of any other key, over its own methods too.
        if not isinstance(parameters, dict) or not parameters.keys() <= _PARAMETERS:
            raise TokenizerError(
                f"The tokenizer {scheme} holds parameters that are not miditok's.",
                hint="The checkpoint's tokenizer.json is damaged: copy the checkpoint again.",
            )
        return cls._of(scheme, parameters, settings["vocabulary"])

    @classmethod
    def _of(cls, scheme: str, parameters: Any, vocabulary: Any) -> FlatTokenizer:
        expansions = read_vocabulary(vocabulary)
        facts = SchemeFacts(
            scheme=scheme,
            attribute_names=("token",),
            vocab_sizes=(len(expansions),),
            grid_ms=GRID_MS,
            velocity_bins=VELOCITY_BINS,
        )
        return cls(
            _facts=facts,
            _parameters_text=json.dumps(parameters),
            _vocabulary_text=json.dumps(vocabulary),
            _vocabulary=expansions,
        )

    def settings(self) -> dict[str, Any]:
        """Miditok's parameters, and the tokens that each id stands for."""
        return {
            "miditok": json.loads(self._parameters_text),
            "vocabulary": json.loads(self._vocabulary_text),
        }

    def encode_notes(self, notes: NoteTable, *, end: bool = True) -> np.ndarray:
        """Encode notes in seconds; see `Tokenizer.encode`."""
        from musicgen.tokens import flat_miditok

        ids = flat_miditok.encode(self.scheme, self._parameters_text, notes)
        ids = [*self.start_event, *ids, *(self.end_event if end else ())]
        return np.array(ids, dtype=np.int64)[:, None]

    def decode_events(self, ids: np.ndarray, *, after: np.ndarray | None = None) -> DecodedEvents:
        """Turn any integers (T, 1) into notes; see flat_decode.py."""
        del after  # no token refers to an earlier note
        return flat_decode.decode_events(ids, self.scheme, self._vocabulary)

    def legal(self, k: int, previous: Event) -> np.ndarray:
        """All but padding and start: which token may follow which is left to the model."""
        if k != 0 or len(previous):
            raise ValueError(f"attribute {k} after {len(previous)} earlier ones; expected 0")
        mask = np.arange(self.vocab_sizes[0]) > flat_decode.START
        mask.flags.writeable = False
        return mask

    def clock(
        self, start_s: float = 0.0, *, after: np.ndarray | None = None
    ) -> flat_decode.FlatClock:
        """A clock for ids that follow an onset at `start_s`."""
        del after  # no token refers to an earlier note
        return flat_decode.FlatClock(flat_decode.reader(self.scheme, self._vocabulary), start_s)

    def describe(self, event: Event) -> str:
        """Say an id in words: `key 64, velocity 67, for 50 steps`."""
        (token_id,) = event
        if 0 <= token_id < len(_SPECIAL_WORDS):
            return _SPECIAL_WORDS[token_id]
        if not 0 <= token_id < len(self._vocabulary):
            return "nothing that can be played"
        return ", ".join(str(symbol) for symbol in self._vocabulary[token_id])

    def n_notes(self, ids: np.ndarray) -> int:
        """How many notes the ids (T, 1) hold."""
        return len(self.decode_events(ids).notes)


def train_flat_tokenizer(
    scheme: str, scores: Iterable[ScoreTick | NoteTable], vocab_size: int = 1024
) -> FlatTokenizer:
    """Learn byte-pair encoding for a flat scheme from music.

    Args:
        scheme: One of FLAT_SCHEMES.
        scores: The music, as `Tokenizer.encode` takes it; read once, one after another.
        vocab_size: How many ids there are to be, the scheme's own tokens included.

    Raises:
        TokenizerError: No flat scheme, or `vocab_size` is too small.
    """
    from musicgen.tokens.registry import FLAT_SCHEMES

    if scheme not in FLAT_SCHEMES:
        raise TokenizerError(
            f"{scheme!r} is no flat scheme.", hint=f"Choose one of {', '.join(FLAT_SCHEMES)}."
        )
    from musicgen.tokens import flat_miditok

    tables = (
        source if isinstance(source, NoteTable) else fold_pedal(note_table(source), source)
        for source in scores
    )
    return FlatTokenizer._of(scheme, *flat_miditok.trained(scheme, tables, vocab_size))
