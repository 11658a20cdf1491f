"""From a folder and a recipe to everything that the loop needs, fresh or resumed."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.checkpoint import Checkpoint, load_checkpoint
from musicgen.corpus import Corpus, ScanProgress, build_corpus
from musicgen.errors import ResumeMismatchError, TrainingError
from musicgen.files import is_file, is_folder, is_there
from musicgen.model import Decoder
from musicgen.tokens import FLAT_SCHEMES, Tokenizer, get_tokenizer, tokenizer_from_json
from musicgen.training.claim import claimed, unwritable
from musicgen.training.compiling import settle_compile
from musicgen.training.flat import fit_flat_tokenizer
from musicgen.training.length import expected_s, few_steps_notice, steps_of
from musicgen.training.optim import make_optimizers
from musicgen.training.plan import Plan
from musicgen.training.precision import faster_precision
from musicgen.training.recipe import LENGTHS, RunFacts, TrainingRecipe
from musicgen.training.run import Resumed, Run, RunState


def prepare(
    folder: Path,
    run_folder: Path,
    recipe: TrainingRecipe | None,
    *,
    device: torch.device,
    start_from: str | Path | None = None,
    resume: bool = False,
) -> Generator[ScanProgress | Corpus | Plan, None, None]:
    """Read the folder, fix the length, make or restore the model; yield progress, then the plan.

    The run's folder is held until the iterator is closed.

    Args:
        folder: MIDI files at any depth.
        run_folder: Where the run lies or will lie.
        recipe: The settings. A resumed run takes its own and refuses others; None for those.
        device: Where it trains.
        start_from: A model whose weights and tokenizer it begins with.
        resume: Go on with the run in `run_folder`.

    Raises:
        CorpusError: The folder cannot be used.
        ResumeMismatchError: Settings or music are not those of the run.
        TrainingError: The run's folder is taken or cannot be written, or has nothing to resume.
    """
    run = Run(folder=run_folder)
    _check_folder(run, resume)
    with claimed(run_folder):
        yield from _prepare(folder, run, recipe, device, start_from, resume)


def _prepare(
    folder: Path,
    run: Run,
    recipe: TrainingRecipe | None,
    device: torch.device,
    start_from: str | Path | None,
    resume: bool,
) -> Generator[ScanProgress | Corpus | Plan, None, None]:
    facts = _check_folder(run, resume)
    if facts is not None:
        _check_settings(run, facts, recipe)
        recipe = facts.recipe
    recipe = recipe or TrainingRecipe()
    parent = None if start_from is None else load_checkpoint(start_from)
    tokenizer = yield from _tokenizer(folder, run, recipe, parent)
    corpus = None
    for found in build_corpus(folder, run.corpus_folder, tokenizer):
        if isinstance(found, Corpus):
            corpus = found
        yield found
    if corpus is None:
        raise TrainingError(f"The corpus of {folder} was not finished.")
    if facts is None:
        yield _fresh(run, recipe, corpus, tokenizer, device, parent)
    else:
        yield _resumed(run, facts, corpus, tokenizer, device)


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


def _check_settings(run: Run, facts: RunFacts, recipe: TrainingRecipe | None) -> None:
    if recipe is None:
        return
    was, wanted = configio.to_mapping(facts.recipe), configio.to_mapping(recipe)
    left_open = {"precision": "auto", "compile": None}  # the run decided
    for key, value in wanted.items():
        if value != was[key] and not (key in left_open and value == left_open[key]):
            raise ResumeMismatchError(
                f"The run in {run.folder} was begun with {key} = {was[key]}, not {value}.",
                hint="Resume it without that setting, or begin another run.",
            )


def _tokenizer(
    folder: Path, run: Run, recipe: TrainingRecipe, parent: Checkpoint | None
) -> Generator[ScanProgress, None, Tokenizer]:
    """Return the run's tokenizer: the parent's, the one made before, or a new one."""
    kept = run.folder / "tokenizer.json"
    if parent is not None:
        return parent.tokenizer
    if is_file(kept):
        return tokenizer_from_json(kept.read_text(encoding="utf-8"))
    if recipe.scheme not in FLAT_SCHEMES:
        return get_tokenizer(recipe.scheme)
    tokenizer = yield from fit_flat_tokenizer(folder, recipe.scheme, recipe.flat_vocab_size)
    try:
        kept.write_text(tokenizer.to_json(), encoding="utf-8")
    except OSError as error:
        raise unwritable(run.folder, error) from error
    return tokenizer


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
        notice = f"It begins with the weights of {parent.name}; the sizes are that model's."
    else:
        decoder = Decoder(recipe.decoder_config(tokenizer.vocab_sizes), seed=recipe.seed)
    decoder = decoder.to(device).train()
    plan = Plan(
        run=run,
        recipe=recipe,
        corpus=corpus,
        tokenizer=tokenizer,
        decoder=decoder,
        optimizers=make_optimizers(decoder, recipe),
        device=device,
        steps=0,
        seconds_per_step=None,
        first_step=0,
        best_loss=None,
        best_bits_per_note=None,
        parent="" if parent is None else parent.sha256,
        notice=notice,
    )
    return _begun(_compiled_where_it_pays(plan))


def _compiled_where_it_pays(plan: Plan) -> Plan:
    if plan.recipe.compile is not None:
        return plan
    expected = expected_s(plan.recipe, plan.decoder, plan.curriculum(), plan.device)
    is_compiled, told = settle_compile(expected_s=expected, device=plan.device)
    notice = f"{plan.notice} {told}".strip()
    return replace(plan, recipe=replace(plan.recipe, compile=is_compiled), notice=notice)


def _begun(plan: Plan) -> Plan:
    """Fix the number of steps, and write down what is fixed."""
    recipe, corpus = plan.recipe, plan.corpus
    steps, seconds_per_step = steps_of(recipe, plan.decoder, plan.curriculum(), plan.device)
    facts = RunFacts(
        recipe=recipe,
        steps=steps,
        trial_seconds_per_step=seconds_per_step,
        corpus=corpus.report.fingerprint(),
        tokenizer=plan.tokenizer.fingerprint,
        parent=plan.parent,
        corpus_summary=corpus.report.sentence(),
    )
    plan.run.begin(facts)
    few = few_steps_notice(recipe, steps, seconds_per_step)
    notice = " ".join(filter(None, (plan.notice, few)))
    return replace(plan, steps=steps, seconds_per_step=seconds_per_step, notice=notice)


def _resumed(
    run: Run, facts: RunFacts, corpus: Corpus, tokenizer: Tokenizer, device: torch.device
) -> Plan:
    if corpus.report.fingerprint() != facts.corpus or tokenizer.fingerprint != facts.tokenizer:
        raise ResumeMismatchError(
            "The music in the folder is not what this run began with.",
            hint="Put the files back as they were, or begin another run (--from this one).",
        )
    found = run.newest(facts.recipe, device)
    if found is None:
        found = _not_begun(run, facts, tokenizer, device)
    run.rewind_log(found.state.step)
    return Plan(
        run=run,
        recipe=facts.recipe,
        corpus=corpus,
        tokenizer=tokenizer,
        decoder=found.decoder,
        optimizers=found.optimizers,
        device=device,
        steps=facts.steps,
        seconds_per_step=facts.trial_seconds_per_step,
        first_step=found.state.step,
        best_loss=found.state.best_loss,
        best_bits_per_note=found.state.best_bits_per_note,
        parent=facts.parent,
        notice=" ".join(found.passed_over),
    )


def _not_begun(run: Run, facts: RunFacts, tokenizer: Tokenizer, device: torch.device) -> Resumed:
    """Return what a run that was stopped before its first checkpoint begins with."""
    if facts.parent:
        raise TrainingError(
            f"The run in {run.folder} was stopped before its first checkpoint.",
            hint="Remove the folder and begin again with --from.",
        )
    config = facts.recipe.decoder_config(tokenizer.vocab_sizes)
    decoder = Decoder(config, seed=facts.recipe.seed).to(device).train()
    return Resumed(
        decoder=decoder,
        optimizers=make_optimizers(decoder, facts.recipe),
        state=RunState.none(),
        passed_over=(),
    )
