"""The name of a command in, its exit code out: what every command begins with.

    gnarl-check = "gnarl_runtime.commands.shell.entry:commands.check"   runs commands/check.py
    gnarl-report = "gnarl_runtime.commands.shell.entry:reports.report"  runs reports/report.py

Until a command's body runs, nothing can be lost: Ctrl-C ends it there as it ends any program,
while the files are still being imported. `run_command` has it raised from then on.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from importlib import import_module


def __getattr__(name: str) -> Command:
    """Every room of the runtime by its name."""
    if name.startswith("_"):
        raise AttributeError(f"there is no command {name}")
    return Command(name)


class Command:
    """A module of `gnarl_runtime` with a `main`, or the room that it is in."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Command:
        return Command(f"{self._name}.{name}")

    def __call__(self, argv: Sequence[str] | None = None) -> int:
        """`argv`: from a program that calls a command, and keeps its own signals."""
        if argv is not None:
            return self._run(argv)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        _fill_closed()
        return self._run(None)

    def _run(self, argv: Sequence[str] | None) -> int:
        code: int = import_module(f"gnarl_runtime.{self._name}").main(argv)
        return code


def _fill_closed() -> None:
    """Where a standard stream is closed, the next file to be opened must not take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
