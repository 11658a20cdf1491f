"""How `musicgen ui` starts the app: Streamlit's server with our own routes."""

from __future__ import annotations

import ipaddress
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from musicgen.assets import asset_dir

if TYPE_CHECKING:
    from musicgen.ui.behind import PublicAddress

MAX_UPLOAD_MB: Final = 8  # what the MIDI reader takes; a MIDI file of a whole opera is smaller
MAX_MUSIC_MB: Final = 200  # a zip of a corpus to train on
_PATIENCE_S: Final = 30.0
_SWITCH_S: Final = 1e-4
"""So long a thread may wait for Python's lock while another one computes. Making music lets go of
it several times an event; at the usual 5 ms each time, a few pages that are drawn would stop it."""


def options(host: str, port: int, *, behind: PublicAddress | None = None) -> dict[str, object]:
    """Return Streamlit's configuration for serving at an address.

    Args:
        host: Address to listen on.
        port: Port to listen on.
        behind: Where a proxy shows the studio, if one does.
    """
    from musicgen.ui import theme

    is_alone = is_local(host) and behind is None
    names = ["localhost", "127.0.0.1", "[::1]"] if is_local(host) else []
    public: dict[str, object] = {}
    if behind is not None:
        names = [*names, behind.name] if names else []
        public = {"browser.serverAddress": behind.name, "browser.serverPort": behind.port}
    return {
        "server.address": host,
        "server.port": port,
        # Against DNS rebinding: a page of another name must not speak to this server.
        "server.allowedHosts": names,
        "server.headless": True,
        # Only this computer may train, and only that needs large files.
        "server.maxUploadSize": MAX_MUSIC_MB if is_alone else MAX_UPLOAD_MB,
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
        **public,
        **theme.options(),
    }


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8501,
    open_browser: bool = True,
    model: str | None = None,
    password: str | None = None,
    behind: PublicAddress | None = None,
) -> None:
    """Serve the app until the process is asked to end.

    Args:
        host: Address to listen on; 127.0.0.1 is this computer only.
        port: A free port.
        open_browser: Whether to show the page in the visitor's browser.
        model: Name or folder of the model; `piano` without, or what MUSICGEN_MODEL says.
        password: What visitors must give before they see anything; without, nobody is asked.
        behind: Where a proxy shows the studio, if one does.

    Raises:
        KeyboardInterrupt: The process was asked to end.
    """
    import streamlit as st
    from starlette.middleware import Middleware

    from musicgen.ui import door, heap, intake, resources, routes
    from musicgen.ui.behind import OwnSockets, SecureCookies, WithoutPrefix

    sys.setswitchinterval(_SWITCH_S)
    heap.return_large_blocks()
    if model is not None:
        os.environ[resources.MODEL_VARIABLE] = model
    prefix, name = ("", None) if behind is None else (behind.prefix, behind.name)
    middleware = [
        Middleware(WithoutPrefix, prefix=prefix),
        Middleware(routes.Guard),
        Middleware(OwnSockets, name=name),
    ]
    if behind is not None and behind.scheme == "https":
        middleware.insert(0, Middleware(SecureCookies))
    if password is not None:
        middleware.append(Middleware(door.Door, password=password, path=f"{prefix}/"))
    middleware.append(Middleware(intake.Intake))
    app = st.App(
        asset_dir("ui") / "app.py",
        routes=routes.routes(),
        middleware=middleware,
        lifespan=_lifespan,
    )
    if open_browser:
        url = page_url(host, port)
        threading.Thread(target=_show, args=(url,), daemon=True).start()
    app.run(config=options(host, port, behind=behind))
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


def is_for_this_computer() -> bool:
    """Say whether only this computer's own browsers reach the studio that runs here."""
    import streamlit as st
    from streamlit import config

    is_behind = config.is_manually_set("browser.serverAddress")
    return is_local(st.get_option("server.address") or "127.0.0.1") and not is_behind


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
