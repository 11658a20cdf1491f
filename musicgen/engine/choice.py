"""Which engine computes: what was asked for, or the fastest that runs here."""

from __future__ import annotations

import torch

from musicgen.engine.steps import Engine
from musicgen.engine.torch_steps import TorchEngine
from musicgen.errors import ConfigError
from musicgen.model import Decoder

ENGINES = ("auto", "numba", "numba-float32", "lanes", "lanes-float32", "torch")
"""What may be asked for; "numba" computes with int8 weights, "lanes" in bf16 on a GPU that can."""

_FASTEST = {"cpu": "numba", "cuda": "lanes"}


def make_engine(decoder: Decoder, wanted: str = "auto") -> Engine:
    """Make a model ready to decode.

    Args:
        decoder: The model. All engines but torch copy its weights.
        wanted: One of `ENGINES`. "auto" is numba on a CPU, lanes on a GPU, and torch elsewhere or
            where these do not run, which its warnings say.

    Raises:
        ConfigError: It does not run here.
        ValueError: There is no such engine.
    """
    if wanted not in ENGINES:
        raise ValueError(f"{wanted!r} is none of the engines {', '.join(ENGINES)}")
    device = next(decoder.parameters()).device.type
    name = _FASTEST.get(device, "torch") if wanted == "auto" else wanted
    if name == "torch":
        return TorchEngine(decoder)
    if name.startswith("numba") and device != "cpu":
        raise ConfigError(
            f"The engine {name} computes on the CPU, and the model is on {device}.",
            hint="Use the device cpu, or the engine lanes or torch.",
        )
    try:
        return _fast_engine(decoder, name, device)
    except Exception as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        if wanted != "auto":
            raise ConfigError(
                f"The engine {wanted} does not run here ({why}).", hint="Use the engine torch."
            ) from error
        sentence = f"The fast engine does not run here ({why}); torch computed, many times slower."
        return TorchEngine(decoder, warnings=(sentence,))


def engine_to_ask_for(name: str) -> str | None:
    """Return which of `ENGINES` to ask for to get an engine of that name; None if there is none.

    An engine's own name says more than what is asked for: "numba-int8" is the engine "numba".
    """
    fitting = [
        each for each in ENGINES if each != "auto" and (name == each or name.startswith(f"{each}-"))
    ]
    return max(fitting, key=len, default=None)


def _fast_engine(decoder: Decoder, name: str, device: str) -> Engine:
    if name.startswith("numba"):
        from musicgen.engine.numba_steps import NumbaEngine

        return NumbaEngine(decoder, as_int8=name == "numba")
    from musicgen.engine.graphs import captured
    from musicgen.engine.lane_steps import LanesEngine

    on_gpu = device == "cuda"
    # Emulated, bf16 would be slower than float32, and worse.
    has_bf16 = on_gpu and torch.cuda.is_bf16_supported(including_emulation=False)
    dtype = torch.bfloat16 if has_bf16 and name == "lanes" else torch.float32
    return LanesEngine(decoder, dtype=dtype, capture=captured if on_gpu else None)
