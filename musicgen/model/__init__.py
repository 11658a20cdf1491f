"""The model: tensors in, tensors out. It knows nothing of music, files or devices."""

from musicgen.model.attention import Attend, attend
from musicgen.model.cache import KVCache
from musicgen.model.config import PRESETS, DecoderConfig, preset
from musicgen.model.decoder import Decoder
from musicgen.model.lanes import LaneCache
from musicgen.model.record import AttentionRecord
from musicgen.model.rope import Rotation

__all__ = [
    "PRESETS",
    "Attend",
    "AttentionRecord",
    "Decoder",
    "DecoderConfig",
    "KVCache",
    "LaneCache",
    "Rotation",
    "attend",
    "preset",
]
