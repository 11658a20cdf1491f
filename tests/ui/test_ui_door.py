"""The door: without the password nothing is seen, heard or asked; with it everything is."""

from __future__ import annotations

import asyncio
import time
from urllib.parse import urlencode

import pytest

from musicgen.ui import door as door_module
from musicgen.ui.door import Door

PASSWORD = "three odd words & ü"


async def app(scope, receive, send):
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"inside"})


@pytest.fixture
def door(monkeypatch):
    monkeypatch.setattr(door_module, "_THINKS_S", 0.2)
    return Door(app, password=PASSWORD)


def call(door, path="/", *, method="GET", kind="http", body=b"", **headers):
    """Return status, headers and body; of a socket what was said to it first."""
    return asyncio.run(talk(door, path, method, kind, body, headers))


async def talk(door, path, method, kind, body, headers):
    sent = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    client = (headers.pop("client", "192.0.2.1"), 1234)
    path, _, query = path.partition("?")
    names = [(k.encode(), v.encode("latin-1")) for k, v in headers.items()]
    scope = {"type": kind, "path": path, "method": method, "headers": names, "client": client}
    scope["query_string"] = query.encode()
    await door(scope, receive, send)
    if kind == "websocket":
        return sent[0]["type"]
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"].decode()


def key_of(headers):
    return headers[b"set-cookie"].decode().split(";")[0]


def enter(door, password, path="/"):
    body = urlencode({"password": password}).encode()
    return call(door, path, method="POST", body=body)


@pytest.mark.parametrize(
    "path", ["/", "/listen/x.wav", "/making/x", "/_stcore/upload_file", "/_stcore/healthy"]
)
def test_nothing_is_inside_without_the_key(door, path):
    status, _, body = call(door, path, accept="text/html")
    assert status == 401
    assert "inside" not in body
    assert call(door, path, method="POST")[0] == 401
    assert call(door, path, kind="websocket") == "websocket.close"


def test_the_right_password_opens_pages_addresses_and_the_socket(door):
    status, headers, _ = enter(door, PASSWORD)
    assert (status, headers[b"location"]) == (303, b"./")
    assert b"HttpOnly" in headers[b"set-cookie"]
    assert b"SameSite=strict" in headers[b"set-cookie"]
    key = key_of(headers)
    assert call(door, cookie=key)[2] == "inside"
    assert call(door, cookie=f"a=b; {key}")[2] == "inside"
    assert call(door, kind="websocket", cookie=key) == "websocket.accept"


@pytest.mark.parametrize("cookie", ["musicgen_key=", "musicgen_key=0", "musicgen_key", "ü=;;=", ""])
def test_other_keys_open_nothing(door, cookie):
    assert call(door, cookie=cookie)[0] == 401


@pytest.mark.parametrize("given", ["", "three odd words", PASSWORD + " ", "x" * 10_000])
def test_another_password_is_a_sentence_and_no_key(door, given):
    status, headers, body = enter(door, given)
    assert status == 401
    assert "another password" in body
    assert b"set-cookie" not in headers


def test_a_body_that_is_no_form_is_a_wrong_password(door):
    for body in (b"\xff\xfe", b"&" * 50, b"password=a&" * 9):
        assert call(door, "/", method="POST", body=body)[0] == 401


def at_once(door, *guesses):
    """Return the statuses of guesses that come together, and when each was answered, in seconds."""

    async def one(address, password):
        body = urlencode({"password": password}).encode()
        status, _, _ = await talk(door, "/", "POST", "http", body, {"client": address})
        return status, time.monotonic() - begun

    async def all_of_them():
        return await asyncio.gather(*(one(*guess) for guess in guesses))

    begun = time.monotonic()
    return asyncio.run(all_of_them())


def test_guesses_of_one_address_wait_for_one_another(door):
    """Guards passwords that a program tries by the thousand, many at a time."""
    answers = at_once(door, *[("192.0.2.1", "wrong one")] * 4)
    assert [status for status, _ in answers] == [401] * 4
    assert max(after_s for _, after_s in answers) > 0.75


def test_a_flood_of_guesses_delays_nobody_else(door):
    """Guards: all guesses stood in one line, and who knew the password waited behind them."""
    flood = [(f"2001:db8::{number:x}", "wrong one") for number in range(12)]
    *guessed, (status, after_s) = at_once(door, *flood, ("192.0.2.9", PASSWORD))
    assert (status, after_s < 0.15) == (303, True)
    # The addresses of one network are one visitor's; beyond a few in line there is no waiting.
    assert sorted(status for status, _ in guessed) == [401] * 8 + [429] * 4
    assert not door._guesses._lines, "nothing is remembered of who is gone"


def test_the_password_leads_to_the_page_that_was_asked_for(door):
    """Guards: everybody came to Create; behind a proxy's prefix to the proxy's own first page."""
    for path, location in (("/train", b"./train"), ("/?seed=7", b"./?seed=7"), ("/a/b", b"./b")):
        assert enter(door, PASSWORD, path)[1][b"location"] == location
    assert (
        b"; Path=/studio/;"
        in enter(Door(app, password=PASSWORD, path="/studio/"), PASSWORD)[1][b"set-cookie"]
    )


def test_whoever_asks_whether_it_lives_is_answered(door):
    assert call(door, "/_stcore/health")[0] == 200
