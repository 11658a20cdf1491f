"""Torch's matrices and tables, left as they are by their construction.

`Decoder` draws all weights from a named generator, or a file brings them. What torch would draw
before is thrown away, and for matrices without storage it costs a second: torch then imports its
whole compiler (`torch._dynamo`).
"""

from __future__ import annotations

from torch import nn


class Linear(nn.Linear):
    """torch's Linear without weights of its own choice."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


class Embedding(nn.Embedding):
    """torch's Embedding without weights of its own choice."""

    def reset_parameters(self) -> None:
        """Draw nothing."""
