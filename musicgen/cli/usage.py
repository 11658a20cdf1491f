"""Wrong usage told to programs, too: typer tells it on stderr alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from musicgen.cli.console import print_error
from musicgen.errors import MusicgenError

JSON = "--json"
_IS_TOLD = "musicgen.usage_is_told"


class Commands(TyperGroup):
    """The program's commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command."""
        with _told_as_json(ctx, args):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _told_as_json(ctx, ctx.args):
            return super().invoke(ctx)


@contextmanager
def _told_as_json(ctx: typer.Context, args: Sequence[str]) -> Iterator[None]:
    as_json = JSON in args  # looked at now: typer takes them away
    try:
        yield
    except Exception as error:
        # What errors of usage have, and others not; typer has no public name for their class.
        told = getattr(error, "format_message", None)
        if told is not None and as_json and not ctx.meta.get(_IS_TOLD):
            ctx.meta[_IS_TOLD] = True
            place = getattr(error, "ctx", None) or ctx
            hint = f"'{place.command_path} --help' tells of all options."
            print_error(MusicgenError(told(), hint=hint, code="usage"))
        raise
