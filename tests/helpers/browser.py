"""A real browser for tests: the machine's own Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "no Chromium on this machine; install it (Debian, Ubuntu: apt-get install chromium), "
    "or name one in GNARL_BROWSER"
)


def find_browser() -> str | None:
    """The program, as GNARL_BROWSER says or as it is found on the path."""
    return os.environ.get("GNARL_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Opened:
    """A page, and all that it complained about or asked a network for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).text_content())

    def value(self, script: str) -> Any:
        return self.page.evaluate(script)

    def wait_for(self, happened: Callable[[], bool], seconds: float = 20.0) -> None:
        """Look again and again; the page itself forbids watching it from inside by `eval`."""
        until = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < until, "it did not happen"
            self.page.wait_for_timeout(30)


@contextmanager
def browser() -> Iterator[Any]:
    """A headless browser; the test is skipped where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed; pip install playwright"
    )
    program = find_browser()
    if program is None:
        pytest.skip(MISSING)
    with playwright.sync_playwright() as driver:
        # Root may not use the sandbox; the pages are our own.
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def open_page(
    running: Any, where: Path | str, width: int = 1280, height: int = 900, **more: Any
) -> Opened:
    """A file or an address in a fresh window."""
    if hasattr(running, "contexts"):  # a browser; a context has its windows' size already
        more = {"viewport": {"width": width, "height": height}, **more}
    page = running.new_page(**more)
    page.set_default_timeout(30_000)
    opened = Opened(page)
    page.on("console", lambda message: opened.complaints.append(message.text))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.goto(where if isinstance(where, str) else where.resolve().as_uri())
    return opened
