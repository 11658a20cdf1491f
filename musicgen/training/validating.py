"""A look at held-out music: always the same windows, in nats an event and bits a note."""

from __future__ import annotations

from dataclasses import dataclass

from musicgen.corpus import Corpus
from musicgen.errors import NonFiniteLossError, NoNumbersError
from musicgen.evaluation.bits import Window, sliding_windows, surprise
from musicgen.training.plan import Plan
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.windows import validation_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """How surprised the model was.

    Attributes:
        loss: Nats an event.
        bits_per_note: The same in bits a note.
    """

    loss: float
    bits_per_note: float


def validation_windows(plan: Plan) -> list[Window]:
    """Return the held-out windows that every validation of the plan looks at."""
    return held_out_windows(plan.corpus, plan.recipe)


def held_out_windows(corpus: Corpus, recipe: TrainingRecipe) -> list[Window]:
    """Return the held-out windows that a recipe looks at."""
    every = [
        window
        for piece in corpus.pieces("validation")
        for window in sliding_windows(piece.start, piece.n_events, recipe.seq_len)
    ]
    rows = validation_rows(len(every), recipe.validation_windows)
    return [every[row] for row in rows]


def look(plan: Plan, step: int, windows: list[Window]) -> HeldOut:
    """Measure the plan's model as it is after a step.

    Raises:
        NonFiniteLossError: It gives no numbers any more.
    """
    events = plan.corpus.events("validation")
    plan.decoder.eval()
    try:
        found = surprise(plan.decoder, events, windows)
    except NoNumbersError as error:
        raise NonFiniteLossError.after(step) from error
    plan.decoder.train()
    pieces = plan.corpus.pieces("validation")
    notes_an_event = sum(p.n_notes for p in pieces) / max(1, sum(p.n_events for p in pieces))
    return HeldOut(
        loss=float(found.nats.sum()) / max(1, found.n_events),
        bits_per_note=float(found.bits().sum()) / max(1.0, found.n_events * notes_an_event),
    )
