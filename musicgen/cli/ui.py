"""`musicgen ui`: the studio in the browser."""

from __future__ import annotations

import os
import socket
import sys
from typing import Annotated

import typer

from musicgen.cli import options
from musicgen.cli.console import session
from musicgen.errors import MusicgenError
from musicgen.files import reason

PORTS_TRIED = 50
PASSWORD_VARIABLE = "MUSICGEN_PASSWORD"
SHORTEST_PASSWORD = 8


def ui(
    host: Annotated[
        str,
        typer.Option(metavar="HOST", help="Address to listen on; 127.0.0.1 is this computer only."),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            parser=options.number(1, 65535, whole=True),
            help="Port; a busy one is replaced by the next free.",
        ),
    ] = 8501,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the browser.")
    ] = False,
    password: Annotated[
        bool,
        typer.Option(
            "--password",
            help=f"Ask visitors for a password: that of the variable {PASSWORD_VARIABLE}, or one "
            "that is asked for here.",
        ),
    ] = False,
    behind: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The address under which a reverse proxy shows the studio, such as "
            "https://music.example.org/studio.",
        ),
    ] = None,
    model: options.Model = "piano",
    as_json: options.AsJson = False,
) -> None:
    """Open the studio in the browser. Ctrl-C ends it."""
    with session(as_json=as_json) as console:
        from musicgen.checkpoint import resolve_checkpoint
        from musicgen.ui.behind import PublicAddress

        public = None if behind is None else PublicAddress.parse(behind)
        wanted = _password() if password else None

        resolve_checkpoint(model)  # a name that is wrong is said before there is a page
        console.how_to_go_on = "The studio is closed."
        free = _free_port(host, port)
        if free != port:
            console.note(f"Port {port} is busy; using {free}.")

        from musicgen.ui.launch import is_local, page_url, serve

        if not is_local(host):
            console.note(
                f"Listening on {host}: everyone who reaches this computer there can use the "
                "studio and its processor. What passes between is not encrypted."
            )
        if public is not None:
            console.note(
                f"Everyone who reaches {public.url} can use the studio and this computer's "
                "processor."
            )
        if wanted is None and (public is not None or not is_local(host)):
            console.note("With --password they are asked for one.")
        url = page_url(host, free) if public is None else public.url
        console.result(
            {"url": url, "host": host, "port": free}, f"The studio is at {url} (Ctrl-C ends it)"
        )
        serve(
            host=host,
            port=free,
            open_browser=not no_browser and public is None,
            model=model,
            password=wanted,
            behind=public,
        )


def _password() -> str:
    given = os.environ.get(PASSWORD_VARIABLE)
    if given is None:
        if not sys.stdin.isatty():
            raise MusicgenError(
                "There is no terminal to ask for a password.",
                hint=f"Put it into the variable {PASSWORD_VARIABLE}.",
                code="no-password",
            )
        given = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    if len(given) < SHORTEST_PASSWORD:
        raise MusicgenError(
            f"A password of {len(given)} characters is too short; it needs "
            f"{SHORTEST_PASSWORD} at least.",
            hint="Take a few words that do not belong together.",
            code="weak-password",
        )
    return given


def _free_port(host: str, port: int) -> int:
    why = ""
    for candidate in range(port, min(port + PORTS_TRIED, 65536)):
        try:
            _try_to_listen(host, candidate)
        except UnicodeError:
            why = "no computer can have that name"
            break
        except OSError as error:
            why = reason(error)
        else:
            return candidate
    raise MusicgenError(
        f"No port from {port} to {min(port + PORTS_TRIED, 65536) - 1} can be used on "
        f"{options.shortened(host)}: {why}.",
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
