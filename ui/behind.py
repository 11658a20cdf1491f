"""The studio behind a proxy: the address that the world knows it by, and who may open its socket.

A proxy may take the path's prefix away or leave it: both are served, since nothing of ours names
an address from the root. A socket of another site's page is refused here: Streamlit would first ask
another machine under which address this one is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse

from musicgen.errors import ConfigError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_AGAINST_THE_RULES: Final = 1008  # a socket's code
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicAddress:
    """The address under which a proxy shows the studio.

    Attributes:
        scheme: "http" or "https".
        name: Of the computer, as a browser says it; in small letters.
        port: Of the proxy.
        prefix: What stands before every path, without a slash at its end; "" for nothing.
    """

    scheme: str
    name: str
    port: int
    prefix: str

    @classmethod
    def parse(cls, url: str) -> PublicAddress:
        """Read an address like https://music.example.org/studio.

        Raises:
            ConfigError: It is none.
        """
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
        prefix = parts.path.rstrip("/")
        is_path = all(part not in ("", ".", "..") for part in prefix.split("/")[1:])
        if parts.scheme not in _PORTS or not parts.hostname or not is_plain or not is_path:
            raise ConfigError(
                f"{url[:100]!r} is not an address that a browser could open.",
                hint="Give one like https://music.example.org/studio.",
            )
        port = port or _PORTS[parts.scheme]
        return cls(scheme=parts.scheme, name=parts.hostname, port=port, prefix=prefix)

    @property
    def url(self) -> str:
        """The address of the page."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{name}{port}{self.prefix}/"


class WithoutPrefix:
    """Middleware: paths as they are without a prefix, where they begin with it.

    Args:
        app: The application behind.
        prefix: "/studio", or "" to leave every path as it is.
    """

    def __init__(self, app: ASGIApp, *, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        path = scope.get("path", "")
        if not self._prefix or scope["type"] == "lifespan":
            pass
        elif path == self._prefix and scope["type"] == "http":
            # The page's own addresses count from its last slash.
            to_page = RedirectResponse(f"{self._prefix.rpartition('/')[2]}/", status_code=307)
            await to_page(scope, receive, send)
            return
        elif path.startswith(f"{self._prefix}/"):
            rest = path[len(self._prefix) :]
            scope = {**scope, "path": rest, "raw_path": rest.encode("utf-8", "surrogateescape")}
        await self._app(scope, receive, send)


class SecureCookies:
    """Middleware: cookies that a browser keeps to encrypted connections.

    Args:
        app: The application behind.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and mark the answer's cookies."""

        async def mark(message: Message) -> None:
            if message["type"] == "http.response.start":
                named = [
                    (name, value + b"; Secure" if _is_open_cookie(name, value) else value)
                    for name, value in message.get("headers", ())
                ]
                message = {**message, "headers": named}
            await send(message)

        await self._app(scope, receive, mark)


class OwnSockets:
    """Middleware: sockets are opened by the studio's own pages alone.

    Args:
        app: The application behind.
        name: Of the public address, where a proxy calls this computer by another name.
    """

    def __init__(self, app: ASGIApp, *, name: str | None = None) -> None:
        self._app = app
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or close a socket."""
        if scope["type"] == "websocket" and not self._is_own(scope):
            await send({"type": "websocket.close", "code": _AGAINST_THE_RULES})
            return
        await self._app(scope, receive, send)

    def _is_own(self, scope: Scope) -> bool:
        origin, host = _header(scope, b"origin"), _header(scope, b"host")
        if origin is None:
            return True  # no browser
        try:
            parts = urlsplit(origin)
            name = parts.hostname
        except ValueError:
            return False
        return parts.netloc == host or (name is not None and name == self._name)


def _is_open_cookie(name: bytes, value: bytes) -> bool:
    return name.lower() == b"set-cookie" and b"; secure" not in value.lower()


def _header(scope: Scope, name: bytes) -> str | None:
    found = next((value for key, value in scope["headers"] if key == name), None)
    return None if found is None else found.decode("latin-1")
