"""Events of a piece through one layer of a trained model: its own weights, its own numbers.

T events   K attributes   C width of the model
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from musicgen.lesson.steps import Lesson, Projections, Turning, take_apart
from musicgen.model import Decoder
from musicgen.model.layers import Block
from musicgen.model.rope import Rotation, rotation_at
from musicgen.tokens import Tokenizer


@torch.inference_mode()
def layer_lesson(
    decoder: Decoder, tokenizer: Tokenizer, ids: np.ndarray, *, layer: int = 0, causal: bool = True
) -> Lesson:
    """Return what a layer computes when the model reads these events and nothing else.

    Args:
        decoder: The model; it is only read.
        tokenizer: Whose events they are.
        ids: Events (T, K), the start event first.
        layer: Which layer, 0 the first.
        causal: Whether this layer's mask stands; the layers before it keep theirs.

    Returns:
        The lesson. Its `parts` are the embeddings by attribute, the `stream` that comes to the
        layer, and the `gain` of the norm before it: x = stream ÷ its root mean square · gain.

    Raises:
        IndexError: There is no such layer.
    """
    if not 0 <= layer < decoder.config.n_layers:
        raise IndexError(f"there is no layer {layer}: they are 0 to {decoder.config.n_layers - 1}")
    events = _tensor(decoder, ids)
    parts = {
        name: decoder.embeddings[k](events[0, :, k])
        for k, name in enumerate(tokenizer.attribute_names)
    }
    rotation = _rotation(decoder, events)
    said = tuple(tokenizer.describe(tuple(event)) for event in ids.tolist())
    stream = _embed(decoder, events)
    for block in _blocks(decoder)[:layer]:
        stream = block(stream, rotation)
    block = _blocks(decoder)[layer]
    attention = block.attention
    return take_apart(
        block.attention_norm(stream)[0],
        Projections(
            q=attention.to_q.weight,
            k=attention.to_k.weight,
            v=attention.to_v.weight,
            out=attention.to_out.weight,
        ),
        n_heads=attention.n_heads,
        causal=causal,
        tokens=_names(said),
        said=said,
        parts={**parts, "stream": stream[0], "gain": _gain(block, stream)},
        turning=Turning(norm_q=attention.q_norm, norm_k=attention.k_norm, rotation=rotation),
    )


@torch.inference_mode()
def next_event_bits(decoder: Decoder, ids: np.ndarray, *, causal: bool = True) -> float:
    """Return how many bits the model needs for each next event, on average.

    Args:
        decoder: The model.
        ids: Events (T, K) with T ≥ 2, the start event first.
        causal: Whether the masks stand; without, no layer has one.

    Raises:
        ValueError: There is no event to predict.
    """
    if len(ids) < 2:
        raise ValueError("there must be an event after the first")
    events = _tensor(decoder, ids)
    rotation = _rotation(decoder, events)
    stream = _embed(decoder, events)
    for block in _blocks(decoder):
        stream = stream + block.attention(
            block.attention_norm(stream), causal=causal, rotation=rotation
        )
        stream = stream + block.mlp(block.mlp_norm(stream))
    hidden, target = decoder.final_norm(stream)[:, :-1], events[:, 1:]
    nats = torch.zeros(1, len(ids) - 1, device=events.device)
    for k in range(events.shape[-1]):
        logits = decoder.attribute_logits(hidden, k, target[..., :k]).float()
        nats -= logits.log_softmax(-1).gather(-1, target[..., k : k + 1])[..., 0]
    return float(nats.mean()) / math.log(2)


def _tensor(decoder: Decoder, ids: np.ndarray) -> Tensor:
    device = next(decoder.parameters()).device
    return torch.as_tensor(ids, dtype=torch.int64, device=device)[None]


def _embed(decoder: Decoder, events: Tensor) -> Tensor:
    """Return what goes into the first block (1, T, C)."""
    summed = torch.stack([e(events[..., k]) for k, e in enumerate(decoder.embeddings)]).sum(0)
    return decoder.embedding_norm(summed)


def _rotation(decoder: Decoder, events: Tensor) -> Rotation:
    config = decoder.config
    positions = torch.arange(events.shape[1], device=events.device, dtype=torch.float32)
    dtype = next(decoder.parameters()).dtype
    return rotation_at(positions, config.d_head, config.rope_base, dtype)


def _blocks(decoder: Decoder) -> list[Block]:
    return [block for block in decoder.blocks if isinstance(block, Block)]


def _gain(block: Block, stream: Tensor) -> Tensor:
    """Return by what the norm before the layer multiplies each dimension, by row (T, C)."""
    return block.attention_norm.weight.expand_as(stream[0])


def _names(said: tuple[str, ...]) -> tuple[str, ...]:
    """Return what each event is called in a table: `after 0.12 s: E4, mf (66), …` is E4."""
    return tuple(text.split(": ")[-1].split(",")[0] for text in said)
