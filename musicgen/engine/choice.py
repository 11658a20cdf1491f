"""Which engine computes: what was asked for, or the fastest that runs here."""

from __future__ import annotations

from musicgen.engine.steps import Engine
from musicgen.engine.torch_steps import TorchEngine
from musicgen.errors import ConfigError
from musicgen.model import Decoder

ENGINES = ("auto", "numba", "numba-float32", "torch")
"""What may be asked for; "numba" computes with int8 weights."""


def make_engine(decoder: Decoder, wanted: str = "auto") -> Engine:
    """Make a model ready to decode.

    Args:
        decoder: The model. Compiled engines copy its weights.
        wanted: One of `ENGINES`. "auto" is numba on a CPU, and torch elsewhere or where numba does
            not run, which its warnings say.

    Raises:
        ConfigError: It does not run here.
        ValueError: There is no such engine.
    """
    if wanted not in ENGINES:
        raise ValueError(f"{wanted!r} is none of the engines {', '.join(ENGINES)}")
    device = next(decoder.parameters()).device.type
    if wanted == "torch" or (wanted == "auto" and device != "cpu"):
        return TorchEngine(decoder)
    if device != "cpu":
        raise ConfigError(
            f"The engine {wanted} computes on the CPU, and the model is on {device}.",
            hint="Use the device cpu, or the engine torch.",
        )
    try:
        from musicgen.engine.numba_steps import NumbaEngine

        return NumbaEngine(decoder, as_int8=wanted != "numba-float32")
    except Exception as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        if wanted != "auto":
            raise ConfigError(
                f"The engine {wanted} does not run here ({why}).", hint="Use the engine torch."
            ) from error
        sentence = f"The fast engine does not run here ({why}); torch computed, many times slower."
        return TorchEngine(decoder, warnings=(sentence,))
