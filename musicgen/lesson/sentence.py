"""A sentence of the visitor's through attention, with weights that are random but named by a seed.

Nothing here is trained: the numbers show how attention computes, not what words mean.
T tokens   C width of the model
"""

from __future__ import annotations

import hashlib
import math
import unicodedata

import torch
from torch import Tensor

from musicgen.errors import ConfigError
from musicgen.lesson.steps import Lesson, Projections, take_apart
from musicgen.model.rope import sinusoidal_encoding

MAX_CHARACTERS = 80
MAX_TOKENS = 12


def split_sentence(text: str) -> tuple[str, ...]:
    """Return the words and the marks of a sentence, in small letters: `How are you?` gives four.

    Letters, digits and the marks that belong to them make words; control characters and whatever
    lies beyond the limits are left out.

    Returns:
        At most `MAX_TOKENS` tokens, of the first `MAX_CHARACTERS` characters.
    """
    return _words(text)[:MAX_TOKENS]


def words_in(text: str) -> int:
    """Return how many words and marks a sentence has, of which `split_sentence` takes the first."""
    return len(_words(text))


def _words(text: str) -> tuple[str, ...]:
    tokens: list[str] = []
    is_word = False
    for char in unicodedata.normalize("NFC", text)[:MAX_CHARACTERS].lower():
        kind = unicodedata.category(char)[0]
        if kind in "LNM":
            if is_word:
                tokens[-1] += char
            elif kind != "M":
                tokens.append(char)
            is_word = is_word or kind != "M"
        else:
            is_word = False
            if kind in "PS":
                tokens.append(char)
    return tuple(tokens)


def sentence_lesson(
    text: str, *, d_model: int = 16, n_heads: int = 2, seed: int = 42, causal: bool = True
) -> Lesson:
    """Return one layer of attention over a sentence.

    Embeddings are drawn by word and seed, so a word that comes twice has one embedding; they are
    scaled by √C before the sinusoidal position is added (Vaswani et al. 2017, section 3.4).

    Args:
        text: The sentence; see `split_sentence`.
        d_model: C, an even number.
        n_heads: H; divides C.
        seed: Names the random numbers.
        causal: Let no token see a later one.

    Raises:
        ConfigError: There is no word in it.
        ValueError: C does not split into H heads.
    """
    tokens = split_sentence(text)
    if not tokens:
        raise ConfigError(
            "There is no word in that sentence.", hint="Type a few words.", code="no-words"
        )
    embedding = torch.stack([_embedding(token, d_model, seed) for token in tokens])
    position = sinusoidal_encoding(len(tokens), d_model)
    generator = torch.Generator().manual_seed(seed)
    q, k, v, out = (
        torch.empty(d_model, d_model).normal_(0.0, d_model**-0.5, generator=generator)
        for _ in range(4)
    )
    return take_apart(
        embedding * math.sqrt(d_model) + position,
        Projections(q=q, k=k, v=v, out=out),
        n_heads=n_heads,
        causal=causal,
        tokens=tokens,
        parts={"embedding": embedding, "position": position},
    )


def _embedding(token: str, d_model: int, seed: int) -> Tensor:
    """Return a word's own random numbers (C,), of standard deviation 1/√C."""
    digest = hashlib.sha256(f"{seed} {token}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:7], "big"))
    return torch.empty(d_model).normal_(0.0, d_model**-0.5, generator=generator)
