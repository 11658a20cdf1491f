"""What the model attended to: one recorded pass, and a view of it in numpy."""

from __future__ import annotations

from musicgen.inspection.look import look
from musicgen.inspection.view import AttentionView, Sources

__all__ = ["AttentionView", "Sources", "look"]
