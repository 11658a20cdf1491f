"""`musicgen ui`: the studio in the browser."""

from __future__ import annotations

import ipaddress
import socket
import subprocess
import sys
from typing import Annotated

import typer

from musicgen.assets import asset_dir
from musicgen.cli import options
from musicgen.cli.console import Console, session
from musicgen.errors import MusicgenError

PORTS_TRIED = 50


def ui(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 is this computer only.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            callback=options.within(1, 65535), help="Port; a busy one is replaced by the next free."
        ),
    ] = 8501,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the browser.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Open the studio in the browser. Ctrl-C ends it."""
    with session(as_json=as_json) as console:
        console.how_to_go_on = "The studio is closed."
        free = _free_port(host, port)
        if free != port:
            console.note(f"Port {port} is busy; using {free}.")
        if not _is_local(host):
            console.note(
                f"Listening on {host}: everyone who reaches this computer there can use the studio."
            )
        url = f"http://{'localhost' if _is_local(host) else _in_url(host)}:{free}"
        console.result({"url": url, "host": host, "port": free}, f"The studio is at {url}")
        raise typer.Exit(_serve(console, host, free, no_browser=no_browser))


def _serve(console: Console, host: str, port: int, *, no_browser: bool) -> int:
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(asset_dir("ui") / "app.py"),
        f"--server.address={host}",
        f"--server.port={port}",
        f"--server.headless={str(no_browser).lower()}",
    ]
    # stdout is ours alone: what the server says goes to stderr.
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    try:
        return server.wait()
    finally:
        if server.poll() is None:
            server.terminate()
            server.wait()


def _free_port(host: str, port: int) -> int:
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        try:
            _try_to_listen(host, candidate)
        except OSError as error:
            last = error
        else:
            return candidate
    raise MusicgenError(
        f"No port from {port} to {candidate} can be used on {host}: {last.strerror or last}.",
        hint="Choose another with --port, or 127.0.0.1 with --host.",
        code="no-free-port",
    )


def _try_to_listen(host: str, port: int) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        if sys.platform != "win32":
            # As servers do: a port whose last connection is fading away is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
