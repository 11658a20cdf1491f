"""What two threads may write and read at once: whole numbers of an array, in an order that holds.

A plain load in a loop that waits is moved out of the loop by LLVM, and on ARM what was written
later may be seen earlier. So each of these says what it keeps in order, as C11's atomics do.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_WORD, _WORD_BYTES = ir.IntType(64), 8
_PAUSES = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "amd64": ("llvm.x86.sse2.pause", ()),
    "arm64": ("llvm.aarch64.isb", (15,)),
    "aarch64": ("llvm.aarch64.isb", (15,)),
}


def _load(ordering: str) -> Callable[..., Any]:
    def load(typing, words, i):  # noqa: ANN001, ANN202
        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            at = _address(context, builder, signature, args)
            return builder.load_atomic(at, ordering, _WORD_BYTES)

        return types.int64(words, types.intp), codegen

    return intrinsic(load)  # pyright: ignore


def _store(ordering: str) -> Callable[..., Any]:
    def store(typing, words, i, number):  # noqa: ANN001, ANN202
        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            at = _address(context, builder, signature, args)
            builder.store_atomic(args[2], at, ordering, _WORD_BYTES)
            return context.get_dummy_value()

        return types.void(words, types.intp, types.int64), codegen

    return intrinsic(store)  # pyright: ignore


def _fence(ordering: str) -> Callable[..., Any]:
    def fence(typing):  # noqa: ANN001, ANN202
        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            builder.fence(ordering)
            return context.get_dummy_value()

        return types.void(), codegen

    return intrinsic(fence)  # pyright: ignore


load_relaxed, load_acquire = _load("monotonic"), _load("acquire")
"""Return words[i] (int64): whole, and with "acquire" before all that is read after it."""

store_relaxed, store_release = _store("monotonic"), _store("release")
"""Write words[i] (int64): whole, and with "release" after all that was read and written before."""

fence_acquire, fence_release, fence_all = _fence("acquire"), _fence("release"), _fence("seq_cst")
"""Keep what stands before a line before what stands behind it: reads, writes, or all of both."""


def _pause(typing):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        if platform.machine().lower() in _PAUSES:
            name, numbers = _PAUSES[platform.machine().lower()]
            int32 = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [int32] * len(numbers))
            pause = cgutils.get_or_insert_function(builder.module, kind, name)
            builder.call(pause, [ir.Constant(int32, number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), codegen


pause: Callable[[], None] = intrinsic(_pause)  # pyright: ignore
"""Wait some nanoseconds, and leave the core's shared parts to others meanwhile."""


def _sleep_at(typing, words, i):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        whole = context.make_array(signature.args[0])(context, builder, args[0])
        lock, function = (
            builder.load(builder.gep(whole.data, [builder.add(args[1], ir.Constant(_WORD, n))]))
            for n in (0, 1)
        )
        int32, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(int32, [pointer, int32])
        wait = builder.inttoptr(function, kind.as_pointer())
        builder.call(wait, [builder.inttoptr(lock, pointer), ir.Constant(int32, 1)])
        return context.get_dummy_value()

    return types.void(words, types.intp), codegen


sleep_at: Callable[..., None] = intrinsic(_sleep_at)  # pyright: ignore
"""Sleep until the `Bell` rings whose address and function are words[i] and words[i + 1]."""


def _stay_apart(typing):  # noqa: ANN001, ANN202

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), codegen


stay_apart: Callable[[], None] = intrinsic(_stay_apart)  # pyright: ignore
"""Keep the function in which it stands out of its callers: it computes alike for all of them."""


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    words = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(words.data, [args[1]])
