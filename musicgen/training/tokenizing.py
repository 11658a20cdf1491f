"""The tokenizer of a run that begins with no other model."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from musicgen.corpus import ScanProgress
from musicgen.files import is_file
from musicgen.tokens import FLAT_SCHEMES, Tokenizer, get_tokenizer, tokenizer_from_json
from musicgen.training.claim import unwritable
from musicgen.training.flat import fit_flat_tokenizer
from musicgen.training.recipe import TrainingRecipe
from musicgen.training.run import Run


def run_tokenizer(
    folder: Path, run: Run, recipe: TrainingRecipe
) -> Generator[ScanProgress, None, Tokenizer]:
    """Return the run's tokenizer: the one made before, or a new one.

    Raises:
        TrainingError: The run's folder cannot be written.
    """
    kept = run.folder / "tokenizer.json"
    if is_file(kept):
        return tokenizer_from_json(kept.read_text(encoding="utf-8"))
    if recipe.scheme not in FLAT_SCHEMES:
        return get_tokenizer(recipe.scheme)
    tokenizer = yield from fit_flat_tokenizer(folder, recipe.scheme, recipe.flat_vocab_size)
    try:
        kept.write_text(tokenizer.to_json(), encoding="utf-8")
    except OSError as error:
        raise unwritable(run.folder, error) from error
    return tokenizer
