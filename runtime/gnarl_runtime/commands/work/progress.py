"""How far a long job is goes in; a bar on a terminal, elsewhere a line now and then, come out.

    with Progress("bfs") as progress:
        progress("4 nodes", 25, 100)     # what is being done, how much is done, how much there is

On a terminal nothing is shown for two seconds, and nothing is left over at the end. Elsewhere a
plain line is written every ten seconds. rich is imported when there is a bar to show.
"""

from __future__ import annotations

import sys
import time
from threading import Lock, Timer
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from gnarl_dsl.report.printable import printable
from gnarl_runtime.commands.shell.terminal import unguarded

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

PATIENCE = 2.0  # seconds before a bar is shown
LINE_EVERY = 10.0  # seconds between lines where there is no terminal
_REDRAWN = 5  # times a second
_BAR = 24  # columns


class Progress:
    """Tells on standard error what is being done and how long it will still take."""

    def __init__(self, name: str = "", stream: TextIO | None = None) -> None:
        self.name = name
        self.stream: TextIO | None = sys.stderr if stream is None else stream
        self.pace = Pace()
        self.began = self.told = time.monotonic()
        self.shown: _Bar | None = None
        if self.stream is not None and self.stream.isatty():
            self.shown = _Bar(self.stream)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.shown is not None:
            self.shown.close()

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        left = self.pace.left(step, done, total, now)
        if self.shown is not None:
            self.shown.update(_label(self.name, step), done, total, left, now - self.began)
        elif now - self.told > LINE_EVERY and self.stream is not None:
            self.told = now
            text = progress_text(self.name, step, done, total, left)
            print(text, file=self.stream, flush=True)

    def say(self, text: str) -> None:
        """A line that stays, above the bar if there is one."""
        if self.shown is not None:
            self.shown.say(text)
        elif self.stream is not None:
            print(text, file=self.stream, flush=True)


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
        return f"{_label(name, step)} ..."
    filled = 20 * done // total
    bar = "#" * filled + "-" * (20 - filled)
    return f"{_label(name, step)} [{bar}] {_figures(done, total, left)}"


def _label(name: str, step: str) -> str:
    return printable(f"{name}: {step}" if name else step)


def _figures(done: int, total: int, left: float | None) -> str:
    """`50 %, 12 s left`."""
    return f"{100 * done // total} %" + ("" if left is None else f", {left:.0f} s left")


class _Bar:
    """One line of a terminal that keeps changing, gone at the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.latest: tuple[str, int, int, float | None] | None = None
        self.live: RichProgress | None = None
        self.task: TaskID | None = None
        self.lock = Lock()
        self.over = False
        # A step that says nothing for a while, such as compiling, is shown all the same.
        self.timer = Timer(PATIENCE, self._show)
        self.timer.daemon = True
        self.timer.start()

    def update(self, label: str, done: int, total: int, left: float | None, age: float) -> None:
        """The latest figures, `age` seconds after the beginning."""
        self.latest = label, done, total, left
        if self.live is not None or age >= PATIENCE:
            self._show()

    def say(self, text: str) -> None:
        with self.lock:
            if self.live is not None:
                self.live.console.print(printable(text), markup=False, highlight=False)
            else:
                print(text, file=self.stream, flush=True)

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.over = True
            if self.live is not None:
                self.live.stop()

    def _show(self) -> None:
        """Draw what is known, here or two seconds after the beginning in a thread of its own."""
        with self.lock:
            if self.latest is None or self.over:
                return
            if self.live is None:
                self.live = _live(self.stream)
                self.live.start()
            label, done, total, left = self.latest
            whole = None if total <= 1 else total
            figures = "..." if total <= 1 else _figures(done, total, left)
            if self.task is None:
                self.task = self.live.add_task(label, total=whole, completed=done, figures=figures)
            else:
                self.live.update(
                    self.task, description=label, completed=done, total=whole, figures=figures
                )


def _live(stream: TextIO) -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    return RichProgress(
        BarColumn(bar_width=_BAR),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[figures]}", markup=False),
        console=Console(file=unguarded(stream)),
        refresh_per_second=_REDRAWN,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
