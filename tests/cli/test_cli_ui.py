"""`musicgen ui`: a free port, this computer only, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest


@pytest.fixture
def served(monkeypatch):
    """Do not serve; remember what would have been served."""
    from musicgen.ui import launch

    calls = []
    monkeypatch.setattr(launch, "serve", lambda **options: calls.append(options))
    return calls


@pytest.fixture
def busy_port():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_it_serves_this_computer_only_by_default(call, served):
    result = call("ui")
    assert result.exit_code == 0, result.output
    [options] = served
    assert options["host"] == "127.0.0.1"
    assert options["open_browser"] is True
    assert options["port"] >= 8501
    assert f"http://localhost:{options['port']}" in result.stdout


def test_a_busy_port_is_replaced_by_the_next_free_one(call, served, busy_port):
    result = call("ui", "--port", busy_port, "--no-browser", "--json")
    assert result.exit_code == 0, result.output
    [options] = served
    assert options["port"] > busy_port
    assert options["open_browser"] is False
    assert f"Port {busy_port} is busy; using {options['port']}." in result.stderr
    assert json.loads(result.stdout)["port"] == options["port"]


def test_listening_to_everyone_is_said(call, served):
    result = call("ui", "--host", "0.0.0.0", "--port", 18501)
    assert result.exit_code == 0, result.output
    assert "everyone who reaches this computer" in result.stderr


def test_a_password_is_offered_and_taken_from_the_variable(call, served, monkeypatch):
    result = call("ui", "--host", "0.0.0.0", "--port", 18501)
    assert "--password" in result.stderr
    assert served[-1]["password"] is None
    monkeypatch.setenv("MUSICGEN_PASSWORD", "three odd words")
    result = call("ui", "--host", "0.0.0.0", "--port", 18501, "--password")
    assert result.exit_code == 0, result.output
    assert served[-1]["password"] == "three odd words"
    assert "three odd" not in result.output


@pytest.mark.parametrize(("given", "code"), [(None, "no-password"), ("short", "weak-password")])
def test_no_password_or_a_weak_one_opens_no_studio(call, served, monkeypatch, given, code):
    monkeypatch.delenv("MUSICGEN_PASSWORD", raising=False)
    if given is not None:
        monkeypatch.setenv("MUSICGEN_PASSWORD", given)
    result = call("ui", "--password", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == code
    assert served == []


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid", "a..b", "x" * 300])
def test_an_address_that_is_not_ours_is_a_sentence(call, served, host):
    # The last two cannot be any computer's name: they ended in a traceback of Python's codecs.
    result = call("ui", "--host", host, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "no-free-port"
    assert served == []


def test_an_unknown_model_is_refused_before_there_is_a_page(call, served):
    """Guards a studio that was served and could make no music."""
    result = call("ui", "--model", "nope", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "checkpoint-not-found"
    assert result.stderr.startswith("Error: There is no model 'nope'")
    assert served == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send")
def test_ctrl_c_closes_the_studio(busy_port, small_model):
    command = [sys.executable, "-m", "musicgen", "ui", "--no-browser", "--json"]
    child = subprocess.Popen(
        [*command, "--port", str(busy_port), "--model", str(small_model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    url = json.loads(child.stdout.readline())["url"]
    until = time.monotonic() + 300
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=5).close()
            break
        except (urllib.error.URLError, OSError):
            assert child.poll() is None, child.communicate()
            time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 130, err
    assert "The studio is closed." in err
    assert "Traceback" not in err
