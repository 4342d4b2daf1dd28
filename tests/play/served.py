"""The server of the live page for tests: in a thread of this process, or in one of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from browser import Opened, open_page

from gnarl_runtime.play.play_app import Wish, play_app
from gnarl_runtime.play.spec_folder import Folder
from gnarl_runtime.web.running import Running, address_of, listen

TOKEN = "a-token-of-tests"


@dataclass
class Served:
    """A folder, and the address of its page."""

    folder: Path
    address: str

    def ask(self, what: str, **body: Any) -> httpx.Response:
        return httpx.post(f"{self.address}api/{what}", json=body, timeout=60)

    def told(self, what: str, **body: Any) -> Any:
        reply = self.ask(what, **body)
        assert reply.status_code == 200, reply.text
        found = reply.json()
        assert not isinstance(found, dict) or "refused" not in found, found
        return found

    def refused(self, what: str, **body: Any) -> tuple[int, str]:
        """What kind of mistake it is, and the words for it."""
        found = self.ask(what, **body).json()
        return found["status"], found["refused"]


@contextmanager
def served(folder: Path, opened: str | None = None) -> Iterator[Served]:
    """Until the end of the block."""
    own = Folder(folder.resolve())
    app = play_app(Wish(own, own.read(opened) if opened else None))
    listening, ready = listen(0, 0), threading.Event()
    running = Running(app, listening, TOKEN, ready.set)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    assert ready.wait(20)
    yield Served(folder, address_of(listening, TOKEN))
    running.end()
    thread.join(20)
    assert not thread.is_alive()


@contextmanager
def own_server(*args: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the address that it prints."""
    command = [sys.executable, "-m", "gnarl_runtime.commands.servers.play", "--no-browser", *args]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def open_live(running: Any, served: Served | str, **more: Any) -> Opened:
    """The page, once it can be used; `running` is a browser, or a window with what it has kept."""
    address = served if isinstance(served, str) else served.address
    opened = open_page(running, address, **more)
    wait_until_usable(opened)
    return opened


def wait_until_usable(opened: Opened) -> None:
    """Until the spec is there, and a graph to play on."""
    opened.page.wait_for_selector("html[data-ready]", state="attached")
    opened.page.wait_for_selector(".said:not(:empty), .refused", state="attached")
