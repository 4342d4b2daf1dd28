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
        self.began = time.monotonic()
        self.shown = 0.0
        self.pace = Pace()
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
        if step != self.pace.step:
            self.shown = 0.0
        left = self.pace.left(step, done, total, now)
        if now - self.began < PATIENCE or now - self.shown < _PAUSE:
            return
        self.shown = now
        self._show(progress_text(self.name, step, done, total, left))

    def _show(self, text: str) -> None:
        if not self.on or self.stream is None:
            return
        if text or self.width:
            self.stream.write("\r" + text.ljust(self.width) + ("" if text else "\r"))
            self.stream.flush()
        self.width = len(text)


class Pace:
    """How long a step will still take, by what it has taken so far; steps may take turns."""

    def __init__(self) -> None:
        self.step, self.done, self.told = "", 0, 0.0
        self.taken: dict[str, tuple[float, int]] = {}  # seconds, and what was done in them

    def left(self, step: str, done: int, total: int, now: float) -> float | None:
        """Seconds, once a hundredth of the step and half a second say something about the rest."""
        seconds, work = self.taken.get(step, (0.0, 0))
        if step == self.step:
            seconds, work = seconds + now - self.told, work + done - self.done
        self.taken[step] = seconds, work
        self.step, self.done, self.told = step, done, now
        known = 100 * work >= total and work > 0 and seconds > 0.5
        return seconds / work * (total - done) if known else None


def progress_text(name: str, step: str, done: int, total: int, left: float | None) -> str:
    """`bfs: 4 nodes [#####-----] 50 %, 12 s left`."""
    if total <= 1:
        return f"{name}: {step} ..."
    filled = 20 * done // total
    bar = "#" * filled + "-" * (20 - filled)
    remaining = "" if left is None else f", {left:.0f} s left"
    return f"{name}: {step} [{bar}] {100 * done // total} %{remaining}"
