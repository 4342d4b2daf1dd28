"""What the commands of the family share: parsers that look alike, common flags, exit codes."""

from __future__ import annotations

import argparse
from textwrap import fill
from typing import Any

from gnarl_dsl import __version__
from gnarl_dsl.report.printable import printable_lines

OK, FAILED, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130
SPEC_HELP = "a .gnarl file, a shipped spec's name, or -"
_WIDTH = 88
_ALWAYS = """\
  2    mistakes on the command line, or a file that cannot be used
  3    a bug in GNARL; please report it
  130  interrupted"""


def command_parser(
    name: str, description: str, examples: str, *, ok: str, failed: str
) -> argparse.ArgumentParser:
    """The parser of a command: `--help` with examples and exit codes, and `--version`.

    `ok` and `failed` say what the exit codes 0 and 1 mean; the others mean the same everywhere.
    """
    codes = f"exit codes:\n  0    {ok}\n  1    {failed}\n{_ALWAYS}"
    parser = _Parser(
        prog=name,
        description=fill(" ".join(description.split()), _WIDTH),
        epilog=f"examples:\n{examples.strip(chr(10))}\n\n{codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{name} {__version__}")
    return parser


class _Parser(argparse.ArgumentParser):
    """One that also refuses what argparse itself stumbles over, such as `--nodes=--`.

    What it shows of a command line cannot steer the terminal.
    """

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(printable_lines(message or ""), file)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> object:
        if action.nargs is None and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected one argument, found --")
        return super()._get_values(action, arg_strings)


def add_specs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("specs", nargs="*", metavar="SPEC", help=SPEC_HELP)


def add_param(parser: argparse.ArgumentParser) -> None:
    """`-p NAME=VALUE`, any number of times, and consent to specs that are slow on large graphs."""
    add, metavar = parser.add_argument, "NAME=VALUE"
    add("-p", "--param", action="append", default=[], metavar=metavar, help="set a param")
    add("--allow-costly", action="store_true", help="accept more than O(n^3) per step")


def add_extern(parser: argparse.ArgumentParser, accept: bool = False) -> None:
    """`--extern FILE.py`, any number of times; `accept`: where a run says which file it had."""
    add = parser.add_argument
    told = "run this Python file for what the spec declares as extern (docs/extern.md)"
    add("--extern", action="append", default=[], metavar="FILE.py", help=told)
    if accept:
        told = "go on with another file than the one of the training"
        add("--accept-extern", action="store_true", help=told)


def add_format(parser: argparse.ArgumentParser) -> None:
    choices = ["text", "json"]
    parser.add_argument("--format", choices=choices, default="text", help="json: for scripts")


def add_seed(parser: argparse.ArgumentParser, of: str, default: int | None = 0) -> None:
    """`--seed N`; `of` names what is drawn with it."""
    words = f"of {of} (default 0)"
    parser.add_argument("--seed", type=int, default=default, metavar="N", help=words)
