"""Make the shipped model of a finished run: bf16 weights, licence, figures, model card.

    python checkpoints/publish.py runs/piano maestro/validation --minutes 103 --machine "two cores"

Measures the run's best model (or its last) on the held-out folder, a trigram beside it, then writes
checkpoints/piano. The weights are measured as they ship, rounded to bf16.

With `--train maestro/train` the copy index of that folder is built, with the held-out folder for a
yardstick; without, the index that the shipped model has is kept. For a model that stands already:

    python checkpoints/publish.py --only-copies checkpoints/piano maestro/validation \
        --train maestro/train

After `benchmarks/bench_takes.py` has judged its takes, the card is written once more, with them:

    python checkpoints/publish.py --only-card checkpoints/piano
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from musicgen.checkpoint import Checkpoint, add_file, load_checkpoint, save_checkpoint
from musicgen.corpus.store import open_corpus
from musicgen.evaluation import EvaluationReport, Trigram, evaluate
from musicgen.evaluation.copies import (
    INDEX_FILE,
    build_copy_index,
    folder_pieces,
    index_to_bytes,
    with_yardstick,
)
from musicgen.figures import curves_png

HERE = Path(__file__).resolve().parent
TAKES = HERE.parent / "benchmarks" / "results" / "takes.jsonl"
SMOOTHED_STEPS = 50
LICENCE = "CC-BY-NC-SA-4.0"
NATS_OF_388_EVENTS = np.log(2) / 4.07
"""From bits a note to nats a token of the Music Transformer's vocabulary on MAESTRO v2."""


def main() -> None:
    """Publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="the run, or with --only-copies a checkpoint")
    parser.add_argument("held_out", type=Path, nargs="?")
    parser.add_argument("--name", default="piano")
    parser.add_argument("--last", action="store_true", help="the last step's model, not the best")
    parser.add_argument("--train", type=Path, help="folder to build the copy index of")
    parser.add_argument("--only-copies", action="store_true", help="change nothing but that index")
    parser.add_argument("--only-card", action="store_true", help="write the model card anew")
    parser.add_argument("--minutes", type=float, help="how long the run took")
    parser.add_argument("--machine", help="what it ran on, in words")
    arguments = parser.parse_args()
    if arguments.only_card:
        write_card(load_checkpoint(arguments.run))
        return
    if arguments.held_out is None:
        parser.error("the held-out folder is needed")
    if arguments.only_copies:
        add_file(arguments.run, INDEX_FILE, copy_index(arguments.train, arguments.held_out))
        return
    if arguments.minutes is None or arguments.machine is None:
        parser.error("--minutes and --machine are needed for the model card")
    checkpoints = sorted((arguments.run / "checkpoints").glob("step-*"))
    best = load_checkpoint(checkpoints[-1] if arguments.last else arguments.run)
    folder = HERE / arguments.name
    extra = {}
    if arguments.train is not None:
        extra[INDEX_FILE] = copy_index(arguments.train, arguments.held_out)
    elif (folder / INDEX_FILE).is_file():
        extra[INDEX_FILE] = (folder / INDEX_FILE).read_bytes()
    save(folder, best, {}, extra)
    *_, report = evaluate(load_checkpoint(folder), arguments.held_out)
    if not isinstance(report, EvaluationReport):
        raise SystemExit("the evaluation did not finish")
    figures = {
        "folder": "maestro/validation",
        "bits_per_note": round(report.bits_per_note, 4),
        "bits_by_attribute": {k: round(v, 4) for k, v in report.bits_by_attribute.items()},
        "trigram_bits_per_note": round(trigram_bits(arguments.run, best), 4),
        "notes": report.notes,
        "pieces": report.pieces,
        "minutes": arguments.minutes,
        "machine": arguments.machine,
    }
    save(folder, best, figures, extra)
    (folder / "curve.png").write_bytes(curve(arguments.run / "metrics.jsonl"))
    write_card(load_checkpoint(folder))
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")


def copy_index(train: Path | None, held_out: Path) -> bytes:
    """Return the copy index of a folder, with the figures of held-out music."""
    if train is None:
        raise SystemExit("--train is needed: the folder that the model was trained on")
    index = build_copy_index(folder_pieces(train))
    return index_to_bytes(with_yardstick(index, folder_pieces(held_out)))


def save(folder: Path, best: Checkpoint, figures: dict[str, Any], extra: dict[str, bytes]) -> None:
    """Write the checkpoint to ship."""
    save_checkpoint(
        folder,
        decoder=best.decoder,
        tokenizer=best.tokenizer,
        name=folder.name,
        step=best.manifest.step,
        training={**best.manifest.training, "figures": figures},
        licence=LICENCE,
        dtype=torch.bfloat16,
        extra=extra,
    )


def trigram_bits(run: Path, best: Checkpoint) -> float:
    """Return the bits a note of the trigram on the run's own split."""
    corpus = open_corpus(run / "corpus")
    if corpus is None:
        raise SystemExit(f"{run} has no corpus")
    pieces = {
        split: [
            np.asarray(corpus.events(split)[piece.start : piece.start + piece.n_events])
            for piece in corpus.pieces(split)
        ]
        for split in ("train", "validation")
    }
    trigram = Trigram(best.tokenizer.vocab_sizes).fit(pieces["train"])
    notes = sum(piece.n_notes for piece in corpus.pieces("validation"))
    return float(trigram.surprise(pieces["validation"]).bits().sum()) / notes


def curve(metrics: Path) -> bytes:
    """Draw a run's losses: of each step, smoothed, and held out."""
    lines = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    steps = np.array([line["step"] for line in lines if "loss" in line])
    losses = np.array([line["loss"] for line in lines if "loss" in line])
    smooth = np.convolve(losses, np.ones(SMOOTHED_STEPS) / SMOOTHED_STEPS, mode="valid")
    held_out = [line for line in lines if "validation_loss" in line]
    return curves_png(
        {
            f"training, mean of {SMOOTHED_STEPS} steps": (steps[SMOOTHED_STEPS - 1 :], smooth),
            "validation": (
                [line["step"] for line in held_out],
                [line["validation_loss"] for line in held_out],
            ),
        },
        title="piano: nats an event",
    )


def write_card(model: Checkpoint) -> None:
    """Write the model card beside the weights."""
    fields = card_fields(model, dict(model.manifest.training["figures"]))
    card = (HERE / "card.md").read_text(encoding="utf-8").format(**fields)
    (model.folder / "README.md").write_text(card, encoding="utf-8")


def takes_table(sha256: str) -> str:
    """Return the figures, measured last, of takes that a model makes by its own sampling."""
    lines = TAKES.read_text(encoding="utf-8").splitlines() if TAKES.is_file() else []
    own = [
        found
        for found in map(json.loads, lines)
        if found["model_sha256"] == sha256 and "sampling" not in found
    ]
    if not own or "table" not in own[-1]:
        return "Its takes have not been judged yet."
    rows = [
        " | ".join(("", row["what"].strip(), row["found"], row["least"], row["dream"], "")).strip()
        for row in own[-1]["table"]
    ]
    head = ["| takes | found | wanted at least | the dream |", "|---|---|---|---|"]
    return "\n".join(head + rows)


def card_fields(best: Checkpoint, figures: dict[str, Any]) -> dict[str, Any]:
    """Return what the card's placeholders stand for."""
    config, training = best.decoder.config, best.manifest.training
    bits, trigram = figures["bits_per_note"], figures["trigram_bits_per_note"]
    split = figures["bits_by_attribute"]
    events = training["step"] * training["recipe"]["batch_size"] * training["recipe"]["seq_len"]
    return {
        **figures,
        "takes": takes_table(best.sha256),
        "parameters": f"{config.parameter_count():,}",
        "config": config,
        "split": ", ".join(f"{name} {split[name]:.2f}" for name in best.tokenizer.attribute_names),
        "nats": f"{bits * NATS_OF_388_EVENTS:.2f}",
        "below": f"{100 * (1 - bits / trigram):.1f}",
        "step": f"{training['step']:,}",
        "events": f"{events / 1e6:.1f}",
        "train_notes": f"{training['notes']:,}",
        "train_pieces": training["pieces"],
    }


if __name__ == "__main__":
    main()
