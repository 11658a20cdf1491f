"""What fixes a decoder: sizes and presets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from musicgen.errors import ConfigError

LARGEST = {
    "d_model": 8_192,
    "n_layers": 96,
    "n_heads": 128,
    "d_ff": 32_768,
    "max_seq_len": 65_536,
    "attributes": 64,
    "vocab_size": 1_000_000,
}
"""Bounds that a size read from a foreign file must keep before memory is set aside for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecoderConfig:
    """The sizes of a `Decoder`.

    Attributes:
        vocab_sizes: Ids of each attribute of an event, K numbers.
        d_model: Width of the trunk.
        n_layers: Blocks in the trunk.
        n_heads: Attention heads a block; each is `d_model // n_heads` wide.
        d_ff: Hidden width of a block's gated MLP.
        d_head_ff: Hidden width of the gated MLP of each attribute's head.
        max_seq_len: Events that the model was trained to look back on.
        rope_base: Base of the rotary position frequencies.
    """

    vocab_sizes: tuple[int, ...]
    d_model: int = 256
    n_layers: int = 8
    n_heads: int = 8
    d_ff: int = 688
    d_head_ff: int = 256
    max_seq_len: int = 512
    rope_base: float = 10_000.0

    def __post_init__(self) -> None:
        for name in ("d_model", "n_layers", "n_heads", "d_ff", "max_seq_len"):
            _in_range(name, getattr(self, name), LARGEST[name])
        _in_range("d_head_ff", self.d_head_ff, LARGEST["d_ff"])
        _in_range("number of attributes", len(self.vocab_sizes), LARGEST["attributes"])
        for size in self.vocab_sizes:
            _in_range("vocab_size", size, LARGEST["vocab_size"])
        if self.d_model % (2 * self.n_heads):
            raise ConfigError(
                f"d_model {self.d_model} does not split into {self.n_heads} heads of even width.",
                hint=f"Choose a multiple of {2 * self.n_heads}.",
            )
        if not 1.0 < self.rope_base <= 1e9:
            raise ConfigError(f"rope_base {self.rope_base} is outside 1 to 1e9.")

    @property
    def d_head(self) -> int:
        """Width of one attention head."""
        return self.d_model // self.n_heads

    def parameter_count(self) -> int:
        """Return the number of trainable numbers, by formula (tied embeddings count once)."""
        d, embeddings = self.d_model, sum(self.vocab_sizes) * self.d_model
        block = 4 * d * d + 3 * d * self.d_ff + 2 * d + 2 * self.d_head
        head = 3 * d * self.d_head_ff + 3 * d
        # The first attribute's head has no norm for attributes before it.
        return embeddings + self.n_layers * block + d + len(self.vocab_sizes) * head - d


def _in_range(name: str, value: int, largest: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= largest:
        raise ConfigError(f"{name} {value!r} is not a whole number from 1 to {largest}.")


_TINY = DecoderConfig(vocab_sizes=(1,), d_model=128, n_layers=4, d_ff=344, d_head_ff=128)
_SMALL = DecoderConfig(vocab_sizes=(1,), d_model=256, n_layers=6, d_ff=688, d_head_ff=256)
_MEDIUM = DecoderConfig(vocab_sizes=(1,), d_model=512, n_layers=5, d_ff=1_376, d_head_ff=512)
PRESETS = {"tiny": _TINY, "small": _SMALL, "medium": _MEDIUM}
"""Sizes of about 1, 6 and 20 million parameters."""


def preset(name: str, vocab_sizes: tuple[int, ...]) -> DecoderConfig:
    """Return the preset `name` for a tokenizer's vocabularies.

    Raises:
        ConfigError: There is no such preset.
    """
    if name not in PRESETS:
        raise ConfigError(f"There is no preset {name!r}.", hint=f"Choose {', '.join(PRESETS)}.")
    return replace(PRESETS[name], vocab_sizes=vocab_sizes)
