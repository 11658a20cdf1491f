"""Pages that are opened by an address of their own, such as /lab.

Streamlit's page takes the name for a folder that it might be served from: it asks for
/lab/_stcore/health first, gets a 404, which browsers write down as an error, and asks at the right
place after a pause. An answer to that first question would not do: /lab would then be the folder of
everything. So the page is told at once where the server is, as Streamlit's frontend takes it from
`window.__streamlit` (`BACKEND_BASE_URL`).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from streamlit import file_util

PAGES: Final = ("train", "lab")
"""What the pages are called in the address; *Create* is there without a name alone."""

# Relative: a proxy may show the studio below a prefix.
_WHERE: Final = "<script>window.__streamlit={BACKEND_BASE_URL:new URL('.',location).href}</script>"
_HEADERS: Final = {"Cache-Control": "no-cache"}


@functools.cache
def page_html() -> str:
    """Return Streamlit's page with the word on where the server is.

    Raises:
        OSError: Streamlit's page is not where this version of it should have it.
    """
    page = Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")
    return page.replace("<head>", f"<head>{_WHERE}", 1)


def _page(_request: Request) -> Response:
    return HTMLResponse(page_html(), headers=_HEADERS)


def page_routes() -> list[Route]:
    """Return the addresses of the pages."""
    return [Route(f"/{name}", _page, methods=["GET"]) for name in PAGES]
