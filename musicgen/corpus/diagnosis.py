"""What the doctor found: a line for each file, and figures of the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from musicgen.corpus.music import VELOCITY_BINS, Music
from musicgen.corpus.report import told_count, told_length
from musicgen.corpus.words import reason_words, told_reasons
from musicgen.midi import PLAIN_TONIC_NAMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """What became of one file.

    Attributes:
        path: Where it lies, relative to the folder; in an archive, below the archive's name.
        code: `KEPT`, or a short name of the reason why it is left out.
        message: The same as a sentence.
        of: The file that holds its music, where it is left out for that; else empty.
        group: Name of its group: files of one hold the same music. Empty for what is no music.
        split: "train", "validation", "test" (the folder's own), "within" (its last tenth is held
            out), or empty for what is left out.
        notes: Notes without drums.
        seconds: From 0 to the end of the last note.
    """

    path: str
    code: str
    message: str
    of: str = ""
    group: str = ""
    split: str = ""
    notes: int = 0
    seconds: float = 0.0

    @property
    def is_kept(self) -> bool:
        """Whether it is not left out."""
        return self.code == KEPT

    @property
    def reason(self) -> str:
        """The code in a few words."""
        return reason_words(self.code)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figures:
    """What the kept files hold together.

    Attributes:
        pitches: Notes of each pitch, int64 (128,).
        velocities: Notes of each four velocities, int64 (32,).
        keys: Files by their best key, 12 major ones from C, then 12 minor ones, int64 (24,).
        density_per_s: Notes a second of each file, float64 (files,).
        seconds: Length of each file, float64 (files,).
    """

    pitches: NDArray[np.int64]
    velocities: NDArray[np.int64]
    keys: NDArray[np.int64]
    density_per_s: NDArray[np.float64]
    seconds: NDArray[np.float64]

    @classmethod
    def of(cls, music: Sequence[Music]) -> Figures:
        """Add up the figures of pieces."""
        pitches, velocities = np.zeros(128, np.int64), np.zeros(VELOCITY_BINS, np.int64)
        for piece in music:
            pitches += piece.pitches
            velocities += piece.velocities
        return cls(
            pitches=pitches,
            velocities=velocities,
            keys=np.bincount([piece.key for piece in music], minlength=24).astype(np.int64),
            density_per_s=np.array([piece.notes_per_s for piece in music], dtype=np.float64),
            seconds=np.array([piece.seconds for piece in music], dtype=np.float64),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the histograms and percentiles as plain data."""
        return {
            "pitches": self.pitches.tolist(),
            "velocities": self.velocities.tolist(),
            "keys": {
                f"{PLAIN_TONIC_NAMES[key]} {'major' if key < 12 else 'minor'}": count
                for key, count in enumerate(self.keys.tolist())
            },
            "notes_per_s": _percentiles(self.density_per_s),
            "seconds": _percentiles(self.seconds),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What the doctor found in a folder.

    Attributes:
        folder: The folder, as it was given.
        files: A line for each file, in the order of their names.
        figures: Of the files that are kept.
        split_rule: A sentence on how training and validation pieces are told apart.
        warnings: Sentences on what may flatter held-out figures.
        notices: Sentences on the reading itself.
        read: Files that were read; the others were known from an earlier run.
    """

    folder: str
    files: tuple[FileLine, ...]
    figures: Figures
    split_rule: str
    warnings: tuple[str, ...]
    notices: tuple[str, ...]
    read: int

    def by_code(self) -> dict[str, int]:
        """Return how many files have each code: the kept ones first, then the commonest."""
        counts = Counter(line.code for line in self.files)
        kept = counts.pop(KEPT, 0)
        return {KEPT: kept, **dict(counts.most_common())}

    def by_split(self) -> dict[str, int]:
        """Return how many kept files each side of the split has."""
        return dict(Counter(line.split for line in self.files if line.code == KEPT).most_common())

    @property
    def groups_of_several(self) -> int:
        """Groups that hold more than one file."""
        counts = Counter(line.group for line in self.files if line.group)
        return sum(count > 1 for count in counts.values())

    def summary(self) -> tuple[str, ...]:
        """Say it all in a few sentences."""
        counts = self.by_code()
        notes = sum(line.notes for line in self.files if line.code == KEPT)
        length = told_length(sum(line.seconds for line in self.files if line.code == KEPT))
        found = [
            f"{told_count(len(self.files), 'file')}: {counts[KEPT]:,} kept, with {notes:,} notes "
            f"in {length}."
        ]
        out = {code: count for code, count in counts.items() if code != KEPT}
        if out:
            found.append(f"{sum(out.values()):,} left out: {told_reasons(out)}.")
        if self.groups_of_several:
            n = self.groups_of_several
            found.append(
                f"{told_count(n, 'piece')} {'is' if n == 1 else 'are'} there in several files; all "
                "files of one are on the same side: trained on, or held out."
            )
        sides = self.by_split()
        if sides and "within" not in sides:
            told = {"train": "to train on", "validation": "held out", "test": "set aside"}
            parts = [f"{sides[side]:,} {text}" for side, text in told.items() if side in sides]
            found.append(f"{', '.join(parts)}.")
        return (*found, self.split_rule, *self.warnings, *self.notices)

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data, for `--json`."""
        return {
            "folder": self.folder,
            "counts": self.by_code(),
            "splits": self.by_split(),
            "groups_of_several": self.groups_of_several,
            "split_rule": self.split_rule,
            "warnings": list(self.warnings),
            "notices": list(self.notices),
            "read": self.read,
            "figures": self.figures.as_dict(),
            "files": [asdict(line) for line in self.files],
        }


def _percentiles(values: NDArray[np.float64]) -> dict[str, float] | None:
    if not len(values):
        return None
    low, middle, high = np.percentile(values, (5, 50, 95)).round(2).tolist()
    return {"5%": low, "50%": middle, "95%": high, "max": round(float(values.max()), 2)}
