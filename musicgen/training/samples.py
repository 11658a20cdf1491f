"""Pieces made on the way, to listen to how a model learns: RUN/samples/step-…-1.mid.

The same random numbers each time, so what changes from one to the next is what was learned.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from musicgen.engine import TorchEngine
from musicgen.errors import MidiWriteError, NonFiniteLossError, NoNumbersError, TrainingError
from musicgen.generation import (
    EventMade,
    Finished,
    LengthPlan,
    SteppedBack,
    fit_ending,
    stream_events,
)
from musicgen.midi import NoteTable, notes_to_score, write_midi
from musicgen.model import Decoder
from musicgen.tokens import Tokenizer
from musicgen.training.claim import unwritable
from musicgen.training.events import SamplesMade
from musicgen.training.plan import Plan

FOLDER = "samples"


def make_samples(plan: Plan, decoder: Decoder, step: int) -> SamplesMade:
    """Make the recipe's pieces with a model as it is, and write them into the run's folder.

    Where the model makes no note yet, there is no file.

    Args:
        plan: Of the run.
        decoder: The model; it is in the same mode afterwards.
        step: Steps done.

    Raises:
        NonFiniteLossError: The model gives no numbers any more.
        TrainingError: The folder cannot be written.
    """
    folder = plan.run.folder / FOLDER
    was_training = decoder.training
    decoder.eval()
    files: list[Path] = []
    try:
        folder.mkdir(exist_ok=True)
        for number in range(plan.recipe.n_samples):
            notes = _notes(decoder, plan.tokenizer, plan.recipe.sample_seconds, number)
            if len(notes):
                files.append(folder / f"step-{step:09d}-{number + 1}.mid")
                write_midi(notes_to_score(notes), files[-1])
    except NoNumbersError as error:
        raise NonFiniteLossError.after(step) from error
    except OSError as error:
        raise unwritable(plan.run.folder, error) from error
    except MidiWriteError as error:
        raise TrainingError(error.message, hint=error.hint) from error
    finally:
        decoder.train(was_training)
    return SamplesMade(step=step, files=tuple(files), n_wanted=plan.recipe.n_samples)


def _notes(decoder: Decoder, tokenizer: Tokenizer, seconds: float, seed: int) -> NoteTable:
    """Return the notes of a piece from nothing; of none where the model makes none."""
    plan = LengthPlan(seconds=seconds)
    made: list[EventMade] = []
    reason = ""
    stream = stream_events(
        TorchEngine(decoder),  # as it is: compiled code would not pay for weights that change
        tokenizer,
        plan=plan,
        generator=torch.Generator().manual_seed(seed),
        n_endings=0,
    )
    for event in stream:
        if isinstance(event, EventMade):
            made.append(event)
        elif isinstance(event, SteppedBack):
            del made[event.index :]
        elif isinstance(event, Finished):
            reason = event.reason
    ids = np.array([event.event for event in made], dtype=np.int64)
    ids = ids.reshape(-1, tokenizer.n_attributes)
    decoded = tokenizer.decode_events(ids, after=np.array([tokenizer.start_event]))
    notes, _ = fit_ending(decoded.notes, plan, ring=reason == "length")
    return notes
