"""The innermost loops, written in LLVM's vectors: a tile of a matrix times one or four vectors.

A loop written in Python leaves it to LLVM how wide it computes, and LLVM does not find the
instruction that multiplies int16 pairs into int32. Here the vectors are spelled out, sixteen lanes
at a time; LLVM cuts them to what the machine has (AVX-512, AVX2, NEON), so one text serves all.

A tile holds R rows and all columns. Columns lie in groups of G, so that one load gives the same G
columns of all R rows: (columns / G, R, G). G is 2 for int8 weights, whose products with int16
numbers are summed in pairs, and 1 for float32 weights.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
_BYTE, _SHORT, _INT, _LONG, _FLOAT = (*map(ir.IntType, (8, 16, 32, 64)), ir.FloatType())
_INTS, _FLOATS = ir.VectorType(_INT, LANES), ir.VectorType(_FLOAT, LANES)
_FUSED = ("contract",)  # lets a machine with fused multiply-add use it, and no other one pay for it


def make_tile(
    n_rows: int, n_vectors: int, unroll: int, unroll_float32: int, *, ahead: int = 0
) -> Callable[..., None]:
    """Return a compiled-code function that multiplies one tile with `n_vectors` vectors.

    Its arguments, all arrays one-dimensional and contiguous, each followed by where to begin:

        w, w0               the tile: int8 or float32
        x, x0, x_stride     the vectors: int16 or float32, one every `x_stride`
        n_groups            groups of columns
        row_scale, r0       float32, one a row
        x_scale, t0         float32, one a vector
        y, y0, y_stride     the results: float32, R rows every `y_stride`

    Args:
        n_rows: Rows R of the tile, a multiple of 16.
        n_vectors: How many vectors; a weight is loaded once for all of them.
        unroll: Groups of columns a turn, each summed by itself: sums that wait for one another
            are slow.
        unroll_float32: The same for float32, where it is part of what is computed: tiles that are
            to give equal sums must have it alike.
        ahead: How many bytes ahead int8 weights are fetched, for a matrix that comes from afar: the
            machine by itself begins anew at each page. 0 leaves it to the machine.
    """

    # numba reads the names of the parameters; types are given by the arrays passed in.
    def multiply(typing, w, w0, x, x0, x_stride, n, row_scale, r0, x_scale, t0, y, y0, y_stride):  # noqa: ANN001, ANN202
        signature = types.void(
            w, w0, x, x0, x_stride, n, row_scale, r0, x_scale, t0, y, y0, y_stride
        )

        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            def pointer(i: int) -> Any:
                array = context.make_array(signature.args[i])(context, builder, args[i])
                return builder.gep(array.data, [args[i + 1]])

            is_int = w.dtype == types.int8
            turn = unroll if is_int else unroll_float32
            tile = _Tile(builder, n_rows, n_vectors, turn, ahead=ahead * is_int, is_int=is_int)
            tile.multiply(pointer(0), pointer(2), args[4], args[5])
            tile.store(pointer(6), pointer(8), pointer(10), args[12])
            return context.get_dummy_value()

        return signature, codegen

    return intrinsic(multiply)  # pyright: ignore


class _Tile:
    """Writes the code of one tile: `n_vectors` · R / 16 sums, kept in registers."""

    def __init__(
        self, builder: Any, n_rows: int, n_vectors: int, unroll: int, *, ahead: int, is_int: bool
    ) -> None:
        self._b, self._is_int, self._ahead = builder, is_int, ahead
        self._n_rows, self._n_vectors, self._unroll = n_rows, n_vectors, unroll
        self._parts = n_rows // LANES
        self._kind = _INTS if is_int else _FLOATS
        self._group = 2 if is_int else 1
        n_sums = n_vectors * self._parts * unroll
        self._sums = [cgutils.alloca_once(builder, self._kind) for _ in range(n_sums)]
        for each in self._sums:
            builder.store(ir.Constant(self._kind, None), each)

    def multiply(self, w: Any, x: Any, x_stride: Any, n_groups: Any) -> None:
        """Sum over all groups of columns: most of them `unroll` at a time, then the rest."""
        b, one = self._b, _long(1)
        rest = b.srem(n_groups, _long(self._unroll))
        most = b.sub(n_groups, rest)
        with cgutils.for_range_slice(b, _long(0), most, _long(self._unroll)) as (group, _):
            for i in range(self._unroll):
                self._add(w, x, x_stride, b.add(group, _long(i)), i)
        with cgutils.for_range_slice(b, most, n_groups, one) as (group, _):
            self._add(w, x, x_stride, group, 0)

    def store(self, row_scale: Any, x_scale: Any, y: Any, y_stride: Any) -> None:
        """Write sum · row_scale · x_scale."""
        b = self._b
        for t in range(self._n_vectors):
            scale = self._splat(b.load(b.gep(x_scale, [_long(t)])), _FLOATS)
            for part in range(self._parts):
                total = b.load(self._sum(t, part, 0))
                for i in range(1, self._unroll):
                    total = self._plus(total, b.load(self._sum(t, part, i)))
                if self._is_int:
                    total = b.sitofp(total, _FLOATS)
                rows = _vector(b, b.gep(row_scale, [_long(part * LANES)]), _FLOATS, 4)
                value = b.fmul(b.fmul(total, rows), scale)
                at = b.add(b.mul(y_stride, _long(t)), _long(part * LANES))
                b.store(value, b.bitcast(b.gep(y, [at]), _FLOATS.as_pointer())).align = 4

    def _add(self, w: Any, x: Any, x_stride: Any, group: Any, i: int) -> None:
        """Add one group of columns to sum number `i` of each row."""
        b = self._b
        weights = []
        first = b.mul(group, _long(self._n_rows * self._group))
        for part in range(self._parts):
            at = b.gep(w, [b.add(first, _long(part * LANES * self._group))])
            if self._is_int:
                loaded = _vector(b, at, ir.VectorType(_BYTE, 2 * LANES), 1)
                weights.append(b.sext(loaded, ir.VectorType(_INT, 2 * LANES)))
            else:
                weights.append(_vector(b, at, _FLOATS, 4))
        if self._ahead:
            self._fetch(b.gep(w, [b.add(first, _long(self._ahead))]))
        for t in range(self._n_vectors):
            column = b.add(b.mul(x_stride, _long(t)), b.mul(group, _long(self._group)))
            spread = self._spread(b.gep(x, [column]))
            for part in range(self._parts):
                into = self._sum(t, part, i)
                product = self._product(weights[part], spread)
                b.store(self._plus(b.load(into), product), into)

    def _fetch(self, at: Any) -> None:
        """Have a line brought as near as the second cache; where nothing lies, nothing happens.

        Into the first one it costs more than it brings on some processors (docs/lab_log.md).
        """
        b = self._b
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT, _INT, _INT])
        fetch = cgutils.get_or_insert_function(b.module, kind, "llvm.prefetch")
        to_read, to_second, data = (ir.Constant(_INT, value) for value in (0, 2, 1))
        b.call(fetch, [at, to_read, to_second, data])

    def _spread(self, at: Any) -> Any:
        """Load one group of a vector, and repeat it for every row."""
        b = self._b
        if not self._is_int:
            return self._splat(b.load(at), _FLOATS)
        pair = b.load(b.bitcast(at, _INT.as_pointer()))
        pair.align = 2
        pairs = b.bitcast(self._splat(pair, _INTS), ir.VectorType(_SHORT, 2 * LANES))
        return b.sext(pairs, ir.VectorType(_INT, 2 * LANES))

    def _product(self, weights: Any, spread: Any) -> Any:
        b = self._b
        if not self._is_int:
            return b.fmul(weights, spread, flags=_FUSED)
        # Even and odd products side by side: LLVM knows this as one instruction (vpmaddwd).
        products = b.mul(weights, spread)
        nothing = ir.Constant(products.type, ir.Undefined)
        even, odd = (
            b.shuffle_vector(
                products, nothing, ir.Constant(_INTS, [2 * i + k for i in range(LANES)])
            )
            for k in (0, 1)
        )
        return b.add(even, odd)

    def _plus(self, a: Any, c: Any) -> Any:
        return self._b.add(a, c) if self._is_int else self._b.fadd(a, c, flags=_FUSED)

    def _sum(self, t: int, part: int, i: int) -> Any:
        return self._sums[(t * self._parts + part) * self._unroll + i]

    def _splat(self, value: Any, kind: Any) -> Any:
        b, nothing = self._b, ir.Constant(kind, ir.Undefined)
        lone = b.insert_element(nothing, value, ir.Constant(_INT, 0))
        return b.shuffle_vector(lone, nothing, ir.Constant(_INTS, None))


def _bits_of_float(typing, number):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.bitcast(args[0], _INT)

    return types.int32(types.float32), codegen


bits_of_float: Callable[..., Any] = intrinsic(_bits_of_float)  # pyright: ignore
"""Return the bits of a float32 as an int32."""


def _float_of_bits(typing, bits):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.bitcast(args[0], _FLOAT)

    return types.float32(types.int32), codegen


float_of_bits: Callable[..., Any] = intrinsic(_float_of_bits)  # pyright: ignore
"""Return the float32 that has these bits (int32)."""


def _array_at(typing, table, i, like):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        entries = context.make_array(signature.args[0])(context, builder, args[0])
        address, size = (
            builder.load(builder.gep(entries.data, [builder.add(args[1], _long(n))]))
            for n in (0, 1)
        )
        made = context.make_array(signature.return_type)(context, builder)
        data = builder.inttoptr(address, made.data.type)
        _populate(context, made, signature.return_type, data, size)
        return made._getvalue()

    return types.Array(like.dtype, 1, "C")(table, types.intp, like), codegen


array_at: Callable[..., Any] = intrinsic(_array_at)  # pyright: ignore
"""Return the array whose address and size are table[i] and table[i + 1], of `like`'s type."""


def _part(typing, array, start, size):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        whole = context.make_array(signature.args[0])(context, builder, args[0])
        made = context.make_array(signature.return_type)(context, builder)
        data = builder.gep(whole.data, [args[1]])
        _populate(context, made, signature.return_type, data, args[2])
        return made._getvalue()

    kept = types.Array(array.dtype, 1, "C")
    return kept(array, types.intp, types.intp), codegen


part: Callable[..., Any] = intrinsic(_part)  # pyright: ignore
"""Return array[start : start + size] of one dimension, without looking at any bound.

    numba's own slices count from the end, clip, and count their users: too much for a few numbers.
    """


def _populate(context: Any, array: Any, kind: Any, data: Any, size: Any) -> None:
    itemsize = context.get_constant(types.intp, kind.dtype.bitwidth // 8)
    context.populate_array(
        array, data=data, shape=[size], strides=[itemsize], itemsize=itemsize, meminfo=None
    )


def _long(value: int) -> Any:
    return ir.Constant(_LONG, value)


def _vector(builder: Any, at: Any, kind: Any, align: int) -> Any:
    loaded = builder.load(builder.bitcast(at, kind.as_pointer()))
    loaded.align = align
    return loaded
