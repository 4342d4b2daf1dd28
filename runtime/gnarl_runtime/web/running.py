"""An application in, a server on this machine's own address out, until somebody ends it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.web.guard import MAX_BODY, App, Guard, Rules

HOST = "127.0.0.1"
_PATIENCE = 2  # seconds for answers that are under way when the server ends


def new_token() -> str:
    return secrets.token_urlsafe(18)


def listen(port: int | None, usual: int) -> socket.socket:
    """A port of the loopback address: the one asked for, else the usual one, else any."""
    if port is not None:
        return _bound(port)
    try:
        return _bound(usual)
    except UsageError:
        return _bound(0)


def _bound(port: int) -> socket.socket:
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        own.bind((HOST, port))
    except OSError as error:
        own.close()
        taken = error.errno == errno.EADDRINUSE
        what = "something else listens there" if taken else error.strerror or str(error)
        raise UsageError(f"--port {port}: {what}; expected a free port, or 0 for any") from error
    return own


def address_of(listening: socket.socket, token: str) -> str:
    port = listening.getsockname()[1]
    return f"http://{HOST}:{port}/{token}/" if token else f"http://{HOST}:{port}/"


class Running:
    """A server on a socket; `started` is called once requests are answered."""

    def __init__(
        self,
        app: App,
        listening: socket.socket,
        token: str,
        started: Callable[[], None],
        max_body: int = MAX_BODY,
    ) -> None:
        rules = Rules(listening.getsockname()[1], token, max_body)
        config = uvicorn.Config(
            Guard(app, rules),
            log_level="critical",
            access_log=False,
            lifespan="on",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
        )
        self.listening = listening
        self.server = _Server(config, started)

    def run(self) -> None:
        """Serve until Ctrl-C or SIGTERM, or until somebody calls `end`."""
        with contextlib.suppress(KeyboardInterrupt):  # how a server is ended
            self.server.run(sockets=[self.listening])

    def end(self) -> None:
        self.server.should_exit = True


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self.told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.told()


def open_browser(address: str) -> None:
    """Show the page, where there is a screen; a browser within the terminal would be in the way."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
