"""From a folder and a recipe to a plan, fresh or resumed."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.checkpoint import Checkpoint, load_checkpoint
from musicgen.corpus import Corpus, ScanProgress, build_corpus
from musicgen.errors import ResumeMismatchError, TrainingError
from musicgen.files import is_folder, is_there
from musicgen.model import Decoder
from musicgen.tokens import Tokenizer
from musicgen.training.augmentation import is_varied_for_little, told_readings
from musicgen.training.changing import (
    OTHER_MUSIC,
    changed_music,
    changed_settings,
    check_allowed,
)
from musicgen.training.claim import claimed
from musicgen.training.fine_tuning import fine_tuning_recipe, offer
from musicgen.training.lora import adapt
from musicgen.training.optim import make_optimizers
from musicgen.training.plan import Plan
from musicgen.training.precision import faster_precision
from musicgen.training.recipe import LENGTHS, RunFacts, TrainingRecipe
from musicgen.training.run import Resumed, Run, RunState
from musicgen.training.tokenizing import run_tokenizer


def prepare(
    folder: Path,
    run_folder: Path,
    recipe: TrainingRecipe | None,
    *,
    device: torch.device,
    start_from: str | Path | None = None,
    resume: bool = False,
    allow: Collection[str] = (),
) -> Generator[ScanProgress | Corpus | Plan, None, None]:
    """Read the folder, make or restore the model; yield progress, then the plan.

    The plan of a run that begins has no steps yet: see `settled`.

    The run's folder is held until the iterator is closed.

    Args:
        folder: MIDI files at any depth.
        run_folder: Where the run lies or will lie.
        recipe: The settings. A resumed run takes its own and refuses others; None for those.
        device: Where it trains.
        start_from: A model whose weights and tokenizer it begins with.
        resume: Go on with the run in `run_folder`.
        allow: What a resumed run may change, of `changing.ALLOWABLE`.

    Raises:
        ConfigError: There is no such thing to allow.
        CorpusError: The folder cannot be used.
        ResumeMismatchError: Settings or music are not those of the run.
        TrainingError: The run's folder is taken or cannot be written, or has nothing to resume.
    """
    check_allowed(allow)
    run = Run(folder=run_folder)
    _check_folder(run, resume)
    with claimed(run_folder):
        yield from _prepare(folder, run, recipe, device, start_from, resume, allow)


def _prepare(
    folder: Path,
    run: Run,
    recipe: TrainingRecipe | None,
    device: torch.device,
    start_from: str | Path | None,
    resume: bool,
    allow: Collection[str],
) -> Generator[ScanProgress | Corpus | Plan, None, None]:
    facts = _check_folder(run, resume)
    changes: tuple[str, ...] = ()
    if facts is not None:
        facts, changes = changed_settings(run.folder, facts, recipe, allow)
        recipe = facts.recipe
    if recipe is None:
        recipe = TrainingRecipe() if start_from is None else fine_tuning_recipe()
    if recipe.lora_rank is not None and facts is None and start_from is None:
        raise TrainingError(
            "LoRA fine-tunes a model, and random weights are none.",
            hint="Give the model to begin with (--from), or leave lora_rank out.",
        )
    parent = None if start_from is None else load_checkpoint(start_from)
    if parent is not None:
        tokenizer = parent.tokenizer
    else:
        tokenizer = yield from run_tokenizer(folder, run, recipe)
    corpus = None
    for found in build_corpus(folder, run.corpus_folder, tokenizer, skip=run.folder):
        if isinstance(found, Corpus):
            corpus = found
        yield found
    if corpus is None:
        raise TrainingError(f"The corpus of {folder} was not finished.")
    if facts is None:
        yield _fresh(run, recipe, corpus, tokenizer, device, parent)
    else:
        report = corpus.report
        facts, others = changed_music(
            facts, report.fingerprint(), report.sentence(), tokenizer.fingerprint, allow
        )
        yield _resumed(run, facts, (*changes, *others), corpus, tokenizer, device)


def _check_folder(run: Run, resume: bool) -> RunFacts | None:
    """Return what the run fixed, or None for one that begins."""
    if is_there(run.folder) and not is_folder(run.folder):
        raise TrainingError(f"{run.folder} is a file, not a folder.", hint="Choose another name.")
    facts = run.facts()
    if resume and facts is None:
        raise TrainingError(
            f"There is no run to resume in {run.folder}.",
            hint="Leave out --resume to begin one, or give the folder of a run.",
        )
    if not resume and facts is not None:
        raise TrainingError(
            f"{run.folder} holds a run already.",
            hint="Add --resume to go on with it, or choose another folder.",
        )
    lost = run.lost_steps() if resume else 0
    if lost:
        raise TrainingError(
            f"The run in {run.folder} has done {lost:,} {'step' if lost == 1 else 'steps'}, but "
            "its checkpoints are gone: there is nothing to go on from.",
            hint=f"Put {run.checkpoints} back, or begin another run with its best model "
            f"(--from {run.best}).",
        )
    return facts


def resumed_recipe(
    run_folder: Path, settings: Mapping[str, Any], *, where: str = "settings"
) -> TrainingRecipe | None:
    """Return the recipe of a run with some settings laid over it, to be held against the run's own.

    Args:
        run_folder: Where the run lies.
        settings: Those that somebody gave, by name.
        where: What they came from, for an error's sentence.

    Returns:
        None where no setting was given or there is no run.

    Raises:
        ConfigError: There is no such setting, or its value does not fit.
    """
    facts = Run(folder=run_folder).facts()
    if facts is None or not settings:
        return None
    own = configio.to_mapping(facts.recipe)
    if any(name in settings for name in LENGTHS):
        own = {name: value for name, value in own.items() if name not in LENGTHS}
    return configio.from_mapping(TrainingRecipe, {**own, **settings}, where=where)


def begins_with(name: str) -> str:
    """Say of a run with which model it begins."""
    return f"It begins with the weights of {name}; the sizes are that model's."


def _fresh(
    run: Run,
    recipe: TrainingRecipe,
    corpus: Corpus,
    tokenizer: Tokenizer,
    device: torch.device,
    parent: Checkpoint | None,
) -> Plan:
    notice = ""
    if recipe.precision == "auto":
        # Decided once, and written down: a resumed run does not measure again.
        recipe = replace(recipe, precision=faster_precision(device))
    if parent is not None:
        decoder = parent.decoder
        # Short windows are for a model that knows nothing yet.
        recipe = replace(recipe, seq_len=decoder.config.max_seq_len, early_seq_len=None)
        notice = begins_with(parent.name)
    else:
        decoder = Decoder(recipe.decoder_config(tokenizer.vocab_sizes), seed=recipe.seed)
        notice = offer(recipe, sum(piece.n_notes for piece in corpus.pieces("train")))
    run.keep_parent(parent)
    decoder = decoder.to(device).train()
    if recipe.lora_rank is not None:
        adapt(decoder, recipe.lora_rank, recipe.seed)
        notice += f" LoRA of rank {recipe.lora_rank} learns {_learning(decoder):,} numbers of it."
    return Plan(
        run=run,
        recipe=recipe,
        corpus=corpus,
        tokenizer=tokenizer,
        decoder=decoder,
        optimizers=make_optimizers(decoder, recipe),
        device=device,
        steps=0,
        seconds_per_step=None,
        state=replace(RunState.none(), windows_at_once=recipe.micro_batch_size),
        average=None,
        parent="" if parent is None else parent.sha256,
        notice=notice,
    )


def _resumed(
    run: Run,
    facts: RunFacts,
    changes: tuple[str, ...],
    corpus: Corpus,
    tokenizer: Tokenizer,
    device: torch.device,
) -> Plan:
    run.mend()
    found = run.newest(facts.recipe, device)
    if found is None:
        found = _not_begun(run, facts, tokenizer, device)
    state = found.state
    if facts.steps < state.step:
        raise ResumeMismatchError(
            f"The run in {run.folder} has done {state.step:,} steps, more than {facts.steps:,}.",
            hint="Give as many steps or more.",
        )
    run.rewind_log(state.step)
    notice = " ".join(found.passed_over)
    if changes:
        told = f"From step {state.step:,} on: {', '.join(changes)}."
        notice = f"{notice} {told}".strip()
        facts = replace(facts, changes=(*facts.changes, told))
        run.rewrite(facts)
        # What was held out may have changed: the lowest loss of other music is none of this.
        if OTHER_MUSIC in changes:
            state = replace(state, best_loss=None, lowest_loss=None, n_since_lowest=0)
        if any(change.startswith("micro_batch_size ") for change in changes):
            state = replace(state, windows_at_once=facts.recipe.micro_batch_size)
    plan = Plan(
        run=run,
        recipe=facts.recipe,
        corpus=corpus,
        tokenizer=tokenizer,
        decoder=found.decoder,
        optimizers=found.optimizers,
        device=device,
        steps=facts.steps,
        seconds_per_step=facts.trial_seconds_per_step,
        state=state,
        average=found.average,
        parent=facts.parent,
        notice=notice,
    )
    return replace(plan, notice=" ".join(filter(None, (notice, *_begun_with(plan)))))


def _begun_with(plan: Plan) -> Iterator[str]:
    """Yield what a run said as it began, and what holds for the rest of it."""
    parent, readings = plan.run.parent(), plan.readings()
    if parent is not None:
        yield begins_with(parent.name)
    if is_varied_for_little(plan.recipe, readings):
        yield told_readings(readings)


def _not_begun(run: Run, facts: RunFacts, tokenizer: Tokenizer, device: torch.device) -> Resumed:
    """Return what a run that was stopped before its first checkpoint begins with."""
    recipe = facts.recipe
    if facts.parent:
        decoder = load_checkpoint(run.parent_folder).decoder
    else:
        decoder = Decoder(recipe.decoder_config(tokenizer.vocab_sizes), seed=recipe.seed)
    decoder = decoder.to(device).train()
    if recipe.lora_rank is not None:
        adapt(decoder, recipe.lora_rank, recipe.seed)
    return Resumed(
        decoder=decoder,
        optimizers=make_optimizers(decoder, recipe),
        state=replace(RunState.none(), windows_at_once=recipe.micro_batch_size),
        average=None,
        passed_over=(),
    )


def _learning(decoder: Decoder) -> int:
    return sum(each.numel() for each in decoder.parameters() if each.requires_grad)
