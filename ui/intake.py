"""A limit on what all visitors' files take of the memory together.

Streamlit limits each file, and keeps every one until its page is closed, also what no page asked
for: whoever speaks to its address directly could fill the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.responses import PlainTextResponse

from musicgen.ui import strings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_BYTES: Final = 1 << 30
_ADDRESS: Final = "/_stcore/upload_file/"


class Intake:
    """Middleware: files beyond `MOST_BYTES` of those that are kept are refused.

    Args:
        app: The application that takes files in.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._coming = 0  # bytes of files on their way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http" or scope["method"] != "PUT" or _ADDRESS not in scope["path"]:
            await self._app(scope, receive, send)
            return
        length = _length(scope)
        if kept_bytes() + self._coming + length > MOST_BYTES:
            await PlainTextResponse(strings.NO_ROOM, status_code=413)(scope, receive, send)
            return
        self._coming += length
        try:
            await self._app(scope, receive, send)
        finally:
            self._coming -= length


def _length(scope: Scope) -> int:
    """Return how long a request says that it is; Streamlit limits one that does not say it."""
    told = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(told) if told.isdigit() and len(told) < 20 else 0


def kept_bytes() -> int:
    """Return how many bytes of visitors' files the server keeps."""
    from streamlit.runtime import Runtime

    pages = getattr(Runtime.instance().uploaded_file_mgr, "file_storage", {})
    return sum(len(file.data) for files in pages.values() for file in files.values())
