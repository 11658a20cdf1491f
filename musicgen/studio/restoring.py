"""From a take to its sheet and back.

Shapes: T events, K attributes.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from musicgen.pipeline import Take
from musicgen.studio.take_folder import StoredTake
from musicgen.studio.take_sheets import TakeFacts, TakeOrigin, TakeSettings, TakeSheet
from musicgen.studio.thumbs import thumb

if TYPE_CHECKING:
    from musicgen.pipeline import Preview


def sheet_of(
    take: Take,
    seen: Preview,
    *,
    name: str,
    title: str,
    number: int,
    made_s: float,
    settings: TakeSettings,
    origin: TakeOrigin | None = None,
) -> TakeSheet:
    """Return the sheet of a take that was just made; the sums of its files are not known yet.

    Args:
        take: What was made.
        seen: The same as a page shows it.
        name: Its unguessable name.
        title: What it is called.
        number: How many were made before it, and one.
        made_s: Now, in seconds since 1970.
        settings: What was asked for.
        origin: What it goes on from.
    """
    return TakeSheet(
        id=name,
        title=title,
        number=number,
        made_s=made_s,
        facts=TakeFacts.of(take),
        settings=settings,
        origin=origin,
        thumb=thumb(seen),
        midi_sha256="",
        events_sha256="",
    )


def restored(stored: StoredTake, seen: Preview) -> Take:
    """Return a take as it was when it was made.

    Its events are an empty table (0, 0) where they are lost: it can be heard and gone on from, and
    its attention cannot be shown.

    Args:
        stored: The take as it lay on the disk.
        seen: The same as a page shows it.
    """
    facts = stored.sheet.facts
    notes = seen.notes
    if facts.prompt_seconds > 0 and len(notes):
        notes = notes.select(notes.track == notes.track.max())
    events = np.zeros((0, 0), dtype=np.int64) if stored.events is None else stored.events
    return Take(midi=stored.midi, ids=events, new_notes=notes, **asdict(facts))
