"""What a run decides once, before its first step, and writes down: compiling, length, variation."""

from __future__ import annotations

from dataclasses import replace

from musicgen.training.augmentation import settle_augmentation
from musicgen.training.compiling import settle_compile
from musicgen.training.group import Group
from musicgen.training.length import Tried, expected_s, few_steps_notice, steps_of
from musicgen.training.plan import Plan
from musicgen.training.recipe import RunFacts
from musicgen.training.validating import validation_windows


def settled(plan: Plan, group: Group) -> Plan:
    """Return the plan with its number of steps, tried on a copy; the writer writes it down.

    Raises:
        OutOfMemoryError: Not even one window fits into memory.
        TrainingError: The run's folder cannot be written.
    """
    plan = _compiled_where_it_pays(plan, group)
    steps, seconds_per_step = steps_of(_tried(plan, group))
    few = few_steps_notice(plan.recipe, steps, seconds_per_step, goes_on=bool(plan.parent))
    recipe, varied = settle_augmentation(plan.recipe, replace(plan, steps=steps).readings())
    notice = " ".join(filter(None, (plan.notice, few, varied)))
    plan = replace(
        plan, recipe=recipe, steps=steps, seconds_per_step=seconds_per_step, notice=notice
    )
    if group.is_writer:
        plan.run.begin(_facts(plan))
    return plan


def _tried(plan: Plan, group: Group) -> Tried:
    return Tried(
        recipe=plan.recipe,
        decoder=plan.decoder,
        curriculum=plan.curriculum(),
        device=plan.device,
        n_held_out=len(validation_windows(plan)),
        group=group,
    )


def _compiled_where_it_pays(plan: Plan, group: Group) -> Plan:
    if plan.recipe.compile is not None:
        return plan
    is_compiled, told = settle_compile(
        expected_s=expected_s(_tried(plan, group)), device=plan.device
    )
    # Where one process has no compiler, none compiles: they would wait for it at every step.
    is_compiled = bool(group.same(is_compiled))
    notice = f"{plan.notice} {told}".strip()
    return replace(plan, recipe=replace(plan.recipe, compile=is_compiled), notice=notice)


def _facts(plan: Plan) -> RunFacts:
    report = plan.corpus.report
    return RunFacts(
        recipe=plan.recipe,
        steps=plan.steps,
        trial_seconds_per_step=plan.seconds_per_step,
        corpus=report.fingerprint(),
        tokenizer=plan.tokenizer.fingerprint,
        parent=plan.parent,
        corpus_summary=report.sentence(),
    )
