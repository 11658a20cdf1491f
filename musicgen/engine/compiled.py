"""Compiling once and for all: machine code is kept on the disk between runs.

numba keeps it beside the source, or where that cannot be written in the user's own cache folder,
or where NUMBA_CACHE_DIR says; it asks by itself for another processor or another numba. It does not
look at the functions that a function calls, so the hash of this room's files is part of the name.

This module imports numba: import it only where something is to be computed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator

from musicgen.engine import causal, draws, kernels, polynomials
from musicgen.engine.numerics import EXACT

NOT_KEPT = (
    "The compiled code could not be kept, so that every start compiles it again: name a folder "
    "that can be written in the variable NUMBA_CACHE_DIR."
)


@functools.cache
def read_events() -> Callable[..., bool]:
    """Return the compiled `kernels.read_events`."""
    return _kept(kernels.read_events)


@functools.cache
def score_attribute() -> Callable[..., bool]:
    """Return the compiled `kernels.score_attribute`."""
    return _kept(kernels.score_attribute)


@functools.cache
def draw() -> Callable[..., int]:
    """Return the compiled `draws.draw`."""
    return _kept(draws.draw)


@functools.cache
def attend_forward() -> Callable[..., None]:
    """Return the compiled `causal.forward`."""
    return _kept(causal.forward)


@functools.cache
def attend_backward() -> Callable[..., None]:
    """Return the compiled `causal.backward`."""
    return _kept(causal.backward)


@functools.cache
def apply_polynomials() -> Callable[..., None]:
    """Return the compiled `polynomials.apply_polynomials`."""
    return _kept(polynomials.apply_polynomials)


def warnings_about(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """Return what a user should know of functions of this module that have run, in sentences."""
    caches = [getattr(function, "_cache", None) for function in functions]
    kept = all(isinstance(cache, _Kept) and not cache.is_lost for cache in caches)
    return () if kept else (NOT_KEPT,)


def _kept(function: FunctionType) -> Callable[..., Any]:
    named = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    named.__module__ = function.__module__
    named.__qualname__ = f"{function.__name__}_{_digest()}"
    dispatcher = njit(**EXACT)(named)
    try:
        # As numba's own `cache=True` does with its class.
        dispatcher._cache = _Kept(named)  # pyright: ignore[reportAttributeAccessIssue]
    except RuntimeError:  # no folder can be written: it is compiled in every run; it is said
        return dispatcher
    return dispatcher


class _InHome(UserWideCacheLocator):
    """The user's cache folder, if there is one."""

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> Any:
        """Return the place where a function is kept, or None."""
        # For a user without a home numba would make a folder called `~` in the working directory.
        if not os.path.isabs(cls(py_func, py_file).get_cache_path()):
            return None
        return super().from_function(py_func, py_file)


class _Places(CompileResultCacheImpl):
    _locator_classes: ClassVar = [
        _InHome if locator is UserWideCacheLocator else locator
        for locator in CompileResultCacheImpl._locator_classes
    ]


class _Kept(FunctionCache):
    """numba's cache, of which nothing but time can be lost.

    numba gives up where a kept file is damaged (a power cut leaves empty ones) or the disk is full,
    and would do so in every run from then on.
    """

    _impl_class = _Places
    is_lost = False  # there was no room for the code

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code that was kept, or None: then it is compiled, and kept anew."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001  to pickle, damaged bytes may mean anything
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code if there is room for it."""
        try:
            super().save_overload(sig, data)
        except OSError:
            self.is_lost = True


@functools.cache
def _digest() -> str:
    folder = Path(__file__).parent
    text = b"".join(file.read_bytes() for file in sorted(folder.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]
