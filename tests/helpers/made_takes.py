"""Takes that no model made: enough of one for the drawer and the store."""

from __future__ import annotations

import numpy as np

from musicgen.midi import NoteTable, notes_to_score, score_to_bytes
from musicgen.pipeline import Take, preview
from musicgen.studio.restoring import sheet_of
from musicgen.studio.take_sheets import TakeSettings, TakeSheet

SETTINGS = TakeSettings(seconds=10.0, temperature=1.0, top_p=None, top_k=0, min_p=0.0, seed=None)


def made_take(*, seed: int = 1, notes: int = 12, model_sha256: str = "ab" * 32) -> Take:
    """Return a take of so many notes, half a second apart; its seed moves its pitches."""
    onset = [i / 2 for i in range(notes)]
    pitch = [48 + (5 * i + seed) % 30 for i in range(notes)]
    table = NoteTable.of(onset, [at + 0.4 for at in onset], pitch, [80] * notes)
    return Take(
        midi=score_to_bytes(notes_to_score(table)),
        notes=notes,
        seconds=float(table.end_s.max()),
        prompt_seconds=0.0,
        prompt_notes=0,
        seed=seed,
        finish_reason="length",
        events=notes,
        events_per_s=100.0,
        engine="torch",
        model="tiny",
        model_sha256=model_sha256,
        repairs=0,
        warnings=(),
        ids=np.arange(4 * (notes + 1)).reshape(-1, 4),
        new_from=1,
        new_notes=table,
    )


def made_sheet(take: Take, *, number: int = 1, made_s: float | None = None) -> TakeSheet:
    """Return the sheet of a take, named by its number."""
    return sheet_of(
        take,
        preview(take.midi),
        name=f"{number:032x}",
        title=f"Take {number}",
        number=number,
        made_s=float(number) if made_s is None else made_s,
        settings=SETTINGS,
    )
