"""Continuation fit, the judge, and the trigram's takes that the judge must see through."""

from __future__ import annotations

import numpy as np
import pytest

from musicgen.evaluation import (
    Excerpt,
    Trigram,
    TrigramSampler,
    continuation_fit,
    cut_excerpt,
    cut_excerpts,
    measure,
    told_apart,
)
from musicgen.evaluation.continuation import TRAITS, trait_distances
from musicgen.evaluation.discriminator import fit
from musicgen.midi import NoteTable
from musicgen.tokens import get_tokenizer


def played(
    seed: int, *, seconds: float = 20.0, pitch: int = 60, loud: int = 60, per_s: float = 5.0
) -> NoteTable:
    rng = np.random.default_rng(seed)
    n = int(seconds * per_s)
    onset = np.sort(rng.uniform(0, seconds, n))
    scale = np.array([0, 2, 4, 5, 7, 9, 11, 12])
    return NoteTable.of(
        onset,
        onset + 0.3,
        pitch + scale[rng.integers(0, 8, n)],
        np.clip(loud + rng.integers(-6, 7, n), 1, 127),
    )


def excerpt(notes: NoteTable, piece: str, seconds: float) -> Excerpt:
    return cut_excerpt(notes, piece=piece, start_s=0.0, seconds=seconds)


def kinds(seed: int, seconds: float) -> list[Excerpt]:
    """Return one excerpt of each of twelve kinds of music."""
    return [
        excerpt(
            played(seed + i, seconds=seconds, pitch=45 + 3 * i, loud=40 + 4 * i, per_s=3 + i),
            str(i),
            seconds,
        )
        for i in range(12)
    ]


def test_music_of_one_kind_is_nearer_to_itself() -> None:
    found = continuation_fit(kinds(100, 10.0), kinds(200, 20.0))
    assert found.pairs == 12
    assert found.nearer > 0.95
    assert set(found.nearer_by_trait) == set(TRAITS)


def test_continuations_of_other_prompts_are_not_nearer() -> None:
    shuffled = kinds(200, 20.0)[::-1]
    assert continuation_fit(kinds(100, 10.0), shuffled).nearer < 0.4


def test_each_trait_by_hand() -> None:
    one = excerpt(NoteTable.of([0, 1, 2], [1, 2, 3], [60, 62, 64], [50, 50, 50]), "a", 10.0)
    other = excerpt(
        NoteTable.of([0, 2, 4, 6, 6.5, 8], [1, 3, 5, 6.4, 7, 9], [72] * 6, [80] * 6), "b", 10.0
    )
    key, density, register, dynamics, tempo = trait_distances([one], [other])[:, 0, 0]
    assert 0 < key < 1
    assert (density, register, dynamics, tempo) == pytest.approx((1.0, 10.0, 30.0, 1.0))


def test_silence_is_near_to_nothing() -> None:
    """Guards a continuation without notes counting as well fitted."""
    silent = [excerpt(NoteTable.of([], [], [], []), e.piece, 20.0) for e in kinds(1, 10.0)]
    assert continuation_fit(kinds(100, 10.0), silent).nearer == 0.0


def test_prompts_of_the_same_piece_are_not_compared() -> None:
    prompts = kinds(100, 10.0)
    with pytest.raises(ValueError, match="one piece"):
        continuation_fit(prompts[:1] * 2, kinds(200, 20.0)[:2])
    with pytest.raises(ValueError, match="12 prompts and 11"):
        continuation_fit(prompts, kinds(200, 20.0)[:11])


def measured(seeds: range, **music: float) -> list:
    return [
        measure(e)
        for seed in seeds
        for e in cut_excerpts(played(seed, seconds=42.0, **music), piece=str(seed), seconds=20.0)
    ]


def test_the_judge_sees_a_difference_and_only_where_there_is_one() -> None:
    rng = np.random.default_rng(0)
    same = told_apart(measured(range(40)), measured(range(40, 80)), generator=rng)
    louder = told_apart(measured(range(40)), measured(range(40, 80), loud=75), generator=rng)
    assert same < 0.7
    assert louder > 0.95


def test_the_judge_never_learns_from_the_piece_it_judges() -> None:
    """Guards excerpts of one piece on both sides: pieces of a kind of their own look known then.

    Half the real pieces are loud and half the generated ones too, so that nothing can be learned
    but which piece is which.
    """
    real = [m for seed in range(20) for m in measured(range(seed, seed + 1), pitch=40 + 2 * seed)]
    made = [
        m for seed in range(20) for m in measured(range(50 + seed, 51 + seed), pitch=41 + 2 * seed)
    ]
    assert told_apart(real, made, generator=np.random.default_rng(0)) < 0.7


def test_the_regression_weighs_both_kinds_alike() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(-1, 1, (900, 1)), rng.normal(1, 1, (100, 1))])
    weights = fit(rows, np.repeat([0.0, 1.0], [900, 100]))
    assert weights[0] > 0.5
    assert -weights[1] / weights[0] == pytest.approx(0.0, abs=0.25)  # the border lies half-way


def test_too_few_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="3 pieces"):
        told_apart(measured(range(3)), measured(range(9)), generator=np.random.default_rng(0))


def test_the_trigram_plays_what_it_has_counted() -> None:
    tokenizer = get_tokenizer("piano")
    scale = played(0, seconds=60.0)
    trigram = Trigram(tokenizer.vocab_sizes).fit([tokenizer.encode(scale)])
    take = TrigramSampler(trigram, tokenizer).take(20.0, np.random.default_rng(1))
    again = TrigramSampler(trigram, tokenizer).take(20.0, np.random.default_rng(1))
    np.testing.assert_array_equal(take.onset_s, again.onset_s)
    assert take.onset_s.max() >= 18.0
    known = np.isin(take.pitch, scale.pitch).mean()
    assert known > 0.8  # the rest comes from Witten and Bell's uniform share


def test_trigram_draws_are_as_likely_as_what_it_was_fitted_on() -> None:
    """Guards sampling and scoring by different rules: contexts read in another order, say."""
    tokenizer = get_tokenizer("piano")
    trigram = Trigram(tokenizer.vocab_sizes)
    trigram.fit([tokenizer.encode(played(seed, seconds=60.0)) for seed in range(6)])
    sampler = TrigramSampler(trigram, tokenizer)
    taken = [tokenizer.encode(sampler.take(60.0, np.random.default_rng(s))) for s in range(4)]
    own = trigram.surprise(taken)
    unseen = trigram.surprise([tokenizer.encode(played(99, seconds=60.0))])
    assert own.nats / own.n_events == pytest.approx(unseen.nats / unseen.n_events, rel=0.35)
