"""Makes the pieces that an empty page offers: takes of the shipped model, untouched.

    python -m musicgen.ui.make_examples

writes them into `ui/examples/`. Do so whenever the shipped model changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from musicgen.assets import asset_dir

SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One example: what it is called, and what makes it."""

    title: str
    seed: int
    temperature: float = 1.0


EXAMPLES: Final = (
    Example(title="calm", seed=11, temperature=0.95),
    Example(title="flowing", seed=21, temperature=0.95),
    Example(title="lively", seed=22, temperature=0.95),
)


def make_examples(folder: Path, model: str = "piano") -> list[Path]:
    """Write the examples into a folder and return their paths.

    Args:
        folder: Where to write them; old examples there are replaced.
        model: Name or folder of the model.

    Raises:
        CheckpointError: There is no such model, or it is damaged.
    """
    from musicgen.pipeline import MusicPipeline

    pipeline = MusicPipeline.load(model, device="cpu")
    paths = []
    for number, example in enumerate(EXAMPLES, start=1):
        take = pipeline.generate(
            seconds=SECONDS, seed=example.seed, temperature=example.temperature
        )
        paths.append(take.save(folder / f"{number}-{example.title}.mid"))
    for old in set(folder.glob("*.mid")) - set(paths):
        old.unlink()
    return paths


if __name__ == "__main__":
    make_examples(asset_dir("ui") / "examples")
