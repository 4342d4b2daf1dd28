"""All commands of the family alike: help with examples that parse, version, exit codes, flags."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from house import ROOT

from gnarl_dsl import __version__
from gnarl_dsl.report.diagnostics import InternalError
from gnarl_dsl.report.failures import Failure, SpecRejected, UsageError
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.reference import commands

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
SCRIPTS: dict[str, str] = PROJECT["scripts"]
Capture = pytest.CaptureFixture[str]


def module_of(command: str) -> str:
    """Where the command itself is: entry points go through `entry`, which finds it by its name."""
    return commands()[command]


def main_of(command: str) -> Callable[[list[str]], int]:
    main: Callable[[list[str]], int] = getattr(import_module(module_of(command)), "main")  # noqa: B009
    return main


def parser_of(command: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = import_module(module_of(command)).build_parser()
    return parser


def stopped(command: str, *args: str) -> object:
    with pytest.raises(SystemExit) as stop:
        main_of(command)(list(args))
    return stop.value.code


def examples_of(command: str) -> list[str]:
    """The command lines in the examples of a parser's help, without what is said about them."""
    text = parser_of(command).format_help().partition("\nexamples:\n")[2].partition("\n\n")[0]
    lines = [line.strip() for line in text.splitlines()]
    return [re.split(r"\s{2,}", line)[0] for line in lines if line]


@pytest.mark.parametrize("command", SCRIPTS)
def test_version(command: str, capsys: Capture) -> None:
    assert stopped(command, "--version") == 0
    assert capsys.readouterr().out == f"{command} {__version__}\n"


@pytest.mark.parametrize("command", SCRIPTS)
def test_help_has_examples_and_exit_codes(
    command: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert stopped(command, "--help") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: {command} ")
    codes = shown.partition("\nexit codes:\n")[2]
    assert re.findall(r"^  (\d+) +\S", codes, re.MULTILINE) == ["0", "1", "2", "3", "130"]
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize("command", SCRIPTS)
def test_examples_parse(command: str) -> None:
    examples = examples_of(command)
    assert len(examples) >= 2
    for example in examples:
        words = shlex.split(example.split(" < ")[0])
        assert words[0] == command
        parser_of(command).parse_args(words[1:])


@pytest.mark.parametrize("command", SCRIPTS)
def test_every_argument_is_explained(command: str) -> None:
    for action in parser_of(command)._actions:
        assert action.help, f"{command}: {action.option_strings or action.dest}"


@pytest.mark.parametrize("command", SCRIPTS)
def test_an_unknown_flag_is_a_usage_error(command: str, capsys: Capture) -> None:
    assert stopped(command, "--no-such-flag") == 2
    assert capsys.readouterr().err.startswith("usage: ")


def test_common_flags_are_the_same_everywhere() -> None:
    common = ("--param", "--seed", "--format", "--threads", "--temperature", "--version")
    seen: dict[str, set[object]] = {flag: set() for flag in common}
    for command in SCRIPTS:
        for action in parser_of(command)._actions:
            for flag in set(common) & set(action.option_strings):
                choices = tuple(action.choices or ())
                shape = (type(action), action.dest, action.metavar, action.type, choices)
                seen[flag].add((tuple(action.option_strings), *shape))
    assert {flag: len(shapes) for flag, shapes in seen.items()} == dict.fromkeys(common, 1)


# What cannot be read is the command line's fault, not a traceback's.
MISSING = {
    "gnarl-check": ["no_such.gnarl"],
    "gnarl-compile": ["no_such.gnarl"],
    "gnarl-draw": ["no_such.gnarl", "--count", "1", "--out", "drawn"],
    "gnarl-eval": ["no_such_run"],
    "gnarl-fmt": ["no_such.gnarl"],
    "gnarl-lsp": ["--log", "no_such_folder/log"],
    "gnarl-solve": ["no_such_run", "--data", "no_such.json"],
    "gnarl-sweep": ["no_such.toml"],
    "gnarl-trace": ["no_such.gnarl"],
    "gnarl-train": ["--spec", "no_such.gnarl"],
}


@pytest.mark.parametrize("command", MISSING)
def test_what_is_not_there_is_a_usage_error(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main_of(command)(MISSING[command]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"{command}: ")
    assert "no_such" in shown
    assert "Traceback" not in shown


REJECTING = ("gnarl-check", "gnarl-compile", "gnarl-fmt", "gnarl-trace")


@pytest.mark.parametrize("command", REJECTING)
def test_a_spec_with_mistakes_is_a_failure(command: str, tmp_path: Path, capsys: Capture) -> None:
    broken = tmp_path / "broken.gnarl"
    broken.write_text("gnarl 1\nproblem broken\nlet x = (\n", "utf-8")
    assert main_of(command)([str(broken)]) == 1
    assert "GN008" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("what was found"), 2, "name: what was found"),
        (Failure("what went wrong"), 1, "name: what went wrong"),
        (SpecRejected(), 1, ""),
        (InternalError("two and two make five"), 3, "please report it"),
        (OSError(28, "No space left on device"), 2, "No space left"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_every_failure_has_its_exit_code(
    error: BaseException, code: int, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    def work() -> int:
        raise error

    # A full disk silences standard output for good, here only for this test.
    own = os.dup(sys.stdout.fileno())
    try:
        assert run_command("name", work) == code
    finally:
        os.dup2(own, sys.stdout.fileno())
        os.close(own)
    assert said in capfd.readouterr().err


def test_help_waits_for_nothing_heavy() -> None:
    modules = sorted({module_of(command) for command in SCRIPTS})
    code = (
        "import sys\nfrom importlib import import_module\n"
        f"for name in {modules}: import_module(name).build_parser()\n"
        "print(' '.join({name.partition('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "numba", "scipy", "networkx", "pygls"} & set(run.stdout.split())
