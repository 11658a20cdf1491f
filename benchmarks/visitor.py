"""A visitor of the app without a browser: speaks Streamlit's socket, presses buttons, asks.

Twenty browsers on two cores would measure browsers. This costs next to nothing, sees the same
server, and can be anywhere a page can: at the start, waiting, at the end, gone.
"""

from __future__ import annotations

import json
import re
import time
import urllib.request
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

MAKING = re.compile(rb"making/([0-9a-f]{32})")
PATIENCE_S = 120.0


class Visitor:
    """One page of the app.

    Args:
        url: Of the app.
        query: The settings in the page's address.
    """

    def __init__(self, url: str, query: str) -> None:
        self._url, self._query = url, query
        with urllib.request.urlopen(f"{url}/", timeout=PATIENCE_S) as answer:
            self.cookie = str(answer.headers["Set-Cookie"]).split(";")[0]
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(
                f"ws://{urlsplit(url).netloc}/_stcore/stream",
                origin=url,  # type: ignore[arg-type]  a plain string to the library too
                additional_headers={"Cookie": self.cookie},
                max_size=None,
            )
        )
        self._page = ""
        self.buttons: dict[str, str] = {}
        self.seen = b""

    def run(self, pressed: str | None = None) -> float:
        """Let the page be drawn anew, a button pressed or not; return the seconds it took."""
        began = time.perf_counter()
        said = BackMsg()
        said.rerun_script.query_string = self._query
        said.rerun_script.page_script_hash = self._page
        if pressed is not None:
            state = WidgetState(id=self.buttons[pressed], trigger_value=True)
            said.rerun_script.widget_states.widgets.append(state)
        self._socket.send(said.SerializeToString())
        self.buttons, self.seen = {}, b""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            data = self._socket.recv(timeout=PATIENCE_S)
            if isinstance(data, str):
                continue  # the server speaks in bytes alone
            message = ForwardMsg.FromString(data)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self._page = message.new_session.page_script_hash
            elif kind == "delta":
                self._see(message)
            elif kind == "script_finished" and message.script_finished == 0:
                return time.perf_counter() - began
        raise TimeoutError("the page was not drawn")

    def _see(self, message: ForwardMsg) -> None:
        self.seen += message.delta.SerializeToString()
        element = message.delta.new_element
        if element.WhichOneof("type") == "button":
            self.buttons[element.button.label] = element.button.id

    @property
    def job(self) -> str | None:
        """The piece that is being made on the page, by its name in addresses."""
        found = MAKING.search(self.seen)
        return None if found is None else found.group(1).decode()

    def ask(self, path: str) -> tuple[dict[str, Any], float]:
        """Ask one of the app's own addresses; return what it says, and the seconds it took."""
        began = time.perf_counter()
        request = urllib.request.Request(f"{self._url}/{path}", headers={"Cookie": self.cookie})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            said = json.loads(answer.read())
        return said, time.perf_counter() - began

    def fetch(self, path: str) -> int:
        """Read all that an address holds, and return how much that is."""
        request = urllib.request.Request(f"{self._url}/{path}", headers={"Cookie": self.cookie})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return len(answer.read())

    def leave(self) -> None:
        """Close the page."""
        self._open.close()
