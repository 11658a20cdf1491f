"""How `musicgen ui` starts the app: Streamlit's server with our own routes."""

from __future__ import annotations

import ipaddress
import os
import threading
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from musicgen.assets import asset_dir

MAX_UPLOAD_MB: Final = 8  # what the MIDI reader takes; a MIDI file of a whole opera is smaller
_PATIENCE_S: Final = 30.0


def options(host: str, port: int) -> dict[str, object]:
    """Return Streamlit's configuration for serving at an address.

    Args:
        host: Address to listen on.
        port: Port to listen on.
    """
    from musicgen.ui import theme

    return {
        "server.address": host,
        "server.port": port,
        # Against DNS rebinding: a page of another name must not speak to this server.
        "server.allowedHosts": ["localhost", "127.0.0.1", "[::1]"] if is_local(host) else [],
        "server.headless": True,
        "server.maxUploadSize": MAX_UPLOAD_MB,
        "server.maxMessageSize": 64,
        "server.enableXsrfProtection": True,
        "server.enableCORS": True,
        "server.xsrfCookieSameSite": "strict",
        "server.fileWatcherType": "none",
        "server.disconnectedSessionTTL": 600,
        "browser.gatherUsageStats": False,
        "client.showErrorLinks": False,
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "logger.hideWelcomeMessage": True,
        "runner.magicEnabled": False,
        **theme.options(),
    }


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8501,
    open_browser: bool = True,
    model: str | None = None,
) -> None:
    """Serve the app until the process is asked to end.

    Args:
        host: Address to listen on; 127.0.0.1 is this computer only.
        port: A free port.
        open_browser: Whether to show the page in the visitor's browser.
        model: Name or folder of the model; `piano` without, or what MUSICGEN_MODEL says.

    Raises:
        KeyboardInterrupt: The process was asked to end.
    """
    import streamlit as st
    from starlette.middleware import Middleware

    from musicgen.ui import resources, routes

    if model is not None:
        os.environ[resources.MODEL_VARIABLE] = model
    app = st.App(
        asset_dir("ui") / "app.py",
        routes=routes.routes(),
        middleware=[Middleware(routes.Guard)],
        lifespan=_lifespan,
    )
    if open_browser:
        url = page_url(host, port)
        threading.Thread(target=_show, args=(url,), daemon=True).start()
    app.run(config=options(host, port))
    # The server hands a Ctrl-C on, but for one that comes while it is still starting: it only
    # stops then. It has no other reason to.
    raise KeyboardInterrupt


@asynccontextmanager
async def _lifespan(_app: object) -> AsyncIterator[None]:
    """Load the model while nobody waits for it; leave soon in the end, and no files behind."""
    from musicgen.ui.leaving import promptly
    from musicgen.ui.resources import studio

    here = studio()
    with promptly(here):
        here.warm_up()
        yield
    here.close()


def page_url(host: str, port: int) -> str:
    """Return the address under which this computer's browser finds the page."""
    if host in ("0.0.0.0", "::") or is_local(host):
        return f"http://localhost:{port}"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_local(host: str) -> bool:
    """Say whether only this computer can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _show(url: str) -> None:
    """Open the browser once the server answers."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                webbrowser.open(url)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
