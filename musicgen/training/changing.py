"""What a resumed run may change of itself: nothing, unless somebody allows it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from musicgen import configio
from musicgen.errors import ConfigError, ResumeMismatchError
from musicgen.training.recipe import LENGTHS, RunFacts, TrainingRecipe

ALLOWABLE = ("settings", "music")
OTHER_MUSIC = "other music"
_BUILT_IN = (
    "preset",
    "d_model",
    "n_layers",
    "d_ff",
    "d_head_ff",
    "seq_len",
    "scheme",
    "flat_vocab_size",
    "lora_rank",
    "optimizer",
    "ema_decay",
)
"""Settings that weights or the optimizers' state are made by."""
_LEFT_OPEN = {
    "precision": "auto",
    "compile": None,
    "augment_semitones": None,
    "augment_tempo": None,
    "augment_velocity": None,
}
"""What a run decides itself where it is left open."""


def check_allowed(allow: Collection[str]) -> None:
    """Refuse what cannot be allowed.

    Raises:
        ConfigError: There is no such thing.
    """
    for each in allow:
        if each not in ALLOWABLE:
            raise ConfigError(
                f"There is no {each!r} to allow.", hint=f"Choose {' or '.join(ALLOWABLE)}."
            )


def changed_settings(
    folder: Path, facts: RunFacts, recipe: TrainingRecipe | None, allow: Collection[str]
) -> tuple[RunFacts, tuple[str, ...]]:
    """Hold settings against those of a run.

    Args:
        folder: The run's.
        facts: What the run fixed at its start.
        recipe: The settings wanted now; None for the run's own.
        allow: What may differ, of `ALLOWABLE`.

    Returns:
        The facts to go on with, and a sentence for each change.

    Raises:
        ResumeMismatchError: A setting differs that may not.
    """
    if recipe is None:
        return facts, ()
    was, wanted = configio.to_mapping(facts.recipe), configio.to_mapping(recipe)
    differing = [
        name
        for name, value in wanted.items()
        if value != was[name] and not (name in _LEFT_OPEN and value == _LEFT_OPEN[name])
    ]
    for name in differing:
        _check(folder, name, was[name], wanted[name], allow)
    if not differing:
        return facts, ()
    new = configio.from_mapping(
        TrainingRecipe, {**was, **{name: wanted[name] for name in differing}}, where="settings"
    )
    changes = tuple(f"{name} {was[name]} → {wanted[name]}" for name in differing)
    return replace(facts, recipe=new, steps=new.steps or facts.steps), changes


def _check(folder: Path, name: str, was: object, wanted: object, allow: Collection[str]) -> None:
    sentence = f"The run in {folder} was begun with {name} = {was}, not {wanted}."
    if "settings" not in allow:
        raise ResumeMismatchError(
            sentence,
            hint="Resume it without that setting, allow the change (--allow settings), or begin "
            "another run.",
        )
    if name in _BUILT_IN:
        raise ResumeMismatchError(
            f"{sentence} Its weights are made by that.", hint="Begin another run."
        )
    if name in LENGTHS and name != "steps" and wanted is not None:
        raise ResumeMismatchError(sentence, hint="Give its new length in steps (--steps).")


def changed_music(
    facts: RunFacts, corpus: str, sentence: str, tokenizer: str, allow: Collection[str]
) -> tuple[RunFacts, tuple[str, ...]]:
    """Hold the music of a folder against that of a run.

    Args:
        facts: What the run fixed at its start.
        corpus: Fingerprint of the music found.
        sentence: That music in a sentence.
        tokenizer: Fingerprint of the tokenizer that it was read with.
        allow: What may differ, of `ALLOWABLE`.

    Returns:
        The facts to go on with, and a sentence for a change.

    Raises:
        ResumeMismatchError: The music differs and may not, or was read in another way.
    """
    if tokenizer == facts.tokenizer and corpus == facts.corpus:
        return facts, ()
    if "music" not in allow or tokenizer != facts.tokenizer:
        raise ResumeMismatchError(
            "The music in the folder is not what this run began with.",
            hint="Put the files back as they were, allow the change (--allow music), or begin "
            "another run (--from this one).",
        )
    return replace(facts, corpus=corpus, corpus_summary=sentence), (OTHER_MUSIC,)
