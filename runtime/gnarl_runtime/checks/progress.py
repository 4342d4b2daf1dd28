"""How far a check is goes in, one line that keeps changing on a terminal comes out."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TextIO

PATIENCE = 2.0  # seconds before anything is shown
_PAUSE = 0.2


class ProgressLine:
    """A line with a bar and the time that a step will still take; nothing without a terminal."""

    def __init__(self, name: str, stream: TextIO | None) -> None:
        self.name, self.stream = name, stream
        self.on = stream is not None and stream.isatty()
        self.began = self.step_began = time.monotonic()
        self.shown = 0.0
        self.step = ""
        self.width = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._show("")

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if step != self.step:
            self.step, self.step_began, self.shown = step, now, 0.0
        if now - self.began < PATIENCE or now - self.shown < _PAUSE:
            return
        self.shown = now
        self._show(progress_text(self.name, step, done, total, now - self.step_began))

    def _show(self, text: str) -> None:
        if not self.on or self.stream is None:
            return
        if text or self.width:
            self.stream.write("\r" + text.ljust(self.width) + ("" if text else "\r"))
            self.stream.flush()
        self.width = len(text)


def progress_text(name: str, step: str, done: int, total: int, seconds: float) -> str:
    """`bfs: 4 nodes [#####-----] 50 %, 12 s left`."""
    if total <= 1:
        return f"{name}: {step} ..."
    filled = 20 * done // total
    bar = "#" * filled + "-" * (20 - filled)
    # Less than one per cent says next to nothing about the rest.
    told = 100 * done >= total and seconds > 0.5
    left = f", {seconds / done * (total - done):.0f} s left" if told else ""
    return f"{name}: {step} [{bar}] {100 * done // total} %{left}"
