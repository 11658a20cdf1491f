"""Building, training and running miditok's tokenizers for the flat schemes; imports miditok.

A score comes to miditok on the grid of 10 ms: 50 ticks a beat at 120 beats a minute, whatever its
tempo map was, with the pedal folded in. Its beats are only a measure of real time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import miditok
from tokenizers import Tokenizer as BytePairs
from tokenizers import models, trainers

from musicgen.errors import TokenizerError
from musicgen.midi.notes import NoteTable, notes_to_score
from musicgen.tokens.flat_vocabulary import SPECIAL_TOKENS, STEPS_PER_BEAT
from musicgen.tokens.grid import VELOCITY_BINS, from_grid, to_grid

_CLASSES = {"tsd": miditok.TSD, "remi": miditok.REMI, "midilike": miditok.MIDILike}

# Positions a beat, by the beats from which to which: 10 ms to a second, then within 3% to 32 s.
_BEAT_RESOLUTION = {(0, 2): STEPS_PER_BEAT, (2, 4): 10, (4, 16): 5, (16, 32): 2, (32, 64): 1}

# A whole piece would be one word to byte-pair encoding, whose training remembers every word.
_WORD_TOKENS = 256

Vocabulary = list[list[str]]


def untrained(scheme: str) -> tuple[dict[str, Any], Vocabulary]:
    """Miditok's parameters of a scheme, and the token each id stands for."""
    config = miditok.TokenizerConfig(
        pitch_range=(0, 127),
        beat_res=_BEAT_RESOLUTION,
        num_velocities=VELOCITY_BINS,
        special_tokens=SPECIAL_TOKENS,
        encode_ids_split="no",
        use_time_signatures=False,
        use_pitchdrum_tokens=False,
        remove_duplicated_notes=False,
    )
    tokenizer = _CLASSES[scheme](config)
    # The versions of the libraries decide no id: they would only make fingerprints differ.
    parameters = {key: tokenizer.to_dict()[key] for key in ("config", "tokenization")}
    ids: dict[str, int] = dict(tokenizer.vocab)
    return parameters, [[token] for token in sorted(ids, key=lambda token: ids[token])]


def trained(
    scheme: str, tables: Iterable[NoteTable], vocab_size: int
) -> tuple[dict[str, Any], Vocabulary]:
    """The same, with byte-pair encoding learnt from music.

    Raises:
        TokenizerError: `vocab_size` leaves no room for pairs.
    """
    parameters, tokens = untrained(scheme)
    if vocab_size <= len(tokens):
        raise TokenizerError(
            f"The vocabulary of {scheme} is to have {vocab_size} ids; allowed are more than "
            f"{len(tokens)}.",
            hint=f"Try {max(1024, 2 * len(tokens))}.",
        )
    base = _build(scheme, json.dumps(parameters))
    # miditok writes every token as one character; its own training draws progress bars.
    token_of = dict(base._vocab_base_byte_to_token)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=list(token_of), show_progress=False
    )
    pairs = BytePairs(models.BPE())
    pairs.train_from_iterator(_words(base, tables), trainer=trainer)
    parameters |= {
        "_vocab_base": {token: index for index, (token,) in enumerate(tokens)},
        "_vocab_base_byte_to_token": token_of,
        "_model": pairs.to_str(),
    }
    words = sorted(pairs.get_vocab().items(), key=lambda item: item[1])
    return parameters, [[token_of[character] for character in word] for word, _ in words]


def encode(scheme: str, parameters_text: str, notes: NoteTable) -> list[int]:
    """The ids of notes, without start and end."""
    return _encode(_build(scheme, parameters_text), notes)


def _words(base: Any, tables: Iterable[NoteTable]) -> Iterator[str]:
    for table in tables:
        written = "".join(base._ids_to_bytes(_encode(base, table)))
        for first in range(0, len(written), _WORD_TOKENS):
            yield written[first : first + _WORD_TOKENS]


def _encode(tokenizer: Any, notes: NoteTable) -> list[int]:
    if not len(notes):
        return []
    on_grid, _ = from_grid(to_grid(notes))
    (sequence,) = tokenizer.encode(notes_to_score(on_grid, ticks_per_quarter=STEPS_PER_BEAT))
    return sequence.ids


@lru_cache(maxsize=8)
def _build(scheme: str, parameters_text: str) -> Any:
    """Miditok's tokenizer; it is mutable, so it never leaves this file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        # miditok takes the keys in turn, and needs the model before what it makes of it.
        parameters = sorted(json.loads(parameters_text).items())
        path.write_text(json.dumps(dict(parameters)), encoding="utf-8")
        try:
            return _CLASSES[scheme](params=path)
        except Exception as error:  # tokenizers raises nothing narrower
            raise TokenizerError(
                f"miditok cannot read the parameters of the scheme {scheme}: {error}.",
                hint="The checkpoint's tokenizer.json is damaged: copy the checkpoint again.",
            ) from error
