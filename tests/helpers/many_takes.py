"""Many visitors who make many takes, in a process of its own: how much its memory grows.

    python tests/helpers/many_takes.py FOLDER TAKES [VISITORS] [NOTES]

No model and no queue: takes of a usual size stand in for what they make. Everything else is the
studio's own: jobs, desks, drawers, shelf and disk. Prints megabytes, from the tenth part of the
takes on, and how many takes lie there in the end.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from made_takes import made_take


def resident_mb() -> float:
    """Return how much memory this process has, on Linux."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main(folder: str, takes: int, visitors: int = 20, notes: int = 400) -> None:
    os.environ["MUSICGEN_HOME"] = folder
    from musicgen.ui.order import Order
    from musicgen.ui.resources import Studio

    studio = Studio("none")
    studio.workshop.submit = lambda job: job  # type: ignore[method-assign]
    order = Order(seconds=30, temperature=1.0, top_p=None, top_k=0, min_p=0.0, seed=None)
    begun_mb = 0.0
    for number in range(takes):
        desk = studio.desks.of(f"{number % visitors:032x}")
        job = studio.submit(desk, order)
        job.finish(made_take(seed=number, notes=notes))
        for done in desk.collect():
            done.so_far()
            if done.piece is not None:
                done.piece.on_roll()
        if number == takes // 10:
            begun_mb = resident_mb()
    kept = sum(len(studio.desks.of(f"{v:032x}").drawer.sheets()) for v in range(visitors))
    print(f"{resident_mb() - begun_mb:.1f} {kept}")
    studio.close()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
