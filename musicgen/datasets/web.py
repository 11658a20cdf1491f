"""One file over the web, from a byte on: which addresses are followed, what is worth another try.

The only user of urllib. Addresses are https; http only for an archive whose sum is known beforehand
(its publisher has nothing else) and for this machine itself.
"""

from __future__ import annotations

import http.client
import ipaddress
import re
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import musicgen
from musicgen.errors import DatasetError

_PASSING = (408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524)
_LONGEST_WAIT_S = 60.0
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_UNSATISFIED = re.compile(r"bytes \*/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a download waits for a server.

    Attributes:
        timeout_s: For an answer, and for each further part of it.
        waits_s: Before each further try; as many tries without a byte are made.
    """

    timeout_s: float = 30.0
    waits_s: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)


class PassingFault(Exception):
    """Something that another try may mend.

    Attributes:
        reason: What happened, as a part of a sentence.
        wait_s: What the server asks for, or None.
        is_offline: No server was reached at all.
        has_changed: What was downloaded is a part of something else by now.
    """

    def __init__(
        self,
        reason: str,
        *,
        wait_s: float | None = None,
        is_offline: bool = False,
        has_changed: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait_s = wait_s
        self.is_offline = is_offline
        self.has_changed = has_changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A server's answer.

    Attributes:
        start: The first byte that comes.
        total_bytes: Of the whole file; None where the server does not say.
        validator: Names this state of the file (ETag or date), or an empty string.
        is_whole: Nothing comes, because everything is there already.
    """

    start: int
    total_bytes: int | None
    validator: str
    is_whole: bool = False
    body: Any = None

    def read(self, most_bytes: int) -> bytes:
        """Return what came next, at most so many bytes; none at the end.

        Raises:
            PassingFault: The connection broke.
        """
        with _faults(self.body.url):
            return self.body.read1(most_bytes)


def check_address(url: str, *, has_sum: bool) -> None:
    """Refuse an address that is not followed.

    Raises:
        DatasetError: It is neither https, nor http that may be.
    """
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and (has_sum or _is_here(url))):
        return
    raise DatasetError(
        f"{url} is not fetched: only https addresses are.", hint="Update musicgen.", code="address"
    )


def check_hop(start: str, end: str) -> None:
    """Refuse a redirection that leaves the encrypted web, or the web.

    Raises:
        DatasetError: It does.
    """
    before, after = urlsplit(start).scheme, urlsplit(end).scheme
    if after == "https" or (before == after == "http" and _is_here(start) >= _is_here(end)):
        return
    raise DatasetError(
        f"{start} leads on to {end[:200]}, which is not followed: only https is.",
        hint="The publisher's server is not set up well, or somebody is in between.",
        code="address",
    )


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        check_hop(req.full_url, newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@contextmanager
def open_from(url: str, start: int, validator: str, *, timeout_s: float) -> Iterator[Answer]:
    """Ask for a file from byte `start` on, if it is still what `validator` names.

    A server that has no ranges, or another file by now, answers from byte 0.

    Raises:
        PassingFault: Another try may mend it.
        DatasetError: None will.
    """
    headers = {"User-Agent": f"musicgen/{musicgen.__version__}", "Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": validator}
    opener = urllib.request.build_opener(_CarefulRedirects)
    try:
        with _faults(url):
            body = opener.open(urllib.request.Request(url, headers=headers), timeout=timeout_s)
    except urllib.error.HTTPError as error:
        with error:
            yield _unsatisfied(url, error, start, validator)
        return
    with body:
        answer = _answer(body, start)
        if answer.start and answer.validator != validator:
            raise PassingFault("the file on the server has changed", has_changed=True)
        yield answer


def _answer(body: Any, start: int) -> Answer:
    headers = body.headers
    if body.status == 206:
        told = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
        if told is None or int(told[1]) != start:
            raise PassingFault("the server sent another part than was asked for")
        total = None if told[3] == "*" else int(told[3])
        return Answer(start=start, total_bytes=total, validator=_validator(headers), body=body)
    length = headers.get("Content-Length")
    total = int(length) if length is not None and length.isdecimal() else None
    return Answer(start=0, total_bytes=total, validator=_validator(headers), body=body)


def _validator(headers: Mapping[str, str]) -> str:
    """Return what `If-Range` takes: a strong ETag, else the date of the last change."""
    tag = headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")


def _unsatisfied(url: str, error: urllib.error.HTTPError, start: int, validator: str) -> Answer:
    """Return the answer to a question for bytes beyond the end, or raise what an error means."""
    if error.code == 416 and start:
        told = _UNSATISFIED.fullmatch(error.headers.get("Content-Range", ""))
        if told is not None and int(told[1]) == start:
            return Answer(start=start, total_bytes=start, validator=validator, is_whole=True)
        raise PassingFault("the file on the server has changed", has_changed=True)
    if error.code in _PASSING:
        wait = error.headers.get("Retry-After", "")
        wait_s = min(float(wait), _LONGEST_WAIT_S) if wait.isdecimal() else None
        raise PassingFault(f"the server answered {error.code}", wait_s=wait_s)
    what = {401: "asks who you are", 403: "refuses it", 404: "has no such file (any more)"}
    said = what.get(error.code, f"answered {error.code} {str(error.reason)[:80]}".rstrip())
    raise DatasetError(
        f"{url} cannot be fetched: the server {said}.",
        hint="See the publisher's page for where it lies now; a newer musicgen may know it.",
        code="not-on-server",
    )


@contextmanager
def _faults(url: str) -> Iterator[None]:
    """Turn what urllib, http and sockets raise into a fault of ours."""
    try:
        yield
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        cause = error.reason if isinstance(error.reason, BaseException) else error
        raise _fault(url, cause) from error
    except (http.client.HTTPException, OSError, ValueError) as error:
        raise _fault(url, error) from error


def _fault(url: str, cause: BaseException) -> Exception:
    host = urlsplit(url).hostname or url
    if isinstance(cause, ssl.SSLCertVerificationError):
        return DatasetError(
            f"{host} does not prove that it is {host}: {cause.verify_message}.",
            hint="Check this machine's date, its certificates, and the network's log-in page.",
            code="certificate",
        )
    if isinstance(cause, (socket.gaierror, ConnectionRefusedError)):
        return PassingFault(f"{host} cannot be reached", is_offline=True)
    if isinstance(cause, TimeoutError):
        return PassingFault(f"{host} did not answer in time")
    if isinstance(cause, (http.client.HTTPException, ConnectionError)):
        return PassingFault("the connection was cut off")
    told = getattr(cause, "strerror", None) or str(cause)
    return PassingFault(f"{host} cannot be reached ({told[:100]})", is_offline=True)
