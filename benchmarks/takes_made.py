"""Takes and continuations for bench_takes.py: made once, kept as files, used again."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from musicgen.evaluation import Excerpt, cut_excerpt, heard_notes
from musicgen.midi import NoteTable, notes_to_score, read_midi, score_to_bytes
from musicgen.pipeline import MusicPipeline, Take

PROMPT_S, NEW_S = 10.0, 20.0
FEWEST_NOTES = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Made:
    """One take that was made.

    Attributes:
        name: What it is called.
        notes: As `heard_notes` returns them; None if it crashed.
        facts: What `--json` tells of a take.
    """

    name: str
    notes: NoteTable | None
    facts: dict[str, Any]


def takes(
    model: str,
    folder: Path,
    *,
    seconds: float,
    n_takes: int,
    sampling: dict[str, Any] | None = None,
) -> list[Made]:
    """Return takes with the seeds 1 to n, those that are missing made now."""
    asked: dict[str, Any] = {"seconds": seconds, **(sampling or {})}
    made = []
    for seed in range(1, n_takes + 1):
        path = folder / f"takes-{seconds:g}s" / f"seed-{seed:03d}.mid"
        made.append(_kept(path, lambda seed=seed: pipeline(model).generate(**asked, seed=seed)))
        say(f"{seed} of {n_takes} takes of {seconds:g} s")
    return made


def continuations(
    model: str,
    folder: Path,
    pieces: dict[str, NoteTable],
    prompts: list[Excerpt],
    *,
    sampling: dict[str, Any] | None = None,
) -> list[Made]:
    """Return a continuation of each prompt, without the prompt; seeds from 1 on."""
    made = []
    for seed, prompt in enumerate(prompts, start=1):
        path = folder / "continuations" / f"prompt-{seed:03d}.mid"

        def make(seed: int = seed, prompt: Excerpt = prompt) -> Take:
            return pipeline(model).continue_(
                _prompt_file(pieces[prompt.piece], prompt),
                prompt_seconds=PROMPT_S,
                only_new=True,
                seconds=NEW_S,
                seed=seed,
                **(sampling or {}),
            )

        made.append(_kept(path, make))
        say(f"{seed} of {len(prompts)} continuations")
    return made


def prompts(pieces: dict[str, NoteTable], n_prompts: int) -> list[Excerpt]:
    """Draw prompts with seed 0: of every piece in turn, anywhere with music before and after."""
    rng = np.random.default_rng(0)
    names = [name for name, notes in pieces.items() if notes.end_s.max() > 2 * (PROMPT_S + NEW_S)]
    found: list[Excerpt] = []
    while len(found) < n_prompts:
        name = names[len(found) % len(names)]
        notes = pieces[name]
        start_s = round(float(rng.uniform(0, notes.end_s.max() - PROMPT_S - NEW_S)), 2)
        prompt = cut_excerpt(notes, piece=name, start_s=start_s, seconds=PROMPT_S)
        if min(len(prompt.notes), len(what_came(notes, prompt).notes)) >= FEWEST_NOTES:
            found.append(prompt)
    return found


def what_came(notes: NoteTable, prompt: Excerpt) -> Excerpt:
    """Return the seconds that follow a prompt in its piece."""
    start_s = prompt.start_s + prompt.seconds
    return cut_excerpt(notes, piece=prompt.piece, start_s=start_s, seconds=NEW_S)


def say(line: str) -> None:
    """Tell how far it is."""
    sys.stderr.write(f"\r\x1b[K{line}" if sys.stderr.isatty() else "")


def _kept(path: Path, make: Callable[[], Take]) -> Made:
    """Return what lies at `path`; first make it, if nothing does."""
    facts_path = path.with_suffix(".json")
    if not facts_path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            take = make()
        except Exception:  # noqa: BLE001 (a crash is a figure of the table)
            facts: dict[str, Any] = {"crash": traceback.format_exc()}
        else:
            take.save(path)
            facts = take.as_dict()
        facts_path.write_text(
            json.dumps(facts), encoding="utf-8"
        )  # last: it says that all is there
    facts = json.loads(facts_path.read_text(encoding="utf-8"))
    notes = None if "crash" in facts else heard_notes(read_midi(path).score)
    return Made(name=path.stem, notes=notes, facts=facts)


def _prompt_file(notes: NoteTable, prompt: Excerpt) -> bytes:
    """Return the notes that begin in a prompt as a file, ringing past the cut as they did."""
    start_s = prompt.start_s
    inside = (notes.onset_s >= start_s - 1e-6) & (notes.onset_s < start_s + PROMPT_S - 1e-6)
    part = notes.select(inside)
    onset_s = np.maximum(part.onset_s - start_s, 0)
    table = NoteTable.of(onset_s, part.end_s - start_s, part.pitch, part.velocity)
    return score_to_bytes(notes_to_score(table))


@lru_cache(maxsize=1)
def pipeline(model: str) -> MusicPipeline:
    """Load a model, once."""
    return MusicPipeline.load(model, threads=1)
