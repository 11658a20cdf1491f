"""The addresses of attention: what the heads look at, for the page and as files to take home.

As all our own addresses they only answer GET, only to names of 128 random bits, and change nothing.
Where there is no attention the page is told why, as {"error": …} with 200: what the model does not
hear is no fault of a server, and a browser notes every other code as one. Then there is no file to
take home either, with 503.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from musicgen.errors import MusicgenError
from musicgen.ui.gaze_bytes import map_bytes
from musicgen.ui.gaze_views import Choice, is_form, is_view, view_file
from musicgen.ui.looking import Why
from musicgen.ui.resources import studio

if TYPE_CHECKING:
    from starlette.requests import Request

    from musicgen.ui.gaze import Gaze
    from musicgen.ui.pieces import Piece

_NOT_KEPT: Final = {"Cache-Control": "no-store"}
_PRIVATE: Final = {"Cache-Control": "private, max-age=3600"}
_BYTES: Final = "application/octet-stream"
_TYPES: Final = {"png": "image/png", "svg": "image/svg+xml", "csv": "text/csv; charset=utf-8"}


async def look(request: Request) -> Response:
    """Answer with all attention from and to one note; with nothing where the model saw none."""

    def answer(piece: Piece) -> Response:
        found = studio().looking.look(piece, request.path_params["note"])
        if found is None:
            return Response(status_code=204, headers=_PRIVATE)
        # What is named audio, Streamlit does not compress: these are numbers, and small.
        return Response(found, media_type="audio/x-attention", headers=_PRIVATE)

    return await _answered(request, answer)


async def facts(request: Request) -> Response:
    """Answer with the events, bars and habits of a part of a piece."""
    return await _of_page(
        request, lambda gaze, _: JSONResponse(gaze.facts(), headers=_PRIVATE), why=Why.UNASKED
    )


async def tiles(request: Request) -> Response:
    """Answer with the small maps of all layers and heads."""
    return await _of_page(
        request,
        lambda gaze, _: Response(gaze.tiles(), media_type=_BYTES, headers=_PRIVATE),
        why=Why.UNASKED,
    )


async def large_map(request: Request) -> Response:
    """Answer with one map of the heads that are chosen, compressed."""
    choice = Choice.of(request.query_params)
    if choice is None:
        return Response(status_code=404)

    def answer(gaze: Gaze, _piece: Piece) -> Response:
        weights = gaze.combined(choice.layers, choice.heads, choice.one_way, by_bars=choice.by_bars)
        headers = {**_PRIVATE, "Content-Encoding": "gzip"}
        return Response(map_bytes(weights), media_type=_BYTES, headers=headers)

    return await _of_page(request, answer)


async def export(request: Request) -> Response:
    """Answer with a view as a file."""
    view, form = request.path_params["view"], request.path_params["form"]
    choice = Choice.of(request.query_params)
    note = request.query_params.get("note", "")
    if choice is None or not (is_view(view) and is_form(form)):
        return Response(status_code=404)
    number = int(note) if note.isascii() and note.isdigit() and len(note) < 10 else None

    def answer(gaze: Gaze, piece: Piece) -> Response:
        data = view_file(gaze, piece, choice, view=view, form=form, note=number)
        if data is None:
            return Response(status_code=404)
        name = f"musicgen-{piece.file_stem}-{view}.{form}"
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(data, media_type=_TYPES[form], headers={**_PRIVATE, **disposition})

    return await _of_page(request, answer, why=Why.FILE, refusal_code=503)


async def _of_page(
    request: Request,
    answer: Callable[[Gaze, Piece], Response],
    *,
    why: Why = Why.PRESSED,
    refusal_code: int = 200,
) -> Response:
    page = request.path_params["page"]
    return await _answered(
        request,
        lambda piece: answer(studio().looking.gaze(piece, page), piece),
        why=why,
        refusal_code=refusal_code,
    )


async def _answered(
    request: Request,
    answer: Callable[[Piece], Response],
    *,
    why: Why = Why.PRESSED,
    refusal_code: int = 200,
) -> Response:
    """Have a piece's answer made where attention is read.

    Args:
        request: Names the piece.
        answer: Makes it.
        why: It is wanted.
        refusal_code: Of the answer that says why there is none.
    """
    piece = studio().shelf.get(request.path_params["name"])
    if piece is None:
        return Response(status_code=404)
    work = functools.partial(answer, piece)
    try:
        async with studio().for_looks.turn((piece.id, why), request) as is_wanted:
            if not is_wanted:
                return Response(status_code=404)
            return await asyncio.wrap_future(studio().looking.ask(work, why=why))
    except MusicgenError as error:
        told = {"error": error.as_dict()}
        return JSONResponse(told, status_code=refusal_code, headers=_NOT_KEPT)
    except IndexError:
        return Response(status_code=404)


def gaze_routes() -> list[Route]:
    """Return the addresses of attention."""
    return [
        Route("/attention/{name}/note/{note:int}", look, methods=["GET"]),
        Route("/attention/{name}/{page:int}", tiles, methods=["GET"]),
        Route("/attention/{name}/{page:int}/facts", facts, methods=["GET"]),
        Route("/attention/{name}/{page:int}/map", large_map, methods=["GET"]),
        Route("/attention/{name}/{page:int}/{view}.{form}", export, methods=["GET"]),
    ]
