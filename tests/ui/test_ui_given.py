"""Files that a visitor gave: let go when they are taken in, and said where the server lost them."""

from __future__ import annotations

from types import SimpleNamespace

from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile, UploadedFileRec

from musicgen.ui import recipe_strings
from musicgen.ui.views import again, given, music, upload


def test_a_file_that_outlived_its_server_is_a_sentence(monkeypatch):
    """Guards: a page that was open while the server began anew said "an error" and no more."""
    deleted = DeletedFile("gone")
    state = {"upload": deleted, "again_x": deleted, "files": [deleted], "train_inlet": 0}
    monkeypatch.setattr("streamlit.session_state", state)
    upload._uploaded(None)
    assert state["upload_error"].message == recipe_strings.NOT_HERE
    again._prompt_given(None, None, SimpleNamespace(recipe=None), "x")
    assert recipe_strings.NOT_HERE.rstrip(".") in state["again_error"][1]
    music._uploaded(None, "files")
    assert state["train_notice"].message == recipe_strings.NOT_HERE


def test_a_file_is_let_go_as_soon_as_it_is_taken_in(monkeypatch, music):
    """Guards: files that came after each other stayed in memory until their page was closed."""
    manager = MemoryUploadedFileManager("/upload")
    manager.add_file("page", UploadedFileRec("one", "a.mid", "audio/midi", music))
    context = SimpleNamespace(session_id="page", uploaded_file_mgr=manager)
    monkeypatch.setattr(given, "get_script_run_ctx", lambda: context)
    file = UploadedFile(manager.get_files("page", ["one"])[0], FileURLs())
    state = {"upload": file}
    monkeypatch.setattr("streamlit.session_state", state)
    laid = []
    desk = SimpleNamespace(lay=lambda whole, prompt: laid.append(whole), prompt=None)
    monkeypatch.setattr(
        upload, "lay", lambda desk, whole, seconds: desk.lay(whole, None), raising=False
    )
    upload._uploaded(desk)
    assert [piece.midi for piece in laid] == [music]
    assert manager.get_files("page", ["one"]) == []
    assert not file.getvalue(), "the page's own copy goes with it"
    # What Streamlit says of it from now on is neither another file nor a lost one.
    state["upload"] = DeletedFile("one")
    upload._uploaded(desk)
    assert (len(laid), state["upload_error"]) == (1, None)
