"""The piano scheme as one of miditok's own tokenizers, for those who work with miditok.

A multi-vocabulary tokenizer, as miditok's Octuple and CPWord are. Its ids are those of the
tokenizer "piano", start and end included, so `DatasetMIDI` needs no `bos_token_id` of its own.
Importing this module imports miditok and torch, which takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import miditok
import numpy as np
from miditok import TokenizerConfig, TokSequence

from musicgen.errors import TokenizerError
from musicgen.tokens.grid import N_PITCHES, VELOCITY_BINS
from musicgen.tokens.piano import PianoTokenizer
from musicgen.tokens.piano_vocabulary import (
    FIRST_VELOCITY,
    LENGTH_STEPS,
    MAX_GAP_STEPS,
    MOST_SHARED,
    velocity_of,
)

if TYPE_CHECKING:
    from symusic.core import ScoreTick


class PianoEventTokenizer(miditok.MusicTokenizer):
    """Events (Gap, Pitch, Velocity, Duration) as miditok tokens; times in steps of 10 ms.

    All settings are fixed: `tokenizer_config` may be given, as miditok's tools do, and is ignored.

    Raises:
        TokenizerError: The file to load was saved by another version of the scheme.
    """

    #: Position of each type of token within an event, as Octuple has it.
    vocab_types_idx: Mapping[str, int] = {"Gap": 0, "Pitch": 1, "Velocity": 2, "Duration": 3}

    _piano = PianoTokenizer()

    def _tweak_config_before_creating_voc(self) -> None:
        saved = getattr(self, "piano_fingerprint", self._piano.fingerprint)
        if saved != self._piano.fingerprint:
            raise TokenizerError(
                f"The saved tokenizer's fingerprint is {saved}; this version's is "
                f"{self._piano.fingerprint}.",
                hint="Use the version of musicgen that saved it, or save it anew.",
            )
        self.config = TokenizerConfig(
            pitch_range=(0, N_PITCHES - 1),
            num_velocities=VELOCITY_BINS,
            special_tokens=["PAD", "BOS", "EOS"],
            use_programs=True,
            one_token_stream_for_programs=True,
            programs=[0],
            use_time_signatures=False,
            use_pitchdrum_tokens=False,
            remove_duplicated_notes=False,
        )

    def _create_base_vocabulary(self) -> list[list[str]]:  # pyright: ignore
        velocities = range(FIRST_VELOCITY, FIRST_VELOCITY + VELOCITY_BINS)
        return [
            [f"Gap_{steps}" for steps in range(MAX_GAP_STEPS + 1)],
            ["Pitch_Rest", *(f"Pitch_{pitch}" for pitch in range(N_PITCHES))],
            ["Velocity_None", *(f"Velocity_{velocity_of(index)}" for index in velocities)],
            [
                "Duration_None",
                *(f"Duration_{steps}" for steps in LENGTH_STEPS),
                *(f"Duration_Shared{n}" for n in range(1, MOST_SHARED + 1)),
            ],
        ]

    def preprocess_score(self, score: ScoreTick) -> ScoreTick:
        """The score as it will come back: one piano track at 120 bpm, the pedal folded in."""
        return self._piano.decode(self._piano.encode(score))

    def _score_to_tokens(
        self, score: ScoreTick, attribute_controls_indexes: Any = None
    ) -> TokSequence:
        del attribute_controls_indexes
        sequence = TokSequence(ids=self._piano.encode(score).tolist())
        self.complete_sequence(sequence)
        return sequence

    def _preprocess_tokseq_before_decoding(self, tokseq: TokSequence) -> None:
        # miditok looks up the token of every id, and stumbles over ids that do not exist.
        if not len(tokseq.ids):
            self.complete_sequence(tokseq)

    def _tokens_to_score(
        self,
        tokens: TokSequence | list[TokSequence],
        programs: list[tuple[int, bool]] | None = None,
    ) -> ScoreTick:
        del programs
        sequence = tokens[0] if isinstance(tokens, list) else tokens
        return self._piano.decode(_array(sequence.ids))

    def _tokens_errors(self, tokens: Sequence[Sequence[str]]) -> int:
        ids = self._tokens_to_ids([list(event) for event in tokens])
        return self._piano.decode_events(_array(ids)).n_repairs

    def _add_time_events(self, events: list[Any], time_division: int) -> list[Any]:
        # miditok's way from a score to tokens leads through this; ours does not.
        raise TypeError("PianoEventTokenizer encodes whole scores, not lists of events")

    def _create_token_types_graph(self) -> dict[str, set[str]]:
        return {}  # as Octuple: every event has the same types

    def to_dict(self) -> dict[str, Any]:
        """What is saved: miditok's parameters and the fingerprint of the scheme."""
        return {**super().to_dict(), "piano_fingerprint": self._piano.fingerprint}


def _array(ids: Sequence[Any]) -> np.ndarray:
    return np.array(ids, dtype=np.int64).reshape(-1, PianoTokenizer().n_attributes)
