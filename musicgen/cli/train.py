"""`musicgen train`: a model of one's own from a folder of MIDI files."""

from __future__ import annotations


def train() -> None:
    """Train."""
