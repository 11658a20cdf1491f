"""Every setting of a training run, and what a run writes down of itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from musicgen.errors import ConfigError
from musicgen.model import PRESETS, DecoderConfig, preset
from musicgen.tokens import SCHEMES

DEFAULT_MINUTES = 20.0
LENGTHS = ("steps", "minutes", "epochs")
"""The settings that say how long a run is, of which at most one is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecipe:
    """The settings of a run, as a TOML file gives them.

    Attributes:
        preset: Size of the model: tiny, small or medium.
        d_model: Overrides the preset's, like the four below it.
        n_layers: Blocks in the trunk.
        d_ff: Hidden width of a block's MLP.
        d_head_ff: Hidden width of an attribute head's MLP.
        seq_len: Events a window predicts, and the model's context.
        early_seq_len: Events a window predicts in the first steps; it doubles until `seq_len`.
            None, or what is no shorter than that, for windows of one length.
        early_share: Share of the steps that reads windows shorter than `seq_len`.
        scheme: Token scheme.
        flat_vocab_size: Ids of a flat scheme's byte-pair encoding.
        steps: Optimizer steps; at most one of steps, minutes and epochs is given.
        minutes: Time, turned into steps by a short trial.
        epochs: Times through the training pieces.
        batch_size: Windows a step; of shorter windows as many more.
        learning_rate: At its peak.
        warmup_steps: Steps of rising rate; after them it falls in a straight line to zero.
        restart_steps: Where it is zero before the run's end, and rises once more. Short windows and
            their shares belong to the steps before the first of them.
        restart_learning_rates: At the peak after each restart.
        augment_from_step: The first step whose music is varied: what was not yet read need not be.
        augment_until_step: The first step after it whose music is as it is again; None for none.
        augment_semitones: Training music is moved up or down by up to so many.
        augment_tempo: It is slowed down or hurried by up to this share (0.1: by a tenth).
        augment_velocity: It is made louder or softer by up to so much.
        optimizer: "muon" for matrices (with AdamW for the rest), or "adamw" for all.
        momentum: Of Muon.
        weight_decay: Of matrices, not of embeddings and gains.
        beta1: Of AdamW.
        beta2: Of AdamW.
        clip_norm: Largest norm of the gradient.
        seed: Names the first weights and the order of the windows.
        precision: "auto" takes the faster one, measured once as the run begins.
        compile: Whether the step is compiled, which on a CPU needs a C++ compiler; None where it
            works and the run is longer than half an hour.
        validate_steps: Steps between validations; None for twenty in all, ten steps apart at least.
        validation_windows: Held-out windows looked at each time.
        checkpoint_minutes: Time between checkpoints.
    """

    preset: str = "small"
    d_model: int | None = None
    n_layers: int | None = None
    d_ff: int | None = None
    d_head_ff: int | None = None
    seq_len: int = 512
    early_seq_len: int | None = 64
    early_share: float = 0.6
    scheme: str = "piano"
    flat_vocab_size: int = 1024
    steps: int | None = None
    minutes: float | None = None
    epochs: float | None = None
    batch_size: int = 4
    learning_rate: float = 4e-3
    warmup_steps: int = 100
    restart_steps: tuple[int, ...] = ()
    restart_learning_rates: tuple[float, ...] = ()
    augment_from_step: int = 0
    augment_until_step: int | None = None
    augment_semitones: int = 0
    augment_tempo: float = 0.0
    augment_velocity: int = 0
    optimizer: Literal["muon", "adamw"] = "muon"
    momentum: float = 0.95
    weight_decay: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.95
    clip_norm: float = 1.0
    seed: int = 0
    precision: Literal["auto", "float32", "bf16"] = "auto"
    compile: bool | None = None
    validate_steps: int | None = None
    validation_windows: int = 64
    checkpoint_minutes: float = 3.0

    def __post_init__(self) -> None:
        _one_of("preset", self.preset, tuple(PRESETS))
        _one_of("scheme", self.scheme, SCHEMES)
        given = [name for name in LENGTHS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ConfigError(
                f"The length is given twice: {' and '.join(given)}.",
                hint="Give one of steps, minutes and epochs.",
            )
        for name, low, high in _RANGES:
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise ConfigError(f"{name} {value} is outside {low} to {high}.")
        self._check_restarts()

    def _check_restarts(self) -> None:
        starts, rates = self.restart_steps, self.restart_learning_rates
        if len(starts) != len(rates):
            raise ConfigError(
                f"There are {len(starts)} restart_steps and {len(rates)} restart_learning_rates.",
                hint="Give one rate for each restart.",
            )
        if any(later <= earlier for earlier, later in pairwise((0, *starts))):
            raise ConfigError(f"restart_steps {list(starts)} do not ascend from 1.")
        if not all(1e-8 <= rate <= 1.0 for rate in rates):
            raise ConfigError(f"restart_learning_rates {list(rates)} are outside 1e-08 to 1.0.")

    def first_steps(self, steps: int) -> int:
        """Return how many of a run's steps come before its first restart."""
        return min((*self.restart_steps, steps))

    def decoder_config(self, vocab_sizes: tuple[int, ...]) -> DecoderConfig:
        """Return the sizes of the model for a tokenizer's vocabularies."""
        given = {
            name: getattr(self, name)
            for name in ("d_model", "n_layers", "d_ff", "d_head_ff")
            if getattr(self, name) is not None
        }
        return replace(preset(self.preset, vocab_sizes), max_seq_len=self.seq_len, **given)


_RANGES = (
    ("seq_len", 8, 65_536),
    ("early_seq_len", 8, 65_536),
    ("early_share", 0.0, 1.0),
    ("flat_vocab_size", 300, 60_000),
    ("steps", 1, 100_000_000),
    ("minutes", 0.05, 1_000_000),
    ("epochs", 0.001, 1_000_000),
    ("batch_size", 1, 100_000),
    ("learning_rate", 1e-8, 1.0),
    ("warmup_steps", 0, 10_000_000),
    ("augment_from_step", 0, 100_000_000),
    ("augment_until_step", 0, 100_000_000),
    ("augment_semitones", 0, 24),
    ("augment_tempo", 0.0, 1.0),
    ("augment_velocity", 0, 64),
    ("momentum", 0.0, 0.9999),
    ("weight_decay", 0.0, 10.0),
    ("beta1", 0.0, 0.9999),
    ("beta2", 0.0, 0.99999),
    ("clip_norm", 1e-6, 1e6),
    ("seed", 0, 2**63 - 1),
    ("validate_steps", 1, 100_000_000),
    ("validation_windows", 1, 1_000_000),
    ("checkpoint_minutes", 0.0, 100_000.0),
)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"There is no {name} {value!r}.", hint=f"Choose {', '.join(allowed)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What a run fixed at its start, in RUN/run.json.

    Attributes:
        version: Of this format; 2: runs begin with short windows; 3: music is told by its notes.
        recipe: The settings.
        steps: Optimizer steps in all; from here on the run counts these, not minutes.
        trial_seconds_per_step: Measured for `minutes`, else None.
        corpus: Fingerprint of the music.
        tokenizer: Fingerprint of the tokenizer.
        parent: Hash of the model it started from, or empty.
        corpus_summary: The corpus in a sentence.
    """

    version: Literal[3] = 3
    recipe: TrainingRecipe
    steps: int
    trial_seconds_per_step: float | None
    corpus: str
    tokenizer: str
    parent: str = ""
    corpus_summary: str
