"""The server: bound to this computer, with ranges, right content types, and its doors shut."""

from __future__ import annotations

import http.client
import re
from urllib.parse import urlsplit

import pytest

from musicgen.assets import asset_dir
from musicgen.ui.direct import PAGES
from musicgen.ui.launch import MAX_MUSIC_MB, MAX_UPLOAD_MB, is_local, options, page_url


def ask(url, path, *, method="GET", **headers):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(
            method, path, headers={k.replace("_", "-"): v for k, v in headers.items()}
        )
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def test_options_keep_the_app_at_home():
    found = options("127.0.0.1", 8501)
    assert found["server.address"] == "127.0.0.1"
    assert found["browser.gatherUsageStats"] is False
    assert found["client.showErrorLinks"] is False
    assert found["server.enableXsrfProtection"] is True
    assert found["server.enableCORS"] is True
    assert found["server.maxUploadSize"] == MAX_MUSIC_MB <= 200
    assert MAX_UPLOAD_MB <= 10  # of the uploader in Create
    assert "localhost" in found["server.allowedHosts"]
    assert options("0.0.0.0", 8501)["server.maxUploadSize"] == MAX_UPLOAD_MB, "nobody trains there"


def test_every_option_is_one_that_streamlit_knows():
    from streamlit import config

    config.get_config_options()
    known = set(config._config_options_template)
    assert set(options("127.0.0.1", 8501)) <= known


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://localhost:80"),
        ("0.0.0.0", "http://localhost:80"),
        ("192.168.1.7", "http://192.168.1.7:80"),
        ("fe80::1", "http://[fe80::1]:80"),
    ],
)
def test_page_url(host, url):
    assert page_url(host, 80) == url
    assert is_local(host) == (host == "127.0.0.1")


def test_the_page_carries_its_guard_and_a_visitors_name(app_url):
    status, headers, _ = ask(app_url, "/")
    assert status == 200
    headers = {name.lower(): value for name, value in headers.items()}
    assert "default-src 'self'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    cookie = headers["set-cookie"]
    form = r"musicgen_visitor=[0-9a-f]{32}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict"
    assert re.fullmatch(form, cookie)
    known = cookie.split(";")[0]
    assert ask(app_url, "/", Cookie=known)[1]["set-cookie"] == cookie, "it lasts from now on again"
    deep = ask(app_url, "/train", Sec_Fetch_Dest="document")[1]["set-cookie"]
    assert re.fullmatch(form, deep)
    assert "set-cookie" not in ask(app_url, "/listen/x.wav")[1]


def test_a_link_of_another_site_leads_a_visitor_to_their_own_takes(app_url):
    """Guards: a strict cookie that such a link does not bring, and that is replaced then."""
    from_afar = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Dest": "document"}
    status, headers, body = ask(app_url, "/", **from_afar)
    assert status == 200
    assert "set-cookie" not in headers
    assert b"refresh" in body
    assert len(body) < 200
    again = ask(app_url, "/", **{**from_afar, "Sec_Fetch_Site": "same-origin"})
    assert "set-cookie" in again[1]


def test_a_page_with_an_address_of_its_own_is_told_where_the_server_is(app_url):
    """Guards: an error in the console, and half a second, for whoever opens /lab directly."""
    for page in PAGES:
        status, headers, body = ask(app_url, f"/{page}", Sec_Fetch_Dest="document")
        assert status == 200
        assert "text/html" in headers["content-type"]
        assert body.index(b"BACKEND_BASE_URL") < body.index(b'<script type="module"')
    app = (asset_dir("ui") / "app.py").read_text(encoding="utf-8")
    assert {*re.findall(r'url_path="(\w+)"', app)} == {"create", *PAGES}


@pytest.mark.parametrize(
    "path",
    [
        "/listen/0123456789abcdef0123456789abcdef.wav",
        "/listen/0123456789abcdef0123456789abcdef",
        "/listen/..%2f..%2fetc%2fpasswd.wav",
        "/listen/x.exe",
        "/attention/0123456789abcdef0123456789abcdef/0",
        "/attention/0123456789abcdef0123456789abcdef/0/0/0",
        "/attention/0123456789abcdef0123456789abcdef/note/0",
        "/making/0123456789abcdef0123456789abcdef",
        "/making/0123456789abcdef0123456789abcdef/sound/0/64",
        pytest.param("/attention/x/note/" + "9" * 5000, id="a number that Python does not read"),
        pytest.param("/making/x/sound/0/" + "9" * 5000, id="a passage as long"),
    ],
)
def test_names_that_nobody_was_given_lead_nowhere(app_url, path):
    status, _, body = ask(app_url, path)
    assert status in (400, 404)
    assert b"root:" not in body


def test_own_addresses_only_answer_get(app_url):
    assert ask(app_url, "/listen/x.wav", method="POST")[0] == 405
    assert ask(app_url, "/attention/x/0", method="DELETE")[0] == 405
