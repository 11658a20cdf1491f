"""Takes of a model beside real music: the figures of docs/evaluation.md in one table.

    python benchmarks/bench_takes.py piano CORPUS/maestro -o TAKES
    python benchmarks/bench_takes.py piano CORPUS/maestro -o TAKES --takes 20 --prompts 0 --lengths

Makes takes with the seeds 1 to N, takes of other lengths, and continuations of 10 s of held-out
music by 20 s; all into the folder TAKES, where a later call finds and uses them again, so it may be
broken off at any time. What is in the folder decides: a folder is for one model and one sampling.
The table's figures are added to benchmarks/results/takes.jsonl.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import takes_made as made

from musicgen.corpus import list_music
from musicgen.errors import CheckpointError
from musicgen.evaluation import (
    Excerpt,
    Trigram,
    TrigramSampler,
    compare,
    continuation_fit,
    cut_excerpt,
    cut_excerpts,
    find_faults,
    heard_notes,
    is_released,
    load_reference,
    measure,
    meets_length,
    told_apart,
)
from musicgen.evaluation.copies import find_copies
from musicgen.evaluation.discriminator import SECONDS as JUDGED_S
from musicgen.midi import NoteTable, read_midi
from musicgen.tokens import get_tokenizer

RESULTS = Path(__file__).resolve().parent / "results" / "takes.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table: what, the figure, what is wanted at least, the dream."""

    what: str
    found: str
    least: str
    dream: str


def main() -> None:
    options = arguments()
    model, folder = options.model, options.output
    figures: dict = {"model": model, "takes": options.takes, "date": time.strftime("%F")}
    if options.sampling is not None:
        figures["sampling"] = options.sampling
    rows: list[Row] = []
    wanted = {
        options.seconds: options.takes,
        **dict.fromkeys(options.lengths, options.length_takes),
    }
    sets = {
        s: made.takes(model, folder, seconds=s, n_takes=n, sampling=options.sampling)
        for s, n in wanted.items()
    }
    takes = [t for t in sets[options.seconds][: options.takes] if t.notes is not None]
    if not takes:
        raise SystemExit("not one take holds music")
    for name in ("model_sha256", "engine"):
        found = {
            take.facts[name] for one in sets.values() for take in one if take.notes is not None
        }
        if len(found) > 1:
            raise SystemExit(f"{folder} holds takes of several: {name} is {', '.join(found)}")
        figures[name] = found.pop()
    rows += statistics_rows(takes, options.seconds, figures)
    rows += fault_rows(sets[options.seconds], figures)
    rows += length_rows(sets, figures)
    rows += copy_rows(model, takes, figures)
    held_out = read_notes(options.corpus / "validation", None)
    if options.prompts:
        prompts = made.prompts(held_out, options.prompts)
        rows += continuation_rows(options, held_out, prompts, figures)
    if options.trigram_pieces:
        train = read_notes(options.corpus / "train", options.trigram_pieces)
        rows += judge_rows(takes, held_out, train, options.seconds, figures)
    for row in [Row(what="what", found="found", least="at least", dream="the dream"), *rows]:
        print(f"{row.what:62}{row.found:>22}{row.least:>12}{row.dream:>12}")
    figures["table"] = [asdict(row) for row in rows]
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(figures) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Takes of a model beside real music")
    parser.add_argument("model")
    parser.add_argument("corpus", type=Path, help="the folder that holds train and validation")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the takes")
    parser.add_argument("--takes", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--lengths", type=float, nargs="*", default=[30.0, 120.0])
    parser.add_argument("--length-takes", type=int, default=20)
    parser.add_argument("--sampling", type=json.loads, help="settings (JSON) other than its own")
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--trigram-pieces", type=int, default=200, help="0: no discriminator")
    return parser.parse_args()


def read_notes(folder: Path, n_pieces: int | None) -> dict[str, NoteTable]:
    """Return the notes of a folder's pieces, or of some of them, drawn with seed 0."""
    paths = list_music(folder)
    if n_pieces is not None:
        rows = np.random.default_rng(0).permutation(len(paths))[:n_pieces]
        paths = [paths[row] for row in np.sort(rows).tolist()]
    found = {}
    for path in paths:
        found[path.relative_to(folder).as_posix()] = heard_notes(read_midi(path).score)
        made.say(f"{folder.name}: {len(found)} of {len(paths)} pieces read")
    return found


def statistics_rows(takes: list[made.Made], seconds: float, figures: dict) -> list[Row]:
    excerpts = [whole(take, seconds) for take in takes]
    found = compare([measure(excerpt) for excerpt in excerpts], load_reference(seconds))
    figures["statistics"] = found.as_dict()
    worst = sorted(found.statistics.items(), key=lambda item: item[1].inside)
    inside = float(np.mean([one.inside for one in found.statistics.values()]))
    few = ", ".join(f"{name} {one.inside:.0%}" for name, one in worst[:5])
    sys.stderr.write(f"least inside: {few}\n")
    above = sum(one.inside >= 0.8 for one in found.statistics.values())
    return [
        Row(
            what=f"inside the corpus's 5-95%, least of {len(worst)} statistics ({worst[0][0]})",
            found=f"{found.inside_least:.0%}",
            least="80%",
            dream="90%",
        ),
        Row(
            what="  statistics that reach 80%",
            found=f"{above} of {len(worst)}",
            least="all",
            dream="",
        ),
        Row(what="  mean over the statistics", found=f"{inside:.0%}", least="", dream=""),
        Row(
            what="distance from real music, as a multiple of held-out music's",
            found=f"{found.ratio:.2f}",
            least="2.5",
            dream="1.3",
        ),
    ]


def fault_rows(takes: list[made.Made], figures: dict) -> list[Row]:
    faults = [find_faults(take.notes) for take in takes if take.notes is not None]
    counts = {
        "loops": sum(fault.loops for fault in faults),
        "silences": sum(fault.silences for fault in faults),
        "long_notes": sum(fault.long_notes for fault in faults),
        "crashes": sum(take.notes is None for take in takes),
        "repairs": sum(int(take.facts.get("repairs", 0)) for take in takes),
        "takes_with_repairs": sum(bool(take.facts.get("repairs", 0)) for take in takes),
    }
    figures["faults"] = counts
    said = " / ".join(str(count) for count in list(counts.values())[:5])
    what = "loops / silences over 4 s / notes over 20 s / crashes / repairs"
    return [Row(what=what, found=said, least="0", dream="0")]


def copy_rows(model: str, takes: list[made.Made], figures: dict) -> list[Row]:
    try:
        index = made.pipeline(model).copy_index
    except CheckpointError as error:
        sys.stderr.write(f"no copy check: {error}\n")
        return []
    reports = [find_copies(index, take.notes) for take in takes if take.notes is not None]
    beyond = sum(bool(report.beyond) for report in reports)
    figures["copies_beyond"] = beyond
    what = "takes that share a longer passage with the corpus than held-out music"
    return [Row(what=what, found=str(beyond), least="0", dream="0")]


def length_rows(sets: dict[float, list[made.Made]], figures: dict) -> list[Row]:
    rows, figures["lengths"] = [], {}
    for seconds, takes in sorted(sets.items()):
        sounding = [take.notes for take in takes if take.notes is not None]
        met = [meets_length(notes, seconds) for notes in sounding]
        both = [one and is_released(notes) for one, notes in zip(met, sounding, strict=True)]
        shares = sum(met) / len(takes), sum(both) / len(takes)
        figures["lengths"][f"{seconds:g}"] = {"met": shares[0], "and_released": shares[1]}
        what = f"{len(takes)} takes of {seconds:g} s: within 5% of the length, and released"
        found = f"{shares[0]:.0%}, {shares[1]:.0%}"
        rows.append(Row(what=what, found=found, least="95%", dream="100%"))
    return rows


def continuation_rows(
    options: argparse.Namespace,
    held_out: dict[str, NoteTable],
    prompts: list[Excerpt],
    figures: dict,
) -> list[Row]:
    continued = made.continuations(
        options.model, options.output, held_out, prompts, sampling=options.sampling
    )
    kept = [row for row, take in enumerate(continued) if take.notes is not None]
    chosen = [prompts[row] for row in kept]
    new = [whole(continued[row], made.NEW_S) for row in kept]
    real = [made.what_came(held_out[prompt.piece], prompt) for prompt in chosen]
    found, ceiling = continuation_fit(chosen, new), continuation_fit(chosen, real)
    by_trait = {name: round(value, 4) for name, value in found.nearer_by_trait.items()}
    figures["continuation"] = {"nearer": found.nearer, **by_trait, "of_real": ceiling.nearer}
    return [
        Row(
            what=f"nearer to its own prompt, {found.pairs} prompts (real: {ceiling.nearer:.0%})",
            found=f"{found.nearer:.1%}",
            least="80%",
            dream="95%",
        )
    ]


def judge_rows(
    takes: list[made.Made],
    held_out: dict[str, NoteTable],
    train: dict[str, NoteTable],
    seconds: float,
    figures: dict,
) -> list[Row]:
    rng = np.random.default_rng(0)
    per_piece = int(seconds // JUDGED_S)
    pieces = [p for p, notes in held_out.items() if notes.end_s.max() > JUDGED_S * per_piece]
    pieces = [pieces[row] for row in rng.permutation(len(pieces))[: len(takes)].tolist()]
    real = []
    for piece in pieces:
        cuts = list(cut_excerpts(held_out[piece], piece=piece, seconds=JUDGED_S))
        real += [cuts[row] for row in rng.permutation(len(cuts))[:per_piece].tolist()]
    tokenizer = get_tokenizer("piano")
    trigram = Trigram(tokenizer.vocab_sizes).fit([tokenizer.encode(n) for n in train.values()])
    sampler = TrigramSampler(trigram, tokenizer)
    fakes = [
        made.Made(name=f"trigram-{i}", notes=sampler.take(seconds, rng), facts={})
        for i in range(len(takes))
    ]
    of_real = [measure(excerpt) for excerpt in real]
    of_fakes = [measure(e) for take in fakes for e in parts(take, per_piece)]
    of_takes = [measure(e) for take in takes for e in parts(take, per_piece)]
    told, control = (
        told_apart(of_real, some, generator=np.random.default_rng(0))
        for some in (of_takes, of_fakes)
    )
    figures["discriminator"] = {
        "right": told,
        "right_on_trigram": control,
        "excerpts": len(of_takes),
    }
    what = f"judge right, real against takes (against the trigram's: {control:.1%})"
    return [Row(what=what, found=f"{told:.1%}", least="85%", dream="65%")]


def whole(take: made.Made, seconds: float) -> Excerpt:
    if take.notes is None:
        raise ValueError(f"{take.name} holds no music")
    return cut_excerpt(take.notes, piece=take.name, start_s=0.0, seconds=seconds)


def parts(take: made.Made, n_parts: int) -> list[Excerpt]:
    if take.notes is None:
        return []
    return [
        cut_excerpt(take.notes, piece=take.name, start_s=part * JUDGED_S, seconds=JUDGED_S)
        for part in range(n_parts)
    ]


if __name__ == "__main__":
    main()
