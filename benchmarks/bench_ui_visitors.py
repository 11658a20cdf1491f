"""Many people at once: visitors who generate, listen, stop and leave, on one server.

    python benchmarks/bench_ui_visitors.py                     # 20 visitors, ten minutes
    python benchmarks/bench_ui_visitors.py --smoke             # two visitors, two pieces each

The app is served as `musicgen ui` does. Each visitor asks for 10 to 60 s of music with seeds of
their own, looks how far it is as a page does, listens to a third of what they get, stops every
sixth piece half-way, and leaves every eighth alone. Whatever comes back with another one's seed, or
does not come at all, is counted as a fault. The server's memory is looked at all the time: what it
holds of pieces is held after the first hundred, so what it grows by from there on is what is lost.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench_ui_first_sound import served
from rounds import Table, parser_of
from visitor import Visitor

GENERATE, STOP = "Generate", "Stop and keep"
GLANCE_S = 0.3
PATIENCE_S = 300.0
LENGTHS_S = (10, 20, 30, 60)
LOOK_S = 5.0
SETTLED_TAKES, GROWN_TAKES = 100, 500


class Findings:
    """What all visitors saw, added by many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seconds: dict[str, list[float]] = {}
        self.faults: list[str] = []
        self.takes = 0

    def add(self, name: str, seconds: float) -> None:
        """Add how long something took."""
        with self._lock:
            self.seconds.setdefault(name, []).append(seconds)

    def fault(self, what: str) -> None:
        """Add what must not happen."""
        with self._lock:
            self.faults.append(what)

    def take(self) -> None:
        """Count a piece that came."""
        with self._lock:
            self.takes += 1


def main(arguments: Sequence[str] | None = None) -> None:
    parser = parser_of(__doc__ or "", rounds=1)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--model", default="piano")
    options = parser.parse_args(arguments)
    if options.smoke:
        options.visitors, options.minutes = 2, 0.05
    found = Findings()
    with served(options.model) as url:
        warm(url)
        before = memory_mb()
        people = [
            threading.Thread(target=live, args=(url, number, options, found))
            for number in range(options.visitors)
        ]
        for person in people:
            person.start()
        course = [(0, before)]
        while waited_for := [person for person in people if person.is_alive()]:
            waited_for[0].join(LOOK_S)
            course.append((found.takes, memory_mb()))
    report(options, found, course)


def warm(url: str) -> None:
    """Let the server make one piece."""
    visitor = Visitor(url, "seconds=10")
    visitor.run()
    visitor.run(GENERATE)
    wait(visitor, visitor.job or "", Findings())
    visitor.leave()


def live(url: str, number: int, options: argparse.Namespace, found: Findings) -> None:
    """Be one visitor until the time is over."""
    choose = random.Random(number)
    until = time.monotonic() + 60 * options.minutes
    turn = 0
    while turn == 0 or time.monotonic() < until:
        turn += 1
        seed = 1000 * number + turn
        try:
            once(url, seed, choose, found)
        except Exception as error:  # noqa: BLE001  whatever befalls a visitor is counted
            found.fault(f"seed {seed}: {type(error).__name__}: {error}")
        time.sleep(choose.uniform(0, 0.2) if options.smoke else choose.uniform(1, 4))


def once(url: str, seed: int, choose: random.Random, found: Findings) -> None:
    """Come, ask for a piece, and wait for it, stop it, or leave."""
    visitor = Visitor(url, f"seed={seed}&seconds={choose.choice(LENGTHS_S)}")
    try:
        found.add("page, first", visitor.run())
        found.add("page, after the click", visitor.run(GENERATE))
        job = visitor.job
        if job is None:
            found.fault(f"seed {seed}: no piece was begun")
            return
        if seed % 8 == 0:
            return  # the page is closed
        is_stopped = seed % 6 == 0
        if is_stopped:
            time.sleep(0.5)
            stop(visitor, job, found)
        wait(visitor, job, found)
        found.add("page, at the end", visitor.run())
        if is_stopped and f"listen/{job}".encode() not in visitor.seen:
            return  # before its first note: there is nothing
        if f"seed {seed} ".encode() not in visitor.seen:
            found.fault(f"seed {seed}: another piece came back, or none")
        found.take()
        if not is_stopped:
            began = time.perf_counter()
            visitor.fetch(f"attention/{job}/0")  # the page shows it when a piece is whole
            found.add("attention of all heads", time.perf_counter() - began)
        if seed % 3 == 0:
            began = time.perf_counter()
            visitor.fetch(f"listen/{job}.wav")
            found.add("whole sound", time.perf_counter() - began)
    finally:
        visitor.leave()


def stop(visitor: Visitor, job: str, found: Findings) -> None:
    """Press the button that stops, and see how long the piece goes on."""
    said, _ = visitor.ask(f"making/{job}")
    if said["state"] == "done":
        return
    began = time.perf_counter()
    visitor.run()  # the button is on the page that shows the piece
    if STOP not in visitor.buttons:
        return  # it is over
    visitor.run(STOP)
    while visitor.ask(f"making/{job}")[0]["state"] not in ("done", "failed"):
        time.sleep(0.02)
    found.add("stop", time.perf_counter() - began)


def wait(visitor: Visitor, job: str, found: Findings) -> None:
    """Look how far a piece is until it is there."""
    began, sounded = time.perf_counter(), False
    while time.perf_counter() - began < PATIENCE_S:
        said, seconds = visitor.ask(f"making/{job}")
        found.add("how far", seconds)
        if said["notes"]["on"] and not sounded:
            sounded = True
            found.add("first note", time.perf_counter() - began)
        if said["state"] == "failed":
            found.fault(f"{job}: failed")
            return
        if said["state"] == "done":
            found.add("whole piece", time.perf_counter() - began)
            return
        time.sleep(GLANCE_S)
    found.fault(f"{job}: never came")


def memory_mb() -> float:
    """Return the resident memory of the server's process, the one that holds the model."""
    largest = 0.0
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            facts = dict(
                line.split(":", 1) for line in status.read_text().splitlines() if ":" in line
            )
            if facts.get("PPid", "").strip() == str(os.getpid()):
                largest = max(largest, float(facts.get("VmRSS", "0 kB").split()[0]) / 1024)
    return largest


def growth_mb(course: Sequence[tuple[int, float]]) -> float | None:
    """Return what 500 takes add once the first hundred are there; None where no more were made."""
    settled = [(takes, mb) for takes, mb in course if takes >= SETTLED_TAKES]
    if not settled or settled[-1][0] == settled[0][0]:
        return None
    (first, before), (last, after) = settled[0], settled[-1]
    return round((after - before) * GROWN_TAKES / (last - first), 1)


def report(
    options: argparse.Namespace, found: Findings, course: Sequence[tuple[int, float]]
) -> None:
    every_100 = {takes // 100 * 100: round(mb) for takes, mb in reversed(course)}  # the first each
    seconds = {name: found.seconds[name] for name in sorted(found.seconds)}
    print(
        f"{options.visitors} visitors, {options.minutes:g} minutes: {found.takes} takes, "
        f"{len(found.faults)} faults"
    )
    print(
        f"memory: {course[0][1]:.0f} MB before, {course[-1][1]:.0f} after, by takes {every_100}; "
        f"500 takes behind the first hundred add {growth_mb(course)} MB"
    )
    for fault in found.faults[:20]:
        print(f"  {fault}")
    twentieths = {name: _twentieths(figures) for name, figures in seconds.items()}
    for name, parts in twentieths.items():
        print(
            f"{name:<24} median {parts[10]:.2f} s, 95% {parts[19]:.2f} s, longest {parts[20]:.2f} s"
        )
    table = Table(title="visitors", unit="s", base="page, first", measured=twentieths)
    table.keep(
        "ui_visitors.jsonl",
        options,
        visitors=options.visitors,
        minutes=options.minutes,
        takes=found.takes,
        faults=len(found.faults),
        memory_mb=every_100,
        memory_growth_mb=growth_mb(course),
    )
    if found.faults:
        sys.exit(1)


def _twentieths(figures: list[float]) -> list[float]:
    """Return the shortest, the one that 5% are shorter than, and so on to the longest."""
    ordered = sorted(figures)
    return [ordered[i * (len(ordered) - 1) // 20] for i in range(21)]


if __name__ == "__main__":
    main()
