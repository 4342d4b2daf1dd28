"""Reports of a training run in, lines or a live display on standard error out."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from gnarl_runtime.training.loop import Report

LINE_EVERY = 10.0  # seconds between lines where there is no terminal


def describe(report: Report) -> str:
    """One line about where a run stands."""
    parts = [f"update {report.done:,}/{report.updates:,}"]
    parts += [f"loss {report.metrics['loss']:.4g}"] if "loss" in report.metrics else []
    if report.scores is not None:
        parts.append(f"valid {100 * report.scores.success:.1f}%")
        parts.append(f"reward {report.scores.reward:.4g}")
    parts.append(f"{report.metrics.get('states', 0.0) * report.rate:,.0f} states/s")
    parts.append(f"{clock(report.left)} left")
    parts += [report.then] if report.then else []
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """3725 -> 1:02:05."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Display:
    """Watches a run: a bar on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self.last = 0.0
        self.live: Any = None
        self.task: Any = None

    def __enter__(self) -> Display:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = [BarColumn(bar_width=24), TextColumn("{task.description}")]
            self.live = Progress(*columns, console=Console(stderr=True))
            self.live.start()
            self.task = self.live.add_task("compiling, drawing instances …", total=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.live is not None:
            self.live.stop()

    def stage(self, text: str) -> None:
        """What is done before the first update."""
        if self.live is not None:
            self.live.update(self.task, description=text)
        else:
            print(text, file=sys.stderr, flush=True)

    def watch(self, report: Report) -> None:
        text = describe(report)
        if self.live is not None:
            self.live.update(
                self.task, total=report.updates, completed=report.done, description=text
            )
            if report.scores is not None:
                self.live.console.print(text)
        elif report.scores is not None or time.monotonic() - self.last > LINE_EVERY:
            self.last = time.monotonic()
            print(text, file=sys.stderr, flush=True)
