"""The decoder-only Transformer over musical events.

    B batch   T events   K attributes   C width of the model   N positions   V ids of an attribute

An event is a tuple of K ids. Their embeddings are summed into one vector a position; the trunk
looks back over the events; from its state at event t, K small heads score the attributes of event
t + 1 one after another, each knowing those before it (Compound Word Transformer, Hsiao et al.
2021; Nested Music Transformer, Ryu et al. 2024). A flat token sequence is the case K = 1.

The model holds weights and nothing else: cache, random numbers and records are the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from musicgen.model.attention import Attend, attend
from musicgen.model.cache import KVCache, LayerCache
from musicgen.model.config import DecoderConfig
from musicgen.model.heads import AttributeHead
from musicgen.model.lanes import LaneCache, LaneLayer
from musicgen.model.layers import Block
from musicgen.model.matrices import Embedding
from musicgen.model.norm import RMSNorm
from musicgen.model.record import AttentionRecord
from musicgen.model.rope import Rotation, rotation_at


class Decoder(nn.Module):
    """Scores the next event from the events so far.

    Attributes:
        config: The sizes it was built with.
    """

    def __init__(self, config: DecoderConfig, *, seed: int | None = 0) -> None:
        """Build with random weights.

        Args:
            config: The sizes.
            seed: Names the random weights: same seed and sizes, same weights on any machine.
                None leaves them without storage, for weights that come from a file.
        """
        super().__init__()
        self.config = config
        # Built without storage first: torch's own initialization would draw from the global
        # generator, and the weights are drawn from a named one below.
        with torch.device("meta"):
            self.embeddings = nn.ModuleList(
                Embedding(size, config.d_model) for size in config.vocab_sizes
            )
            self.embedding_norm = RMSNorm(config.d_model, eps=1e-6, elementwise_affine=False)
            self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
            self.final_norm = RMSNorm(config.d_model, eps=1e-6)
            self.heads = nn.ModuleList(
                AttributeHead(config.d_model, config.d_head_ff, is_first=k == 0)
                for k in range(len(config.vocab_sizes))
            )
        if seed is not None:
            self.to_empty(device="cpu")
            _initialize(self, seed)

    def forward(
        self,
        ids: Tensor,
        *,
        recompute: bool = False,
        attend: Attend = attend,
        rotation: Rotation | None = None,
    ) -> list[Tensor]:
        """Score every event after the first.

        Args:
            ids: Events (B, T, K), int64.
            recompute: See `trunk`.
            attend: See `trunk`.
            rotation: What `rotation` returns for T − 1 events; None to make it. A compiled step
                that is not handed one computes sines and cosines anew for every head.

        Returns:
            K tensors (B, T − 1, V_k): `[k][:, t]` scores attribute k of event t + 1, knowing the
            events up to t and the attributes before k of event t + 1.

        Raises:
            TypeError: The ids are no tensor.
            ValueError: The ids are no whole numbers or have another number of attributes; on a CPU
                also: an id is outside its vocabulary.
        """
        if not isinstance(ids, Tensor):
            raise TypeError(f"ids are a tensor (B, T, K) of int64, not {type(ids).__name__}")
        if ids.dtype not in (torch.int64, torch.int32):
            raise ValueError(f"ids are {ids.dtype}; expected torch.int64")
        # A look at the values would break a compiled step in two, and hold a GPU up.
        if ids.device.type == "cpu" and not torch.compiler.is_compiling():
            _check_range(ids, self.config.vocab_sizes)
        self._check_shape(ids)
        # Each table is read once, so that its gradient is summed up once: the trunk reads all
        # events but the last, and the heads those after the first.
        vectors = [self._embedding(k)(ids[..., k]) for k in range(ids.shape[-1])]
        x = vectors[0][:, :-1]
        for vector in vectors[1:]:
            x = x + vector[:, :-1]
        if rotation is None:
            rotation = self.rotation(x.shape[1], x.device)
        hidden = self._through_blocks(x, rotation, recompute=recompute, attend=attend)
        logits, decided = [], None
        for k in range(len(vectors)):
            if k:
                newest = vectors[k - 1][:, 1:]
                decided = newest if decided is None else decided + newest
            logits.append(self.heads[k](hidden, decided, self._embedding(k).weight))
        return logits

    def rotation(self, length: int, device: torch.device) -> Rotation:
        """Return the rotary positions of the first `length` events."""
        positions = torch.arange(length, device=device, dtype=torch.float32)
        dtype = self._embedding(0).weight.dtype
        return rotation_at(positions, self.config.d_head, self.config.rope_base, dtype)

    def trunk(
        self,
        ids: Tensor,
        *,
        cache: KVCache | LaneCache | None = None,
        record: AttentionRecord | None = None,
        recompute: bool = False,
        attend: Attend = attend,
    ) -> Tensor:
        """Return the state (B, T, C) after each event.

        Args:
            ids: Events (B, T, K), int64.
            cache: Earlier events; these T are appended to it. None: there are none.
            record: Keeps the attention weights of every layer if given.
            recompute: Keep only what goes into each block, and compute the rest again for the
                gradient: less memory, more time, the same numbers. Source: Chen et al. (2016),
                "Training Deep Nets with Sublinear Memory Cost".
            attend: What weighs the values.

        Raises:
            ValueError: The ids have another number of attributes, the cache has no room, or there
                is something to fill while blocks are recomputed.
        """
        if recompute and (cache is not None or record is not None):
            raise ValueError("a cache or a record would be filled twice by recomputed blocks")
        self._check_shape(ids)
        length = ids.shape[1]
        x = self._embed(ids)
        if cache is None:
            rotation = self.rotation(length, ids.device)
            return self._through_blocks(
                x, rotation, record=record, recompute=recompute, attend=attend
            )
        positions, layers = cache.open(length)
        rotation = rotation_at(positions, self.config.d_head, self.config.rope_base, x.dtype)
        x = self._through_blocks(x, rotation, layers, record, attend=attend)
        cache.advance(length)
        return x

    def _through_blocks(
        self,
        x: Tensor,
        rotation: Rotation,
        layers: Sequence[LayerCache | LaneLayer | None] | None = None,
        record: AttentionRecord | None = None,
        *,
        recompute: bool = False,
        attend: Attend,
    ) -> Tensor:
        """Turn sums of embeddings (B, T, C) into the trunk's states."""
        x = self.embedding_norm(x)
        layers = layers or [None] * len(self.blocks)
        for block, layer_cache in zip(self.blocks, layers, strict=True):
            if recompute:
                x = checkpoint(
                    block,
                    x,
                    rotation,
                    attend=attend,
                    use_reentrant=False,
                    preserve_rng_state=False,
                )
            else:
                x = block(x, rotation, layer_cache, record, attend)
        return self.final_norm(x)

    def _check_shape(self, ids: Tensor) -> None:
        n_attributes = len(self.embeddings)
        if ids.ndim != 3 or ids.shape[-1] != n_attributes:
            raise ValueError(f"ids of shape {tuple(ids.shape)} are not (B, T, {n_attributes})")

    def attribute_logits(self, hidden: Tensor, k: int, previous: Tensor) -> Tensor:
        """Score attribute k of the event after `hidden`.

        Args:
            hidden: States of the trunk (…, C).
            k: Which attribute, 0 … K − 1.
            previous: Ids of the attributes before k of that event (…, k), int64.

        Returns:
            Logits (…, V_k).
        """
        decided = self._embed(previous) if k else None
        return self.heads[k](hidden, decided, self._embedding(k).weight)

    def _embedding(self, k: int) -> nn.Embedding:
        return cast(nn.Embedding, self.embeddings[k])

    def _embed(self, ids: Tensor) -> Tensor:
        """Sum the embeddings of the attributes given: (…, k) to (…, C)."""
        vector = self._embedding(0)(ids[..., 0])
        for k in range(1, ids.shape[-1]):
            vector = vector + self._embedding(k)(ids[..., k])
        return vector


def _check_range(ids: Tensor, vocab_sizes: tuple[int, ...]) -> None:
    """Refuse ids that no embedding has, by name: torch says "index out of range in self"."""
    if ids.ndim != 3 or ids.shape[-1] != len(vocab_sizes) or not ids.numel():
        return  # the trunk says what is wrong with the shape
    lowest, highest = ids.amin(dim=(0, 1)).tolist(), ids.amax(dim=(0, 1)).tolist()
    for k, size in enumerate(vocab_sizes):
        if lowest[k] < 0 or highest[k] >= size:
            wrong = lowest[k] if lowest[k] < 0 else highest[k]
            raise ValueError(f"id {wrong} of attribute {k} is outside 0 … {size - 1}")


def _initialize(decoder: Decoder, seed: int) -> None:
    """Draw the weights: 0.02 for embeddings, 1/√fan-in for matrices, 0 where a branch ends.

    Branches that begin at zero make every block the identity at first, which lets a short run
    start at a high learning rate.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            if parameter.ndim == 1:
                parameter.fill_(1.0)
            elif name.endswith(("to_out.weight", "down.weight")):
                parameter.zero_()
            elif name.startswith("embeddings"):
                parameter.normal_(0.0, 0.02, generator=generator)
            else:
                parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)
