"""What the roll costs a frame, with 20,000 notes; and the large map with 2,048 events.

    python benchmarks/bench_ui_roll.py
    python benchmarks/bench_ui_roll.py --smoke                 # 500 notes, 64 events, one round

The roll's own files run in a real Chromium, which traces how long their script takes: while the
piece plays and the view follows, while it is dragged, with a minute in view and with all notes in
view; and while heads are switched and the crosshair is moved over the map. Painting, which the
browser does in other processes, is left out.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from roll_page import opened_roll, share, silence, traced
from rounds import Table, parser_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

WATCHED_MS = 3000
N_HEADS, N_LAYERS = 8, 2
LENGTH_S = 600.0


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__ or "", rounds=3)
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--events", type=int, default=2048)
    options = parser.parse_args(arguments)
    if options.smoke:
        options.notes, options.events, options.rounds = 500, 64, 1
    frames, tasks = measure(options)
    table = Table(
        title=f"The roll with {options.notes:,} notes: script a frame",
        unit="ms",
        base="one minute, playing and following: median",
        measured=frames,
    )
    table.show()
    table.keep("ui_roll.jsonl", options, what="frames", notes=options.notes)
    table = Table(
        title=f"The large map of {options.events:,} events: the longest that the page stands still",
        unit="ms",
        base="the crosshair moves",
        measured=tasks,
    )
    table.show()
    table.keep("ui_roll.jsonl", options, what="map", events=options.events)


def measure(options: argparse.Namespace) -> tuple[dict[str, list], dict[str, list]]:
    """Return milliseconds of frames, and of the longest tasks on the map, by what was done."""
    piece = piece_of(options.notes)
    frames: dict[str, list[float]] = {}
    tasks: dict[str, list[float]] = {}
    with opened_roll(piece, {"listen": lambda _: silence(LENGTH_S), **attention(options)}) as page:
        page.locator(".mg .play").click()
        page.wait_for_timeout(500)
        for _ in range(options.rounds):
            for name, view, act in (
                (
                    "one minute, playing and following",
                    60.0,
                    lambda: page.wait_for_timeout(WATCHED_MS),
                ),
                ("one minute, dragged while it plays", 60.0, lambda: drag(page)),
                ("all notes, playing", LENGTH_S, lambda: page.wait_for_timeout(WATCHED_MS)),
                ("all notes but a few, dragged", LENGTH_S * 0.9, lambda: drag(page)),
            ):
                show(page, view)
                found = traced(page, act)["frames"]
                frames.setdefault(f"{name}: median", []).append(statistics.median(found))
                frames.setdefault(f"{name}: 99 of 100", []).append(share(found, 0.99))
        page.locator(".mg .play").click()
        choose(page)
        for _ in range(options.rounds):
            for name, act in (("the crosshair moves", cross), ("heads are switched", switch)):
                found = traced(page, lambda act=act: act(page))["tasks"]
                tasks.setdefault(name, []).append(max(found))
    return frames, tasks


def show(page: Page, seconds: float) -> None:
    """Play from the beginning, with so much in view."""
    over = page.locator(".mg .over")
    over.focus()
    page.keyboard.press("Home")
    page.keyboard.press("0")
    span = LENGTH_S
    while span / 1.5 > seconds * 0.99:
        page.keyboard.press("+")
        span /= 1.5
    page.wait_for_timeout(300)


def drag(page: Page) -> None:
    """Move the view to and fro."""
    box = page.locator(".mg .over").bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 4
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(x - 6 * min(step, 60 - step) * 3, y)
        page.wait_for_timeout(16)
    page.mouse.up()


def choose(page: Page) -> None:
    """Choose a late note that the model saw, and wait for its map."""
    page.locator(".mg .over").focus()
    for _ in range(3):
        page.keyboard.press(".")
    more = page.locator(".mg .gaze .more")
    if more.get_attribute("aria-expanded") == "false":
        more.click()
    page.locator(".mg .habits li").first.wait_for()
    page.wait_for_timeout(2000)


def cross(page: Page) -> None:
    """Move the pointer over the map."""
    box = page.locator(".mg .map").bounding_box()
    assert box
    for step in range(80):
        page.mouse.move(box["x"] + 80 + step * 2, box["y"] + box["height"] * 0.7 - step)
        page.wait_for_timeout(10)


def switch(page: Page) -> None:
    """Go through the heads, one map after another."""
    for head in range(4):
        page.locator(".mg .habits button").nth(head).click()
        page.wait_for_timeout(700)


def piece_of(n_notes: int) -> dict[str, Any]:
    """Return a piece of four tracks, as the roll is told it."""
    chance = random.Random(0)
    on = sorted(chance.randrange(round(LENGTH_S * 1000) - 800) for _ in range(n_notes))
    columns = {
        "on": on,
        "len": [chance.randrange(60, 700) for _ in on],
        "pitch": [chance.randrange(24, 100) for _ in on],
        "vel": [chance.randrange(20, 127) for _ in on],
        "track": [chance.randrange(4) for _ in on],
    }
    beats = list(range(0, round(LENGTH_S * 1000), 500))
    return {
        "id": "p",
        "kind": "prompt",
        "title": "many notes",
        "seconds": LENGTH_S,
        "promptEnd": LENGTH_S,
        "newTrack": -1,
        "notes": columns,
        "tracks": ["one", "two", "three", "four"],
        "meter": {"beats": beats, "bars": list(range(0, len(beats), 4)), "kept": True},
        "pedals": [[t, t + 1.6] for t in range(0, round(LENGTH_S), 2)],
        "audio": "listen/p.wav",
        "maps": "attention/p",
        "live": None,
    }


def attention(options: argparse.Namespace) -> dict[str, Callable[[str], bytes]]:
    """Return what answers about a piece whose first notes a model of random weights saw."""
    import json
    import zlib
    from urllib.parse import parse_qs

    import numpy as np

    from musicgen.pipeline.looking import AttentionView
    from musicgen.ui.gaze import Gaze
    from musicgen.ui.gaze_bytes import map_bytes

    n_events, chance = options.events, np.random.default_rng(0)
    weights = chance.random((N_LAYERS, N_HEADS, n_events, n_events), dtype=np.float32) ** 8
    weights = np.tril(weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    onset = np.arange(n_events - 1) / 8
    gaze = Gaze(
        view=AttentionView(
            weights=weights.astype(np.float16),
            ids=np.zeros((n_events, 4), np.int64),
            note_index=np.arange(-1, n_events - 1),
            notes=np.stack([onset, onset + 0.1, 40 + onset % 40, onset * 0 + 80], 1),
        ),
        event_of=np.arange(1, n_events),
        note_of=np.minimum(np.arange(-1, n_events - 1), options.notes - 1),
    )

    def large(path: str) -> bytes:
        query = parse_qs(path.partition("?")[2])
        layers, heads = (
            [int(n) for n in query[name][0].split(",")] for name in ("layers", "heads")
        )
        return zlib.decompress(map_bytes(gaze.combined(layers, heads, "mean")), 31)

    looked = gaze.look(n_events - 2)
    if looked is None:
        sys.exit("the last note was not seen")
    return {
        "attention/p/note": lambda _: looked,
        "attention/p/0": lambda _: gaze.tiles(),
        "attention/p/0/facts": lambda _: json.dumps(gaze.facts()).encode(),
        "attention/p/0/map": large,
    }


if __name__ == "__main__":
    main()
