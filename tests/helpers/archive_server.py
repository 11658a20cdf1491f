"""A web server on this machine that gives out one archive, well or badly; and small archives."""

from __future__ import annotations

import io
import tarfile
import threading
import time
import zipfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PART_BYTES = 1_000_000


@dataclass
class Behaviour:
    """What the server gives, and how it fails.

    Attributes:
        data: The archive.
        etag: Its state; None for a server that sends none.
        ranges: Whether it goes on in the middle.
        minds_if_range: Whether it does so only for the state that is asked for.
        cuts: So many bytes come at each of the first answers, then the connection breaks.
        answers: Status codes of the first answers.
        headers: Sent with every answer.
        says_length: Whether Content-Length is sent.
        pause_s: Between two parts of the body.
        asked: What was asked for, in order: path and Range.
    """

    data: bytes = b""
    etag: str | None = '"one"'
    ranges: bool = True
    minds_if_range: bool = True
    cuts: list[int] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    says_length: bool = True
    pause_s: float = 0.0
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@contextmanager
def serving(behaviour: Behaviour):
    """Run the server; give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            _answer(self, behaviour)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(handler: BaseHTTPRequestHandler, how: Behaviour) -> None:
    wanted = handler.headers.get("Range")
    how.asked.append((handler.path, wanted))
    if how.answers:
        handler.send_response(how.answers.pop(0))
        for name, value in how.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    start = _start(handler, how, wanted)
    if start == len(how.data) and start:
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{len(how.data)}")
        handler.end_headers()
        return
    handler.send_response(206 if start else 200)
    body = how.data[start:]
    if how.etag is not None:
        handler.send_header("ETag", how.etag)
    if start:
        handler.send_header("Content-Range", f"bytes {start}-{len(how.data) - 1}/{len(how.data)}")
    if how.says_length:
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if how.cuts:
        body = body[: how.cuts.pop(0)]
    with suppress(ConnectionError):  # the client may have gone
        for at in range(0, len(body), _PART_BYTES):
            handler.wfile.write(body[at : at + _PART_BYTES])
            time.sleep(how.pause_s)


def _start(handler: BaseHTTPRequestHandler, how: Behaviour, wanted: str | None) -> int:
    if not wanted or not how.ranges:
        return 0
    if how.minds_if_range and handler.headers.get("If-Range") != how.etag:
        return 0
    return int(wanted.removeprefix("bytes=").rstrip("-"))


def zip_of(files: dict[str, bytes]) -> bytes:
    """Return a zip file; names are taken as they are."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def tar_of(files: dict[str, bytes], *, links: dict[str, str] | None = None) -> bytes:
    """Return a tar.gz file with regular files and symbolic links."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, target in (links or {}).items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()
