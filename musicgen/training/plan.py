"""From a folder and a recipe to everything that the loop needs, fresh or resumed."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from musicgen import configio
from musicgen.checkpoint import Checkpoint, load_checkpoint
from musicgen.corpus import Corpus, ScanProgress, build_corpus
from musicgen.errors import ResumeMismatchError, TrainingError
from musicgen.model import Decoder
from musicgen.tokens import FLAT_SCHEMES, Tokenizer, get_tokenizer, tokenizer_from_json
from musicgen.training.compiling import settle_compile
from musicgen.training.curriculum import Curriculum, curriculum_of
from musicgen.training.flat import fit_flat_tokenizer
from musicgen.training.length import expected_s, few_steps_notice, steps_of
from musicgen.training.optim import Optimizers, make_optimizers
from musicgen.training.precision import faster_precision
from musicgen.training.recipe import RunFacts, TrainingRecipe
from musicgen.training.run import Run, RunState, restore_optimizers, unwritable


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that the loop needs.

    Attributes:
        run: The run's folder.
        recipe: The settings.
        corpus: The events.
        tokenizer: How they were made.
        decoder: The model, on `device`.
        optimizers: Its optimizers.
        device: Where it trains.
        steps: Steps in all.
        seconds_per_step: From the trial for `minutes`, else None.
        first_step: Steps already done.
        best_loss: Lowest held-out nats an event so far, or None.
        best_bits_per_note: The same in bits a note.
        parent: Hash of the model it started from, or empty.
        notice: Something the user should know, or empty.
    """

    run: Run
    recipe: TrainingRecipe
    corpus: Corpus
    tokenizer: Tokenizer
    decoder: Decoder
    optimizers: Optimizers
    device: torch.device
    steps: int
    seconds_per_step: float | None
    first_step: int
    best_loss: float | None
    best_bits_per_note: float | None
    parent: str
    notice: str

    def curriculum(self) -> Curriculum:
        """Return the order of the training windows."""
        corpus = self.corpus
        return curriculum_of(self.recipe, corpus.events("train"), corpus.pieces("train"))

    def summary(self, step: int, bits_per_note: float | None) -> dict[str, Any]:
        """Return what a checkpoint tells about its training."""
        report = self.corpus.report
        return {
            "recipe": configio.to_mapping(self.recipe),
            "steps": self.steps,
            "step": step,
            "pieces": len(report.of_split("train")),
            "notes": sum(piece.n_notes for piece in report.of_split("train")),
            "corpus": self.corpus.report.fingerprint(),
            "parent": self.parent,
            "validation_bits_per_note": bits_per_note,
        }


def prepare(
    folder: Path,
    run_folder: Path,
    recipe: TrainingRecipe,
    *,
    device: torch.device,
    start_from: str | Path | None = None,
    resume: bool = False,
) -> Iterator[ScanProgress | Corpus | Plan]:
    """Read the folder, fix the length, make or restore the model; yield progress, then the plan.

    Args:
        folder: MIDI files at any depth.
        run_folder: Where the run lies or will lie.
        recipe: The settings; a resumed run takes its own and refuses others.
        device: Where it trains.
        start_from: A model whose weights and tokenizer it begins with.
        resume: Go on with the run in `run_folder`.

    Raises:
        CorpusError: The folder cannot be used.
        ResumeMismatchError: Settings or music are not those of the run.
        TrainingError: The run's folder is taken or cannot be written, or has nothing to resume.
    """
    run = Run(folder=run_folder)
    facts = run.facts()
    _check_folder(run, facts, recipe, resume)
    if facts is not None:
        recipe = facts.recipe
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


def _check_folder(run: Run, facts: RunFacts | None, recipe: TrainingRecipe, resume: bool) -> None:
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
    if run.folder.exists() and not run.folder.is_dir():
        raise TrainingError(f"{run.folder} is a file, not a folder.", hint="Choose another name.")
    run.probe()
    if facts is None or recipe == TrainingRecipe():
        return
    was, wanted = configio.to_mapping(facts.recipe), configio.to_mapping(recipe)
    asked = {key: value for key, value in wanted.items() if value != _DEFAULTS[key]}
    changed = [key for key, value in asked.items() if was[key] != value]
    if changed:
        key = changed[0]
        raise ResumeMismatchError(
            f"The run in {run.folder} was begun with {key} = {was[key]}, not {wanted[key]}.",
            hint="Resume it without that setting, or begin another run.",
        )


_DEFAULTS = configio.to_mapping(TrainingRecipe())


def _tokenizer(
    folder: Path, run: Run, recipe: TrainingRecipe, parent: Checkpoint | None
) -> Generator[ScanProgress, None, Tokenizer]:
    """Return the run's tokenizer: the parent's, the one made before, or a new one."""
    kept = run.folder / "tokenizer.json"
    if parent is not None:
        return parent.tokenizer
    if kept.is_file():
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
    newest = run.newest()
    if newest is None:
        decoder = Decoder(
            facts.recipe.decoder_config(tokenizer.vocab_sizes), seed=facts.recipe.seed
        )
        if facts.parent:
            raise TrainingError(
                f"The run in {run.folder} was stopped before its first checkpoint.",
                hint="Remove the folder and begin again with --from.",
            )
        state, data, passed_over = RunState.none(), None, []
    else:
        checkpoint, state, data, passed_over = newest
        decoder = checkpoint.decoder
    decoder = decoder.to(device).train()
    optimizers = make_optimizers(decoder, facts.recipe)
    if data is not None:
        restore_optimizers(optimizers, decoder, data, run.folder)
    run.rewind_log(state.step)
    return Plan(
        run=run,
        recipe=facts.recipe,
        corpus=corpus,
        tokenizer=tokenizer,
        decoder=decoder,
        optimizers=optimizers,
        device=device,
        steps=facts.steps,
        seconds_per_step=facts.trial_seconds_per_step,
        first_step=state.step,
        best_loss=state.best_loss,
        best_bits_per_note=state.best_bits_per_note,
        parent=facts.parent,
        notice=" ".join(passed_over),
    )
