"""`gnarl-mcp`: limits in, a server on standard input and output, for programs that write specs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import OK, command_parser

EXAMPLES = """
  gnarl-mcp                 what a host runs; it speaks on standard input and output
  gnarl-mcp --seconds 20    calls that take longer are ended
"""
SECONDS, MOST_SECONDS = 60.0, 3600.0


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-mcp",
        "Serve programs that write specs over the Model Context Protocol: compile with fixes, "
        "explain a code, check with a counterexample, trace an episode, list what is built in; "
        "to read, the manual and all shipped specs. It reads and writes no file of yours and runs "
        "nothing that a spec brings. docs/editors.md shows how to set it up.",
        EXAMPLES,
        ok="the host ended the session",
        failed="not used",
    )
    told = f"that one call may take (default {SECONDS:g})"
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help=told)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    return run_command("gnarl-mcp", lambda: _serve(args.seconds))


def _serve(seconds: float) -> int:
    if not 0 < seconds <= MOST_SECONDS:
        raise UsageError(
            f"--seconds {seconds:g}: expected a number above 0, {MOST_SECONDS:g} at most"
        )
    try:
        from gnarl_runtime.machines.mcp_server import make_server
        from gnarl_runtime.machines.within_limits import Limits
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{error.name} is not installed; the server needs the extra `mcp`\n"
            "Likely fix: pip install 'gnarl-dsl[mcp]'"
        ) from error
    make_server(Limits(seconds=seconds)).run("stdio")
    return OK


if __name__ == "__main__":
    sys.exit(main())
