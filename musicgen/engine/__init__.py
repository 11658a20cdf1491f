"""Decoding step by step: one interface, torch as the reference, compiled code as the fast way.

numba takes half a second to import, so it waits until an engine is made.
"""

from __future__ import annotations

from musicgen.engine.choice import ENGINES, engine_to_ask_for, make_engine
from musicgen.engine.filters import Filters
from musicgen.engine.steps import Engine, StepDecoder
from musicgen.engine.torch_steps import TorchEngine

__all__ = [
    "ENGINES",
    "Engine",
    "Filters",
    "StepDecoder",
    "TorchEngine",
    "engine_to_ask_for",
    "make_engine",
]
