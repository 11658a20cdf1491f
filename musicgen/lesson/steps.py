"""One layer of attention with everything that it computes on the way.

T tokens   H heads   D width of a head   C = H · D width of the model
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from musicgen.model.attention import (
    attend,
    attention_scores,
    attention_weights,
    join_heads,
    split_heads,
)
from musicgen.model.rope import Rotation, rotate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projections:
    """The matrices of a layer, as torch keeps them: (out, in).

    Attributes:
        q: Makes queries (C, C).
        k: Makes keys (C, C).
        v: Makes values (C, C).
        out: Mixes the rejoined heads (C, C); None where the lesson ends before it.
        biases: Added to queries, keys and values (3, C); None without.
    """

    q: Tensor
    k: Tensor
    v: Tensor
    out: Tensor | None = None
    biases: Tensor | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turning:
    """What becomes of queries and keys before they meet, in the model of music.

    Attributes:
        norm_q: Normalizes the queries (1, H, T, D).
        norm_k: Normalizes the keys.
        rotation: Turns both by their positions.
    """

    norm_q: Callable[[Tensor], Tensor]
    norm_k: Callable[[Tensor], Tensor]
    rotation: Rotation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turned:
    """Queries and keys on their way, float32.

    Attributes:
        q: Queries as projected (H, T, D).
        k: Keys as projected.
        q_normed: Queries after their norm, before the rotation (H, T, D).
        k_normed: Keys after their norm.
        cos: Cosines of the angles by which a pair (i, i + D / 2) is turned (T, D / 2).
        sin: Their sines.
    """

    q: np.ndarray
    k: np.ndarray
    q_normed: np.ndarray
    k_normed: np.ndarray
    cos: np.ndarray
    sin: np.ndarray

    def only(self, at: np.ndarray) -> Turned:
        """Return what became of some of the tokens, by their places."""
        return Turned(
            q=self.q[:, at],
            k=self.k[:, at],
            q_normed=self.q_normed[:, at],
            k_normed=self.k_normed[:, at],
            cos=self.cos[at],
            sin=self.sin[at],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Others:
    """What a layer read beside the tokens that are shown.

    Attributes:
        count: How many tokens these are.
        powers: Sum of e to the power of their scores, as far as a row sees them (H, T), float64.
        weights: Share of each row that lies on them (H, T).
        leaked: The part of it that lies on later ones (H, T).
        gathered: What they hand over, weighted (H, T, D).
    """

    count: int
    powers: np.ndarray
    weights: np.ndarray
    leaked: np.ndarray
    gathered: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lesson:
    """One layer's attention over a few tokens. All arrays are float32.

    Attributes:
        tokens: Short names, T of them.
        said: What each token is, in full.
        parts: What `x` was made of, by name: each (T, C).
        x: What goes into the layer (T, C).
        q: Queries (H, T, D) as they meet the keys.
        k: Keys (H, T, D) as they meet the queries.
        v: Values (H, T, D).
        turned: What came before `q` and `k`; None where they are as projected.
        scores: q · kᵀ / √D, before the mask (H, T, T).
        weights: Softmax of the scores that the mask leaves (H, T, T): each row sums to 1, with
            what `others` have.
        gathered: The weighted values (H, T, D).
        joined: The heads side by side again (T, C).
        out: Mixed by the last matrix (T, C); None where the lesson ends before it.
        causal: Whether no token sees a later one.
        matrices: (C, C) each by name (q, k, v, out): column j makes dimension j.
        biases: Likewise (C,), where there are any.
        places: Of the tokens in what was read, from 0.
        others: What was read beside them; None where all of it is shown.
    """

    tokens: tuple[str, ...]
    said: tuple[str, ...]
    parts: Mapping[str, np.ndarray]
    x: np.ndarray
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    turned: Turned | None
    scores: np.ndarray
    weights: np.ndarray
    gathered: np.ndarray
    joined: np.ndarray
    out: np.ndarray | None
    causal: bool
    matrices: Mapping[str, np.ndarray]
    biases: Mapping[str, np.ndarray]
    places: tuple[int, ...]
    others: Others | None = None

    @property
    def n_heads(self) -> int:
        """H."""
        return len(self.q)

    @property
    def d_head(self) -> int:
        """D."""
        return self.q.shape[-1]

    @property
    def d_model(self) -> int:
        """C."""
        return self.x.shape[-1]

    def leaked(self) -> np.ndarray:
        """Return the share of each row's weight that lies on later tokens: (H, T)."""
        leaked = np.triu(self.weights, 1).sum(axis=-1)
        return leaked if self.others is None else leaked + self.others.leaked

    def only(self, shown: Sequence[int]) -> Lesson:
        """Return the lesson of some of its tokens: the same numbers, what is left out in sums.

        Args:
            shown: Their places, ascending.
        """
        at = np.asarray(shown, dtype=np.int64)
        hidden = np.setdiff1d(np.arange(len(self.tokens)), at)
        later = hidden[None] > at[:, None]
        seen = ~later if self.causal else np.ones_like(later)
        heads = np.arange(self.n_heads)
        pairs, aside = np.ix_(heads, at, at), np.ix_(heads, at, hidden)
        weights = self.weights[aside]
        turned = self.turned
        return replace(
            self,
            tokens=tuple(self.tokens[t] for t in at),
            said=tuple(self.said[t] for t in at),
            parts={name: part[at] for name, part in self.parts.items()},
            x=self.x[at],
            q=self.q[:, at],
            k=self.k[:, at],
            v=self.v[:, at],
            turned=None if turned is None else turned.only(at),
            scores=self.scores[pairs],
            weights=self.weights[pairs],
            gathered=self.gathered[:, at],
            joined=self.joined[at],
            out=None if self.out is None else self.out[at],
            places=tuple(at.tolist()),
            others=Others(
                count=len(hidden),
                powers=(np.exp(self.scores[aside].astype(np.float64)) * seen).sum(-1),
                weights=weights.sum(-1),
                leaked=(weights * later).sum(-1),
                gathered=weights @ self.v[:, hidden],
            ),
        )


def take_apart(
    x: Tensor,
    projections: Projections,
    *,
    n_heads: int,
    causal: bool,
    tokens: tuple[str, ...],
    said: tuple[str, ...] | None = None,
    parts: Mapping[str, Tensor] | None = None,
    turning: Turning | None = None,
) -> Lesson:
    """Attend step by step, and keep every step.

    Args:
        x: What goes into the layer (T, C).
        projections: Its matrices.
        n_heads: H; divides C.
        causal: Let no token see a later one.
        tokens: Their short names.
        said: What each is in full; the names without.
        parts: What `x` was made of, by name, each (T, C).
        turning: What becomes of queries and keys before they meet; nothing without.

    Raises:
        ValueError: C does not split into H heads.
    """
    if x.shape[-1] % n_heads:
        raise ValueError(f"d_model {x.shape[-1]} does not split into {n_heads} heads")
    names = ("q", "k", "v")
    biases = projections.biases
    made = [
        split_heads(
            F.linear(x[None], getattr(projections, name), None if biases is None else biases[i]),
            n_heads,
        )
        for i, name in enumerate(names)
    ]
    q, k, v = made
    turned = None
    if turning is not None:
        q, k, turned = _turn(q, k, turning)
    gathered = attend(q, k, v, causal=causal)
    joined = join_heads(gathered)[0]
    matrices = {name: getattr(projections, name) for name in (*names, "out")}
    return Lesson(
        tokens=tokens,
        said=said or tokens,
        parts={name: _array(part) for name, part in (parts or {}).items()},
        x=_array(x),
        q=_array(q[0]),
        k=_array(k[0]),
        v=_array(v[0]),
        turned=turned,
        scores=_array(attention_scores(q, k)[0]),
        weights=_array(attention_weights(q, k, causal=causal)[0]),
        gathered=_array(gathered[0]),
        joined=_array(joined),
        out=None if projections.out is None else _array(F.linear(joined, projections.out)),
        causal=causal,
        matrices={name: _array(m).T for name, m in matrices.items() if m is not None},
        biases={}
        if biases is None
        else {name: _array(b) for name, b in zip(names, biases, strict=True)},
        places=tuple(range(len(tokens))),
    )


def _turn(q: Tensor, k: Tensor, turning: Turning) -> tuple[Tensor, Tensor, Turned]:
    q_normed, k_normed = turning.norm_q(q), turning.norm_k(k)
    turned = Turned(
        q=_array(q[0]),
        k=_array(k[0]),
        q_normed=_array(q_normed[0]),
        k_normed=_array(k_normed[0]),
        cos=_array(turning.rotation.cos),
        sin=_array(turning.rotation.sin),
    )
    return rotate(q_normed, turning.rotation), rotate(k_normed, turning.rotation), turned


def _array(x: Tensor) -> np.ndarray:
    return x.detach().float().cpu().numpy()
