"""A training run that takes a few seconds."""

from __future__ import annotations

from musicgen.training import TrainingRecipe

RECIPE = TrainingRecipe(
    preset="tiny",
    d_model=32,
    n_layers=1,
    d_ff=32,
    d_head_ff=32,
    seq_len=32,
    early_seq_len=16,
    restart_steps=(16, 20),
    restart_learning_rates=(2e-3, 1e-3),
    augment_from_step=4,
    augment_until_step=20,
    augment_semitones=3,
    augment_tempo=0.1,
    augment_velocity=8,
    batch_size=2,
    steps=24,
    warmup_steps=4,
    validate_steps=8,
    validation_windows=4,
    learning_rate=3e-3,
    precision="float32",
)
