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
        micro_batch_size: Windows of `seq_len` read at once; a step's gradient is the sum over its
            batch. None: as many as memory holds, all of them if it can be.
        recompute_activations: Keep only what goes into each block and compute the rest again for
            the gradient: less memory, a third more time, the same numbers.
        learning_rate: At its peak.
        warmup_steps: Steps of rising rate; after them it falls in a straight line to zero.
        restart_steps: Where it is zero before the run's end, and rises once more. Short windows and
            their shares belong to the steps before the first of them.
        restart_learning_rates: At the peak after each restart.
        augment_from_step: The first step whose music is varied: what was not yet read need not be.
        augment_until_step: The first step after it whose music is as it is again; None for none.
        augment_semitones: Training music is moved up or down by up to so many. None, here and in
            the two below: as it suits music that is read more than a few times, else not at all.
        augment_tempo: It is slowed down or hurried by up to this share (0.1: by a tenth).
        augment_velocity: It is made louder or softer by up to so much.
        lora_rank: Fine-tuning learns matrices of this rank beside the model's own, which stay as
            they are (LoRA); None for all weights.
        optimizer: "muon" for matrices (with AdamW for the rest), or "adamw" for all.
        momentum: Of Muon.
        muon_period: Of Muon: a matrix is updated every so many steps, by as much more, and matrices
            take turns. None: each at every step, unless that were more than a sixth of what a step
            multiplies; at every fourth at the least.
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
        keep: What the run's `best/` holds: the model with the "lowest" held-out loss, or the
            "last" one that was validated, where the end of the schedule matters more than a
            difference within the noise of some held-out windows.
        patience: Validations without a lower held-out loss after which the run ends, or None.
        ema_decay: Validate and keep a running mean of the weights, of which so much stays at each
            step, instead of the weights; None for the weights themselves.
        sample_steps: Steps between pieces that are made to listen to; at most one of it and
            sample_minutes is given, and without them none are made.
        sample_minutes: Time between them.
        n_samples: Pieces each time.
        sample_seconds: How long they are.
        tensorboard: Write the metrics for TensorBoard too.
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
    micro_batch_size: int | None = None
    recompute_activations: bool = False
    learning_rate: float = 4e-3
    warmup_steps: int = 100
    restart_steps: tuple[int, ...] = ()
    restart_learning_rates: tuple[float, ...] = ()
    augment_from_step: int = 0
    augment_until_step: int | None = None
    augment_semitones: int | None = None
    augment_tempo: float | None = None
    augment_velocity: int | None = None
    lora_rank: int | None = None
    optimizer: Literal["muon", "adamw"] = "muon"
    momentum: float = 0.95
    muon_period: int | None = None
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
    keep: Literal["lowest", "last"] = "lowest"
    patience: int | None = None
    ema_decay: float | None = None
    sample_steps: int | None = None
    sample_minutes: float | None = None
    n_samples: int = 2
    sample_seconds: float = 20.0
    tensorboard: bool = False

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
        if self.sample_steps is not None and self.sample_minutes is not None:
            raise ConfigError("sample_steps and sample_minutes exclude each other.")
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

    def validation_interval(self, steps: int) -> int:
        """Return the steps between validations of a run of so many."""
        return self.validate_steps or max(10, steps // 20)

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
    ("micro_batch_size", 1, 100_000),
    ("learning_rate", 1e-8, 1.0),
    ("warmup_steps", 0, 10_000_000),
    ("augment_from_step", 0, 100_000_000),
    ("augment_until_step", 0, 100_000_000),
    ("augment_semitones", 0, 24),
    ("augment_tempo", 0.0, 1.0),
    ("augment_velocity", 0, 64),
    ("lora_rank", 1, 1024),
    ("momentum", 0.0, 0.9999),
    ("muon_period", 1, 100),
    ("weight_decay", 0.0, 10.0),
    ("beta1", 0.0, 0.9999),
    ("beta2", 0.0, 0.99999),
    ("clip_norm", 1e-6, 1e6),
    ("seed", 0, 2**63 - 1),
    ("validate_steps", 1, 100_000_000),
    ("validation_windows", 1, 1_000_000),
    ("checkpoint_minutes", 0.0, 100_000.0),
    ("patience", 1, 100_000),
    ("ema_decay", 0.0, 0.999999),
    ("sample_steps", 1, 100_000_000),
    ("sample_minutes", 0.0, 100_000.0),
    ("n_samples", 1, 100),
    ("sample_seconds", 1.0, 600.0),
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
        changes: What was changed at a resume, by leave, in a sentence each.
    """

    version: Literal[3] = 3
    recipe: TrainingRecipe
    steps: int
    trial_seconds_per_step: float | None
    corpus: str
    tokenizer: str
    parent: str = ""
    corpus_summary: str
    changes: tuple[str, ...] = ()
