"""`gnarl-fmt`: arguments in, formatted files and an exit code out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnarl_runtime.commands.options import command_parser

_DESCRIPTION = """\
Put specs into house style: two spaces per level, one space around operators,
columns aligned. Where lines break, and where comments and blank lines stand,
stays as you wrote it. What a spec means never changes."""
_EXAMPLES = """
  gnarl-fmt specs                  format every .gnarl file in a folder
  gnarl-fmt my.gnarl other.gnarl   format two files
  gnarl-fmt --check specs          for CI: list what would change, write nothing
  gnarl-fmt --diff my.gnarl        show what would change, write nothing
  gnarl-fmt - < my.gnarl           from standard input to standard output
"""


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-fmt",
        _DESCRIPTION,
        _EXAMPLES,
        ok="everything is formatted",
        failed="a spec has a syntax error (it is left alone), or --check or --diff found changes",
    )
    add = parser.add_argument
    add("specs", nargs="*", metavar="SPEC", help="a file, a folder to search, or - for stdin")
    add("--check", action="store_true", help="list files that would change; write nothing")
    add("--diff", action="store_true", help="show what would change; write nothing")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Format what `argv` names; the exit code says how it went."""
    args = build_parser().parse_args(argv)
    # The formatter takes most of the start-up time; --help and --version need none of it.
    from gnarl_runtime.commands.console import run_command
    from gnarl_runtime.commands.work.fmt_command import Options, fmt_command

    return run_command("gnarl-fmt", lambda: fmt_command(args.specs, Options(args.check, args.diff)))
