"""What visitors' files may take of the memory together."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

from musicgen.ui import intake


def put(app, length: bytes, path: str = "/_stcore/upload_file/page/file") -> int:
    told: list[dict] = []

    async def send(message):
        told.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": path,
        "headers": [(b"content-length", length)],
    }
    asyncio.run(app(scope, None, send))
    return told[0]["status"]


async def taken(scope, receive, send):
    await send({"type": "http.response.start", "status": 204})


def test_files_beyond_the_limit_are_refused(monkeypatch):
    """Guards: six files of 190 MB, sent to one page's address by a script, stayed in memory."""
    kept = [0]
    monkeypatch.setattr(intake, "kept_bytes", lambda: kept[0])
    door = intake.Intake(taken)
    assert put(door, b"1000") == 204
    kept[0] = intake.MOST_BYTES - 999
    assert put(door, b"1000") == 413
    assert put(door, b"9" * 30) == 204, "nonsense is Streamlit's to refuse"
    assert put(door, b"1000", path="/elsewhere") == 204
    kept[0] = 0
    assert put(door, b"1000") == 204, "what has passed by is counted no more"


def test_what_is_kept_is_counted(monkeypatch):
    """Guards: another Streamlit that keeps files elsewhere, and a limit that never holds."""
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    manager.add_file("page", UploadedFileRec("file", "x.mid", "audio/midi", b"12345"))
    runtime = SimpleNamespace(uploaded_file_mgr=manager)
    monkeypatch.setattr("streamlit.runtime.Runtime.instance", lambda: runtime)
    assert intake.kept_bytes() == 5
