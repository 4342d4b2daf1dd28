"""A command line that makes little sense in, its exit code and what it printed out.

What would train, play or draw for long is stopped where the arguments have been found good.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import odd

from gnarl_dsl.report.failures import Failure

COMMANDS = ("check", "compile", "eval", "export", "fmt", "solve", "trace", "train", "view")
# Where the work begins: (module, function).
_WORK = (
    ("gnarl_runtime.commands.work.check_command", "check_command"),
    ("gnarl_runtime.commands.work.eval_command", "eval_command"),
    ("gnarl_runtime.commands.work.export_command", "export_command"),
    ("gnarl_runtime.commands.work.solve_command", "solve_command"),
    ("gnarl_runtime.commands.work.train_command", "start_command"),
    ("gnarl_runtime.commands.work.train_command", "resume_command"),
    ("gnarl_runtime.commands.work.view_command", "view_command"),
)
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_USUAL = ("bfs", "mvc", "tsp", "2", "16", "0.1", "a.json", "out.html", "x=1", "bc.lr=1", "expert")


def make_line(rng: random.Random) -> bytes:
    """Words, each ended by a zero byte, as the system hands them over."""
    command = rng.choice(COMMANDS)
    words = [command]
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5))):
        words += _some(rng, command)
    return "\0".join(word.replace("\0", "") for word in words).encode("utf-8", "surrogatepass")


def _some(rng: random.Random, command: str) -> list[str]:
    action = rng.choice(_actions(command))
    value = str(rng.choice(odd.VALUES if rng.random() < 0.6 else _USUAL))
    if not action.option_strings or rng.random() < 0.15:
        return [value]
    flag = rng.choice(action.option_strings)
    if action.nargs == 0:
        return [flag]
    return [f"{flag}={value}"] if rng.random() < 0.5 else [flag, value]


@cache
def _actions(command: str) -> tuple[argparse.Action, ...]:
    parser = import_module(f"gnarl_runtime.commands.{command}").build_parser()
    return tuple(parser._actions)


def run_line(content: bytes) -> str:
    command, *words = content.decode("utf-8", "surrogatepass").split("\0")
    main = import_module(f"gnarl_runtime.commands.{command}").main
    out, err = _Printed(), _Printed()
    with _apart(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    shown = out.getvalue() + err.getvalue()
    assert code in (0, 1, 2), f"exit code {code}: {shown[-2000:]}"
    assert code == 0 or err.getvalue(), "refused without a word"
    assert not _STEERING.search(shown), "the terminal was steered"
    return f"exit {code}"


class _Printed(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def isatty(self) -> bool:
        return False


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """In a folder of its own, without the work, and without anybody who types."""

    def stop(*_: object, **__: object) -> int:
        raise Failure("found good")

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="attack-"))
        Path(folder, "a.json").write_text('{"nodes": [], "edges": []}', "utf-8")
        before = os.getcwd()
        os.chdir(folder)
        stack.callback(os.chdir, before)
        stack.enter_context(patch("sys.stdin", None))
        for module, name in _WORK:
            stack.enter_context(patch(f"{module}.{name}", stop))
        yield
