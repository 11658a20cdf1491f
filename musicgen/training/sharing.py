"""The writer's plan, given to the other processes of its run.

Sizes, settings and where the run stands go as a message; weights and the optimizers' state as
tensors. The events lie in the run's folder, which every machine must see.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.corpus import Corpus
from musicgen.corpus.store import open_corpus
from musicgen.errors import ConfigError, MusicgenError, TrainingError
from musicgen.model import Decoder, DecoderConfig
from musicgen.tokens import tokenizer_from_json
from musicgen.training.lora import adapt
from musicgen.training.optim import blank_state, make_optimizers
from musicgen.training.plan import Plan
from musicgen.training.processes import Processes
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.run import Run, RunState


def hand_out(plan: Plan, group: Processes) -> Plan:
    """Give the writer's plan to the other processes; return it with a word about them.

    Raises:
        ConfigError: The batch cannot be shared out evenly.
        TrainingError: Another process cannot take it.
    """
    check_share(plan.recipe, group.size)
    group.tell(
        {
            "recipe": configio.to_mapping(plan.recipe),
            "sizes": configio.to_mapping(plan.decoder.config),
            "tokenizer": plan.tokenizer.to_json(),
            "corpus": plan.corpus.report.fingerprint(),
            "steps": plan.steps,
            "seconds_per_step": plan.seconds_per_step,
            "state": configio.to_mapping(plan.state),
            "parent": plan.parent,
        }
    )
    group.agree(None)
    _spread(plan, group)
    each = plan.recipe.batch_size // group.size
    windows = "1 window" if each == 1 else f"{each} windows"
    told = f"{group.size} processes train together, {windows} of every step each."
    return replace(plan, notice=f"{plan.notice} {told}".strip())


def take_over(run_folder: Path, device: torch.device, group: Processes) -> Plan:
    """Wait for the writer's plan and return it, for this process's device.

    Raises:
        ElsewhereError: The writer or another process has failed.
    """
    told = group.hear()
    try:
        plan = _built(told, Run(folder=run_folder), device)
    except MusicgenError as error:
        group.agree(error)
        raise
    group.agree(None)
    _spread(plan, group)
    return plan


def check_share(recipe: TrainingRecipe, n_processes: int) -> None:
    """Refuse a batch that some processes would have more of than others.

    Raises:
        ConfigError: It does not divide.
    """
    if recipe.batch_size % n_processes:
        fitting = n_processes * max(1, round(recipe.batch_size / n_processes))
        raise ConfigError(
            f"batch_size {recipe.batch_size} cannot be shared out evenly to {n_processes} "
            "processes.",
            hint=f"Set batch_size = {fitting} in a TOML file, or start another number of them.",
        )


def _built(told: Any, run: Run, device: torch.device) -> Plan:
    recipe = configio.from_mapping(TrainingRecipe, told["recipe"], where="the run's settings")
    config = configio.from_mapping(DecoderConfig, told["sizes"], where="the model's sizes")
    decoder = Decoder(config, seed=recipe.seed).to(device).train()
    if recipe.lora_rank is not None:
        adapt(decoder, recipe.lora_rank, recipe.seed)
    optimizers = make_optimizers(decoder, recipe)
    state = configio.from_mapping(RunState, told["state"], where="the run's state")
    if state.step:
        optimizers.restore(decoder, blank_state(decoder))
    return Plan(
        run=run,
        recipe=recipe,
        corpus=_corpus(run.corpus_folder, told["corpus"]),
        tokenizer=tokenizer_from_json(told["tokenizer"]),
        decoder=decoder,
        optimizers=optimizers,
        device=device,
        steps=told["steps"],
        seconds_per_step=told["seconds_per_step"],
        state=state,
        average=None,
        parent=told["parent"],
        notice="",
    )


def _corpus(folder: Path, fingerprint: str) -> Corpus:
    corpus = open_corpus(folder)
    if corpus is None or corpus.report.fingerprint() != fingerprint:
        raise TrainingError(
            f"It does not see the events that the first process wrote to {folder}.",
            hint="Choose a run's folder (-o) that every machine sees by the same name.",
        )
    return corpus


def _spread(plan: Plan, group: Processes) -> None:
    """Give all processes the writer's weights, and the optimizers' state where there is one."""
    group.spread(parameter.data for parameter in plan.decoder.parameters())
    state = plan.optimizers.tensors(plan.decoder)
    group.spread(state[name] for name in sorted(state))
