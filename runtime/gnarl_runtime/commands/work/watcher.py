"""How far an evaluation is goes in, a changing line or, off a terminal, a line now and then out."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from gnarl_runtime.commands.work.progress_line import Pace, ProgressLine, progress_text

LINE_EVERY = 10.0  # seconds between lines where there is no terminal


class Watcher:
    """Tells on standard error what is being done and how long it will still take."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = ProgressLine(name, sys.stderr)
        self.pace, self.told = Pace(), time.monotonic()

    def __enter__(self) -> Watcher:
        self.line.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.line.__exit__(kind, error, at)

    def __call__(self, step: str, done: int, total: int) -> None:
        if self.line.on:
            self.line(step, done, total)
            return
        now = time.monotonic()
        left = self.pace.left(step, done, total, now)
        if now - self.told >= LINE_EVERY and sys.stderr is not None:
            self.told = now
            text = progress_text(self.name, step, done, total, left)
            print(text, file=sys.stderr, flush=True)
