"""Behind a proxy: its address, the prefix that it puts before every path, and foreign sockets."""

from __future__ import annotations

import asyncio

import pytest

from musicgen.errors import ConfigError
from musicgen.ui.behind import OwnSockets, PublicAddress, SecureCookies, WithoutPrefix
from musicgen.ui.launch import MAX_UPLOAD_MB, is_for_this_computer, options


@pytest.mark.parametrize(
    ("given", "url", "prefix"),
    [
        ("https://music.example.org", "https://music.example.org/", ""),
        ("https://Music.example.org:443/studio/", "https://music.example.org/studio/", "/studio"),
        ("http://10.0.0.7:8080/a/b", "http://10.0.0.7:8080/a/b/", "/a/b"),
        ("http://[fe80::1]/x", "http://[fe80::1]/x/", "/x"),
    ],
)
def test_an_address_is_read(given, url, prefix):
    found = PublicAddress.parse(given)
    assert (found.url, found.prefix) == (url, prefix)


@pytest.mark.parametrize(
    "given",
    [
        *("", "music.example.org", "ftp://x", "https://", "https://x/?a=1", "https://x/a//b"),
        *("https://u:p@x/", "https://x:99999/", "https://x/../y", "https://[x"),
    ],
)
def test_what_is_no_address_is_a_sentence(given):
    with pytest.raises(ConfigError, match="not an address"):
        PublicAddress.parse(given)


def test_who_comes_through_a_proxy_does_not_train():
    """Guards: a proxy of this computer reaches what listens to this computer alone."""
    public = PublicAddress.parse("https://music.example.org/studio")
    found = options("127.0.0.1", 8501, behind=public)
    assert found["server.maxUploadSize"] == MAX_UPLOAD_MB
    assert found["browser.serverAddress"] == "music.example.org"
    assert found["server.allowedHosts"] == ["localhost", "127.0.0.1", "[::1]", "music.example.org"]
    assert options("0.0.0.0", 8501, behind=public)["server.allowedHosts"] == []


def seen(middleware, path="/", *, kind="http", **headers):
    """Return what an application behind was asked for, or what was answered before it."""
    told = []

    async def app(scope, receive, send):
        told.append(scope["path"])

    async def send(message):
        told.append(message.get("status") or message.get("code"))
        told.extend(value for name, value in message.get("headers", ()) if name == b"location")

    names = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "path": path, "raw_path": path.encode(), "headers": names}
    asyncio.run(middleware(app)(scope, None, send))
    return told[:2] if told[0] == 307 else told[0]


def test_a_prefix_is_taken_away_where_the_proxy_leaves_it():
    def behind(app):
        return WithoutPrefix(app, prefix="/a/studio")

    assert seen(behind, "/a/studio/train") == "/train"
    assert seen(behind, "/a/studio/") == "/"
    assert seen(behind, "/train") == "/train"
    assert seen(behind, "/a/studios") == "/a/studios"
    assert seen(behind, "/a/studio/_stcore/stream", kind="websocket") == "/_stcore/stream"
    assert seen(behind, "/a/studio") == [307, b"studio/"]
    assert seen(lambda app: WithoutPrefix(app, prefix=""), "/train") == "/train"


@pytest.mark.parametrize(
    ("origin", "is_open"),
    [
        ("http://localhost:8501", True),
        ("https://music.example.org", True),
        ("http://evil.example", False),
        ("http://localhost:9999", False),
        ("null", False),
        ("http://[", False),
    ],
)
def test_sockets_of_other_sites_stay_shut(origin, is_open):
    """Guards: Streamlit asked another machine for this one's address before it refused them."""

    def own(app):
        return OwnSockets(app, name="music.example.org")

    told = seen(own, "/s", kind="websocket", origin=origin, host="localhost:8501")
    assert told == ("/s" if is_open else 1008)
    assert seen(own, "/s", kind="websocket", host="localhost:8501") == "/s", "no browser"
    assert seen(own, "/s", origin=origin, host="localhost:8501") == "/s", "a page may be linked to"


def test_cookies_keep_to_encrypted_connections():
    """Guards: behind a proxy with TLS, one request without it would have told a visitor's name."""
    sent = []

    async def app(scope, receive, send):
        headers = [(b"set-cookie", b"a=1"), (b"Set-Cookie", b"b=2; secure"), (b"x", b"y")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def send(message):
        sent.extend(value for _, value in message["headers"])

    asyncio.run(SecureCookies(app)({"type": "http", "headers": []}, None, send))
    assert sent == [b"a=1; Secure", b"b=2; secure", b"y"]


@pytest.mark.parametrize(
    ("listens", "is_behind", "is_ours"),
    [
        ("127.0.0.1", False, True),
        ("127.0.0.1", True, False),
        ("0.0.0.0", False, False),
    ],
)
def test_the_page_knows_whom_it_serves(monkeypatch, listens, is_behind, is_ours):
    monkeypatch.setattr("streamlit.get_option", {"server.address": listens}.get)
    given = {"browser.serverAddress"} if is_behind else set()
    monkeypatch.setattr("streamlit.config.is_manually_set", given.__contains__)
    assert is_for_this_computer() == is_ours
