"""What fine-tuning gained: the new model beside the one it began with, on held-out music."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from musicgen.checkpoint import load_checkpoint
from musicgen.training.plan import Plan
from musicgen.training.validating import look, validation_windows

CARD = "README.md"
UNTOUCHED = "parent_bits_per_note"
"""Name of the figure in the metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Two models on the same held-out windows.

    Attributes:
        parent: Name of the model it began with.
        parent_sha256: Hash of that model's weights.
        licence: Of that model, which the new one inherits; or empty.
        before_bits_per_note: Of that model, untouched.
        after_bits_per_note: Of the new one, as the run keeps it.
        n_windows: Windows looked at.
        n_pieces: Held-out pieces that there are.
    """

    parent: str
    parent_sha256: str
    licence: str
    before_bits_per_note: float
    after_bits_per_note: float
    n_windows: int
    n_pieces: int

    @property
    def gained_bits_per_note(self) -> float:
        """How many bits a note fewer the new model needs; below zero if more."""
        return self.before_bits_per_note - self.after_bits_per_note

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as `--json` and the manifest tell them."""
        return {
            "parent": self.parent,
            "parent_sha256": self.parent_sha256,
            "licence": self.licence,
            "before_bits_per_note": self.before_bits_per_note,
            "after_bits_per_note": self.after_bits_per_note,
            "gained_bits_per_note": self.gained_bits_per_note,
            "windows": self.n_windows,
            "pieces": self.n_pieces,
        }

    def sentence(self) -> str:
        """Return it in a sentence."""
        gained = self.gained_bits_per_note
        told = f"a gain of {gained:.3f}" if gained >= 0 else f"a loss of {-gained:.3f}"
        return (
            f"Held-out music: {self.before_bits_per_note:.3f} bits a note with {self.parent} as it "
            f"was, {self.after_bits_per_note:.3f} now: {told}."
        )


def untouched_bits(plan: Plan) -> float | None:
    """Return the bits a note of the model that a run begins with, on the run's held-out music.

    It is measured once, before the first step: the figure stands in the metrics, at step 0, where
    a resumed run finds it. The model is read from its copy, so the run itself is left alone.

    Args:
        plan: Of the run.

    Returns:
        None for a run that began with random weights, or that holds no music out.

    Raises:
        CheckpointError: The copy of that model is damaged.
        NonFiniteLossError: It gives no numbers.
        TrainingError: The folder cannot be written.
    """
    windows = validation_windows(plan) if plan.parent else []
    if not windows:
        return None
    music = plan.corpus.report.fingerprint()
    for line in plan.run.logged(UNTOUCHED):
        if line.get("corpus") == music:
            return float(line[UNTOUCHED])
    untouched = load_checkpoint(plan.run.parent_folder, device=plan.device).decoder
    bits = look(replace(plan, decoder=untouched), 0, windows).bits_per_note
    plan.run.log({"step": 0, UNTOUCHED: bits, "corpus": music})
    return bits


def gain_of(plan: Plan, bits_per_note: float | None) -> Gain | None:
    """Hold a finished run against the model that it began with; tell the gain in its folder.

    Args:
        plan: Of the run.
        bits_per_note: Of the model that it keeps, on the windows of its validations.

    Returns:
        None for a run that began with random weights, or that holds no music out.

    Raises:
        CheckpointError: The copy of that model is damaged.
        NonFiniteLossError: It gives no numbers.
        TrainingError: The folder cannot be written.
    """
    parent = plan.run.parent()
    before = untouched_bits(plan)
    if parent is None or before is None or bits_per_note is None:
        return None
    gain = Gain(
        parent=parent.name,
        parent_sha256=plan.parent,
        licence=parent.licence,
        before_bits_per_note=before,
        after_bits_per_note=bits_per_note,
        n_windows=len(validation_windows(plan)),
        n_pieces=len(plan.corpus.pieces("validation")),
    )
    plan.run.describe_best(CARD, model_card(plan, gain), {"gain": gain.as_dict()})
    return gain


def model_card(plan: Plan, gain: Gain) -> str:
    """Return the card of a fine-tuned model, in Markdown."""
    recipe = plan.recipe
    how = "all of its weights" if recipe.lora_rank is None else f"LoRA of rank {recipe.lora_rank}"
    licence = (
        f"**Licence of the weights:** {gain.licence}, inherited from {gain.parent}. What the music "
        "it was trained on allows comes on top of that."
        if gain.licence
        else f"**Licence of the weights:** {gain.parent} states none to inherit. What the music it "
        "was trained on allows is for you to know."
    )
    return f"""# {plan.run.folder.resolve().name}

A model of symbolic music, fine-tuned from **{gain.parent}** (SHA-256 of its weights:
`{gain.parent_sha256}`).

{licence}

**Data.** {plan.corpus.report.sentence()}

**Recipe.** {plan.steps:,} steps of {recipe.batch_size} windows of {recipe.seq_len} events; {how};
peak rate {recipe.learning_rate:g} ({recipe.optimizer}). `manifest.json` has every setting.

| on held-out music ({gain.n_pieces:,} pieces, {gain.n_windows:,} windows) | bits a note |
|---|---|
| {gain.parent}, untouched | {gain.before_bits_per_note:.3f} |
| this model | {gain.after_bits_per_note:.3f} |

{gain.sentence()}
"""
