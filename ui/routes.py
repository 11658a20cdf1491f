"""The server's own addresses: sound and attention maps, and the headers of every answer.

Streamlit's protection against forged requests does not cover them: they only answer GET, only to
names of 128 random bits, and change nothing.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from musicgen.errors import MusicgenError
from musicgen.ui.direct import page_routes
from musicgen.ui.gaze_routes import gaze_routes
from musicgen.ui.listening import can_be_heard, heard_passage, is_passage
from musicgen.ui.resources import studio

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

VISITOR_COOKIE: Final = "musicgen_visitor"
_VISITOR = re.compile(r"[0-9a-f]{32}")
_MASK = re.compile(r"[0-9a-f]{1,32}")  # of 128 tracks
_REMEMBERED_S: Final = 400 * 24 * 3600  # the most that browsers allow, from the last visit on
_ONCE_MORE: Final = '<!doctype html><title>musicgen</title><meta http-equiv="refresh" content="0">'
_MEDIA_TYPES: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}
_OURS: Final = ("listen", "making", "training", "attention")
_FRESH: Final = {"Cache-Control": "no-store"}
_PATIENCE_S: Final = 2.0  # so long an answer waits for music,
_GLANCE_S: Final = 0.015  # and looks as often as that
_LONGEST_PATH: Final = 1000  # a longer one names nothing, and its numbers Python refuses to read
_PRIVATE: Final = {"Cache-Control": "private, max-age=3600"}
# Streamlit needs inline styles, blob: scripts (our component) and eval (its charts); nothing of the
# page may come from or go to another machine.
_POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)


def is_visitor(name: object) -> bool:
    """Say whether a cookie's value is of the form that we hand out."""
    return isinstance(name, str) and _VISITOR.fullmatch(name) is not None


async def sound(request: Request) -> Response:
    """Answer with a piece's sound, in ranges if asked so; it is rendered when first wanted."""
    name, kind = request.path_params["name"], request.path_params["kind"]
    muted = _tracks(request.path_params.get("muted", "0"))
    if kind not in _MEDIA_TYPES or muted is None:
        return Response(status_code=404)
    async with studio().for_sound.turn(name, request) as is_wanted:
        if not is_wanted:
            return Response(status_code=404)
        try:
            path = await run_in_threadpool(studio().shelf.sound, name, kind, muted=muted)
        except MusicgenError as error:
            return JSONResponse(error.as_dict(), status_code=503)
    if path is None:
        return Response(status_code=404)
    return FileResponse(path, media_type=_MEDIA_TYPES[kind], headers=_PRIVATE)


def _tracks(mask: str) -> tuple[int, ...] | None:
    """Return the tracks whose bits a hexadecimal mask sets; None if it is none."""
    if not _MASK.fullmatch(mask):
        return None
    bits = int(mask, 16)
    return tuple(track for track in range(bits.bit_length()) if bits >> track & 1)


def sound_facts(request: Request) -> Response:
    """Answer with what the synthesizer had to say about a piece's sound."""
    shelf, name = studio().shelf, request.path_params["name"]
    if shelf.get(name) is None:
        return Response(status_code=404)
    failure = shelf.failure(name)
    return JSONResponse(
        {
            "warnings": list(shelf.warnings(name)),
            "gain": shelf.gain(name),
            "error": None if failure is None else failure.as_dict(),
        },
        headers=_FRESH,
    )


def making(request: Request) -> Response:
    """Answer with how far a piece has come that is being made."""
    job = studio().making(request.path_params["name"])
    if job is None:
        return Response(status_code=404)
    studio().workshop.glance(job)
    so_far = job.so_far(*studio().standing(job))
    return JSONResponse(so_far, headers=_FRESH)


async def hear(request: Request) -> Response:
    """Answer with the sound of a piece that is being made, from a sample on.

    Two channels of float32, one after the other, at the synthesizer's own level. Where there is
    nothing to be heard yet the answer waits a while, and is empty then.
    """
    job = studio().making(request.path_params["name"])
    begin, length = request.path_params["begin"], request.path_params["length"]
    if job is None or not is_passage(begin, length):
        return Response(status_code=404)
    until = time.monotonic() + _PATIENCE_S
    while not can_be_heard(job, begin, length):
        if not job.active or studio().closing or time.monotonic() > until:
            return _nothing(is_last=not job.active)
        await asyncio.sleep(_GLANCE_S)
    async with studio().for_passages.turn(job.id, request) as is_wanted:
        if not is_wanted:
            return _nothing(is_last=False)
        try:
            play = studio().play_passage
            passage = await run_in_threadpool(heard_passage, job, begin, length, play)
        except MusicgenError as error:
            return JSONResponse(error.as_dict(), status_code=503)
    if passage is None:
        return _nothing(is_last=not job.active)
    return Response(
        passage.samples.astype("<f4").tobytes(),
        media_type="audio/x-float32",  # what is named audio, Streamlit does not compress
        headers={**_FRESH, "X-Last": str(int(passage.is_last))},
    )


def _nothing(*, is_last: bool) -> Response:
    return Response(status_code=204, headers={**_FRESH, "X-Last": str(int(is_last))})


def training(request: Request) -> Response:
    """Answer with how a training run stands and what it has learned."""
    found = studio().training.standing(request.path_params["name"])
    return Response(status_code=404) if found is None else JSONResponse(found, headers=_FRESH)


def _no_such(_request: Request) -> Response:
    return Response(status_code=404)


def routes() -> list[Route]:
    """Return the app's own addresses."""
    return [
        Route("/listen/{name}.{kind}", sound, methods=["GET"]),
        Route("/listen/{name}/without/{muted}.{kind}", sound, methods=["GET"]),
        Route("/listen/{name}", sound_facts, methods=["GET"]),
        Route("/making/{name}", making, methods=["GET"]),
        Route("/making/{name}/sound/{begin:int}/{length:int}", hear, methods=["GET"]),
        Route("/training/{name}", training, methods=["GET"]),
        *page_routes(),
        *gaze_routes(),
        # Streamlit answers with the page to what it does not know.
        *(Route(f"/{ours}/{{rest:path}}", _no_such, methods=["GET"]) for ours in _OURS),
    ]


class Guard:
    """Middleware: security headers on every answer, and a visitor's name that lasts.

    A browser keeps the cookie of `SameSite=Strict` to itself where a link of another site leads
    here. So such a page is asked for once more, by itself: else whoever comes that way would be
    given a new name, and not find their takes again.

    Args:
        app: The application to guard.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and dress its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visitor, is_page = _cookie(scope), _is_page(scope)
        is_known = is_visitor(visitor)
        once_more = is_page and not is_known and _header(scope, b"sec-fetch-site") == "cross-site"

        async def dress(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = _POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                if is_page and not once_more:
                    headers.append(
                        "Set-Cookie",
                        f"{VISITOR_COOKIE}={visitor if is_known else secrets.token_hex(16)}; "
                        f"Path=/; Max-Age={_REMEMBERED_S}; HttpOnly; SameSite=Strict",
                    )
            await send(message)

        app: ASGIApp = HTMLResponse(_ONCE_MORE, headers=_FRESH) if once_more else self._app
        if len(scope["path"]) > _LONGEST_PATH:
            app = Response(status_code=404)
        await app(scope, receive, dress)


def _is_page(scope: Scope) -> bool:
    """Say whether a browser asks for a page to show, and not for a part of one."""
    is_document = _header(scope, b"sec-fetch-dest") == "document"
    return scope["method"] == "GET" and (scope["path"] == "/" or is_document)


def _header(scope: Scope, name: bytes) -> str:
    return next((v for k, v in scope["headers"] if k == name), b"").decode("latin-1")


def _cookie(scope: Scope) -> str | None:
    try:
        morsel = SimpleCookie(_header(scope, b"cookie")).get(VISITOR_COOKIE)
    except CookieError:
        return None
    return None if morsel is None else morsel.value
