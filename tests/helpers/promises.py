"""What the pages promise to programs, written out once."""

TAKE_FIELDS = {
    "notes",
    "seconds",
    "prompt_seconds",
    "prompt_notes",
    "seed",
    "finish_reason",
    "events",
    "events_per_s",
    "engine",
    "model",
    "model_sha256",
    "repairs",
    "warnings",
}
"""Of a take in JSON, on the command line beside its file's name."""
