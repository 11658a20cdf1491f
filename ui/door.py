"""A password before the app, for studios that others can reach.

Streamlit has none of its own that needs no outside service. A browser that gave the password once
holds a cookie with a random key of this process; pages, our own addresses and Streamlit's socket
are shut without it. The connection is not encrypted: that is said where the password is asked for.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, quote

from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from musicgen.ui import strings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_OPEN: Final = ("/_stcore/health", "/_stcore/host-config")  # they tell nothing of anybody
_COOKIE: Final = "musicgen_key"
_LONGEST_BODY: Final = 4096
_THINKS_S: Final = 1.0  # after each wrong password
_MOST_WAITING: Final = 8  # guesses of one address; whoever sends more is answered so at once
_REFUSED: Final = 1008  # a socket's code for what is against the rules

_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; display: grid; min-height: 90vh; margin: 0;
  place-items: center; background: light-dark(#fbfaf7, #141311);
  color: light-dark(#1d1b17, #f1ede4); }}
main {{ width: min(22rem, 90vw); }}
input, button {{ font: inherit; box-sizing: border-box; width: 100%; padding: .6rem .8rem;
  border-radius: 10px; border: 1px solid #857f74; margin-top: .5rem; }}
button {{ background: #0f6f69; color: #fff; border-color: #0f6f69; cursor: pointer; }}
:focus-visible {{ outline: 2px solid currentColor; outline-offset: 2px; }}
</style>
<main>
<h1>{title}</h1>
<p role="alert">{wrong}</p>
<form method="post">
<label>{label}
<input type="password" name="password" autocomplete="current-password" autofocus required></label>
<button>{button}</button>
</form>
<p>{plain}</p>
</main>
</html>
"""


class _TooManyError(Exception):
    """So many guesses of one address wait already that no more do."""


class _Guesses:
    """Lets the guesses of each address wait for one another: none in parallel.

    Nothing is remembered of an address of which none waits.
    """

    def __init__(self) -> None:
        self._lines: dict[str, tuple[asyncio.Lock, list[None]]] = {}

    @asynccontextmanager
    async def one_at_a_time(self, address: str) -> AsyncIterator[None]:
        """Wait for the guesses of the same address that came before.

        Raises:
            _TooManyError: Too many wait already.
        """
        lock, waiting = self._lines.setdefault(address, (asyncio.Lock(), []))
        if len(waiting) >= _MOST_WAITING:
            raise _TooManyError
        waiting.append(None)
        try:
            async with lock:
                yield
        finally:
            waiting.pop()
            if not waiting:
                del self._lines[address]


class Door:
    """Middleware: nobody comes in without the password.

    Args:
        app: The application behind the door.
        password: What opens it.
        path: Where the studio begins on this server, as a browser sees it.
    """

    def __init__(self, app: ASGIApp, *, password: str, path: str = "/") -> None:
        self._app = app
        self._secret = secrets.token_bytes(32)
        self._password = self._digest(password)
        self._key = secrets.token_hex(32)
        self._path = path
        self._guesses = _Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer at the door."""
        if scope["type"] == "lifespan" or scope.get("path") in _OPEN or self._has_key(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": _REFUSED})
        else:
            answer = await self._answer(scope, receive)
            await answer(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        if scope["method"] == "POST":  # the page posts to whichever address it was asked for
            given = _given(await _body(receive))
            try:
                async with self._guesses.one_at_a_time(_address(scope)):
                    if self._opens(given):
                        return self._welcome(scope)
                    await asyncio.sleep(_THINKS_S)
            except _TooManyError:
                return _page(wrong=strings.TOO_MANY_GUESSES, status=429)
            return _page(wrong=strings.WRONG_PASSWORD)
        if scope["method"] == "GET" and _wants_page(scope):
            return _page()
        return PlainTextResponse(strings.ENTER_PASSWORD, status_code=401)

    def _opens(self, given: str) -> bool:
        return hmac.compare_digest(self._digest(given), self._password)

    def _digest(self, password: str) -> bytes:
        """Return as many bytes for any password: comparing them tells nothing, not its length."""
        given = password.encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret, given, "sha256")

    def _welcome(self, scope: Scope) -> Response:
        # Relative: what stands before the path, a proxy alone knows.
        wanted = "./" + quote(scope["path"].rpartition("/")[2])
        query = scope.get("query_string", b"").decode("latin-1")
        answer = RedirectResponse(f"{wanted}?{query}" if query else wanted, status_code=303)
        answer.set_cookie(_COOKIE, self._key, path=self._path, httponly=True, samesite="strict")
        return answer

    def _has_key(self, scope: Scope) -> bool:
        raw = next((v for k, v in scope["headers"] if k == b"cookie"), b"").decode("latin-1")
        try:
            morsel = SimpleCookie(raw).get(_COOKIE)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(morsel.value.encode(), self._key.encode())


def _address(scope: Scope) -> str:
    """Return whose guess it is: an address, of IPv6 the network that one visitor has.

    Behind a proxy of this computer it is what the proxy says (X-Forwarded-For).
    """
    client = scope.get("client")
    try:
        address = ipaddress.ip_address(client[0] if client else "")
    except ValueError:
        return ""
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def _given(body: bytes) -> str:
    try:
        return parse_qs(body.decode(), max_num_fields=4).get("password", [""])[0]
    except ValueError:
        return ""


async def _body(receive: Receive) -> bytes:
    body = b""
    while len(body) <= _LONGEST_BODY:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body
    return b""


def _wants_page(scope: Scope) -> bool:
    accepted = next((v for k, v in scope["headers"] if k == b"accept"), b"")
    return b"text/html" in accepted


def _page(*, wrong: str = "", status: int = 401) -> Response:
    page = _PAGE.format(
        title=strings.BRAND,
        wrong=wrong,
        label=strings.PASSWORD,
        button=strings.COME_IN,
        plain=strings.NOT_ENCRYPTED,
    )
    return HTMLResponse(page, status_code=status, headers={"Cache-Control": "no-store"})
