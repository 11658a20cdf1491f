"""The innermost loops of training's attention, in LLVM's vectors: products of matrices, and bf16.

Numbers lie in groups of G along what is summed over: two bf16 numbers in an int32, which a machine
with AVX-512 BF16 multiplies and sums in one instruction, or one float32. Sums are float32.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
_SHORT, _INT, _LONG, _FLOAT = (*map(ir.IntType, (16, 32, 64)), ir.FloatType())
_SHORTS, _INTS, _FLOATS = (ir.VectorType(each, LANES) for each in (_SHORT, _INT, _FLOAT))
_FUSED = ("contract",)  # lets a machine with fused multiply-add use it, and no other one pay for it
_OLDEST_LLVM = 20
"""Since when the instruction for bf16 takes the type of that name: before, it took integers."""


class _BFloat(ir.Type):
    """LLVM's bf16, which llvmlite has no name for."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BFloat)

    def __hash__(self) -> int:
        return hash(_BFloat)

    def _to_string(self) -> str:
        return "bfloat"


_HALVES, _PAIRS = ir.VectorType(_BFloat(), LANES), ir.VectorType(_BFloat(), 2 * LANES)


def multiplies_bf16() -> bool:
    """Return whether this machine has the instruction for bf16, and this LLVM knows it."""
    features = binding.get_host_cpu_features()
    return bool(features.get("avx512bf16")) and binding.llvm_version_info[0] >= _OLDEST_LLVM


def tile_of_this_machine() -> tuple[int, int]:
    """Return rows and vectors of the sums that its registers hold beside what is multiplied."""
    return (8, 2) if binding.get_host_cpu_features().get("avx512f") else (4, 1)


def make_product(n_rows: int, n_vectors: int) -> Callable[..., None]:
    """Return a compiled-code function that multiplies one tile: R rows of `n_vectors` · 16 sums.

    c[r, j] (+)= sum over groups p of a[r, p] · b[p, j], of these arguments, all arrays
    one-dimensional and contiguous, each followed by where to begin and by its strides:

        a, a0, a_row, a_group   int32 pairs of bf16, or float32
        b, b0, b_group          of the same type
        n_groups                groups to sum over
        c, c0, c_row            float32
        adds                    whether to add to what c holds
    """

    # numba reads the names of the parameters; types are given by the arrays passed in.
    def multiply(typing, a, a0, a_row, a_group, b, b0, b_group, n, c, c0, c_row, adds):  # noqa: ANN001, ANN202
        signature = types.void(a, a0, a_row, a_group, b, b0, b_group, n, c, c0, c_row, adds)

        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            def pointer(i: int) -> Any:
                array = context.make_array(signature.args[i])(context, builder, args[i])
                return builder.gep(array.data, [args[i + 1]])

            tile = _Tile(builder, n_rows, n_vectors, in_pairs=a.dtype == types.int32)
            tile.begin(pointer(8), args[10], args[11])
            tile.sum(pointer(0), args[2], args[3], pointer(4), args[6], args[7])
            tile.store(pointer(8), args[10])
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(multiply)  # pyright: ignore


class _Tile:
    """Writes the code of one tile; its sums are kept in registers."""

    def __init__(self, builder: Any, n_rows: int, n_vectors: int, *, in_pairs: bool) -> None:
        self._b, self._in_pairs = builder, in_pairs
        self._kind = _INTS if in_pairs else _FLOATS
        self._sums = [
            [cgutils.alloca_once(builder, _FLOATS) for _ in range(n_vectors)] for _ in range(n_rows)
        ]

    def begin(self, c: Any, c_row: Any, adds: Any) -> None:
        """Begin with what is there, or with zeros."""
        b, nothing = self._b, ir.Constant(_FLOATS, None)
        for place, total in self._places(c, c_row):
            b.store(b.select(adds, b.load(place, align=4), nothing), total)

    def sum(self, a: Any, a_row: Any, a_group: Any, b_: Any, b_group: Any, n_groups: Any) -> None:
        """Add all groups."""
        b = self._b
        rows = [b.gep(a, [b.mul(a_row, _long(r))]) for r in range(len(self._sums))]
        with cgutils.for_range(b, n_groups) as loop:
            at, along = b.mul(loop.index, b_group), b.mul(loop.index, a_group)
            columns = [
                _vector(b, b.gep(b_, [b.add(at, _long(v * LANES))]), self._kind)
                for v in range(len(self._sums[0]))
            ]
            for row, totals in zip(rows, self._sums, strict=True):
                number = self._splat(b.load(b.gep(row, [along]), align=4))
                for total, column in zip(totals, columns, strict=True):
                    b.store(self._plus(b.load(total), number, column), total)

    def store(self, c: Any, c_row: Any) -> None:
        """Write the sums."""
        for place, total in self._places(c, c_row):
            self._b.store(self._b.load(total), place, align=4)

    def _places(self, c: Any, c_row: Any) -> list[tuple[Any, Any]]:
        b, found = self._b, []
        for r, totals in enumerate(self._sums):
            for v, total in enumerate(totals):
                at = b.add(b.mul(c_row, _long(r)), _long(v * LANES))
                found.append((b.bitcast(b.gep(c, [at]), _FLOATS.as_pointer()), total))
        return found

    def _plus(self, total: Any, left: Any, right: Any) -> Any:
        b = self._b
        if not self._in_pairs:
            return b.fadd(total, b.fmul(left, right, flags=_FUSED), flags=_FUSED)
        kind = ir.FunctionType(_FLOATS, [_FLOATS, _PAIRS, _PAIRS])
        name = "llvm.x86.avx512bf16.dpbf16ps.512"
        both = [b.bitcast(each, _PAIRS) for each in (left, right)]
        return b.call(cgutils.get_or_insert_function(b.module, kind, name), [total, *both])

    def _splat(self, value: Any) -> Any:
        b, nothing = self._b, ir.Constant(self._kind, ir.Undefined)
        lone = b.insert_element(nothing, value, ir.Constant(_INT, 0))
        return b.shuffle_vector(lone, nothing, ir.Constant(_INTS, None))


def _write_pairs(typing, x, out):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        numbers, pairs = (
            context.make_array(kind)(context, builder, each)
            for kind, each in zip(signature.args, args, strict=True)
        )
        n_vectors = builder.sdiv(builder.extract_value(numbers.shape, 0), _long(LANES))
        with cgutils.for_range(builder, n_vectors) as loop:
            at = builder.mul(loop.index, _long(LANES))
            halves = _rounded(builder, builder.gep(numbers.data, [at]))
            place = builder.gep(pairs.data, [builder.sdiv(at, _long(2))])
            builder.store(halves, builder.bitcast(place, _HALVES.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(x, out), codegen


write_pairs: Callable[..., None] = intrinsic(_write_pairs)  # pyright: ignore
"""Write float32 numbers, a multiple of 16, as bf16: neighbours x[2 i] and x[2 i + 1] in out[i]."""


def _write_column_pairs(typing, x, y, out):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        first, second, pairs = (
            context.make_array(kind)(context, builder, each)
            for kind, each in zip(signature.args, args, strict=True)
        )
        n_vectors = builder.sdiv(builder.extract_value(pairs.shape, 0), _long(LANES))
        with cgutils.for_range(builder, n_vectors) as loop:
            at = builder.mul(loop.index, _long(LANES))
            low, high = (
                builder.zext(
                    builder.bitcast(_rounded(builder, builder.gep(each.data, [at])), _SHORTS),
                    _INTS,
                )
                for each in (first, second)
            )
            half = ir.Constant(_INTS, [16] * LANES)
            place = builder.bitcast(builder.gep(pairs.data, [at]), _INTS.as_pointer())
            builder.store(builder.or_(low, builder.shl(high, half)), place, align=4)
        return context.get_dummy_value()

    return types.void(x, y, out), codegen


write_column_pairs: Callable[..., None] = intrinsic(_write_column_pairs)  # pyright: ignore
"""Write two rows of float32 numbers, a multiple of 16, as bf16: x[i] and y[i] in out[i]."""


def _rounded(builder: Any, at: Any) -> Any:
    return builder.fptrunc(_vector(builder, at, _FLOATS), _HALVES)


def _vector(builder: Any, at: Any, kind: Any) -> Any:
    return builder.load(builder.bitcast(at, kind.as_pointer()), align=4)


def _long(value: int) -> Any:
    return ir.Constant(_LONG, value)
