"""What a run could train: a new model of some size, or one that is there, in one of two ways."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from musicgen.checkpoint import Checkpoint
from musicgen.model import PRESETS, Decoder
from musicgen.training.fine_tuning import LORA_OPTIMIZER, WHOLE_OPTIMIZER
from musicgen.training.lora import adapt
from musicgen.training.recipe import TrainingRecipe

OWN_SIZE: Final = "as set"
"""The name of sizes that the settings give one by one."""
LORA_RANK: Final = 8
"""Tried where no other rank was asked for."""
_SIZES: Final = ("d_model", "n_layers", "d_ff", "d_head_ff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model that a run could train.

    Attributes:
        name: Of its size, or of the way to fine-tune.
        recipe: The settings.
        decoder: The model as the run begins with it, on the CPU.
    """

    name: str
    recipe: TrainingRecipe
    decoder: Decoder

    @property
    def n_learning(self) -> int:
        """Numbers that the run changes."""
        return sum(each.numel() for each in self.decoder.parameters() if each.requires_grad)


def new_models(recipe: TrainingRecipe, vocab_sizes: tuple[int, ...]) -> Iterator[Candidate]:
    """Yield a model of every size, the smallest first, and of the settings' own if they give one.

    Args:
        recipe: The settings.
        vocab_sizes: Of the tokenizer.
    """
    plain = replace(recipe, **dict.fromkeys(_SIZES))
    sized = [(name, replace(plain, preset=name)) for name in PRESETS]
    for name, each in sized if plain == recipe else [*sized, (OWN_SIZE, recipe)]:
        decoder = Decoder(each.decoder_config(vocab_sizes), seed=each.seed)
        yield Candidate(name=name, recipe=each, decoder=decoder)


def fine_tuned(recipe: TrainingRecipe, parent: Checkpoint) -> Iterator[Candidate]:
    """Yield both ways to go on with a model: all its weights, or narrow matrices beside them.

    Args:
        recipe: The settings for one of them; the other gets the optimizer that suits it.
        parent: The model.
    """
    window = parent.decoder.config.max_seq_len
    recipe = replace(recipe, seq_len=window, early_seq_len=None)
    rank = recipe.lora_rank
    whole = recipe if rank is None else replace(recipe, lora_rank=None, optimizer=WHOLE_OPTIMIZER)
    yield Candidate(name=parent.name, recipe=whole, decoder=copy.deepcopy(parent.decoder))
    narrow = recipe
    if rank is None:
        rank = LORA_RANK
        narrow = replace(recipe, lora_rank=rank, optimizer=LORA_OPTIMIZER)
    decoder = copy.deepcopy(parent.decoder)
    adapt(decoder, rank, recipe.seed)
    yield Candidate(name=f"{parent.name}, LoRA {rank}", recipe=narrow, decoder=decoder)
