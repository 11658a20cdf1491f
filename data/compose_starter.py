"""Compose the starter pieces: `python data/compose_starter.py [FOLDER]`.

Two dozen short piano pieces of our own making, so that training can be tried on a fresh machine
and nobody's rights are touched. The same script always writes the same bytes, and a test holds it
to that.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from starter_dances import DANCES
from starter_songs import SONGS
from starter_studies import STUDIES

from musicgen.midi import score_to_bytes
from musicgen.midi.sheet import sheet_to_score


def compose(folder: Path) -> list[Path]:
    """Write every piece into `folder` and return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, write in enumerate((*SONGS, *DANCES, *STUDIES), start=1):
        file = folder / f"{number:02d}_{write.__name__}.mid"
        file.write_bytes(score_to_bytes(sheet_to_score(write().perform())))
        files.append(file)
    return files


if __name__ == "__main__":
    here = Path(__file__).resolve().parent / "starter"
    compose(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
