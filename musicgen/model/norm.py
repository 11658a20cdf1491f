"""The norm before every layer, in whatever numbers come to it."""

from __future__ import annotations

from torch import Tensor, nn


class RMSNorm(nn.RMSNorm):
    """torch's RMSNorm (Zhang and Sennrich 2019), for bf16 activations and float32 gains, too.

    Where the two differ on a CPU, torch computes in float32, rounds the result and warns of it on
    the terminal of whoever trains. The same is done here in so many words: to the bit, without the
    warning. Elsewhere autocast hands over float32 by itself.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Map (…, C) to (…, C)."""
        if self.weight is None or x.dtype == self.weight.dtype or x.device.type != "cpu":
            return super().forward(x)
        return super().forward(x.to(self.weight.dtype)).to(x.dtype)
