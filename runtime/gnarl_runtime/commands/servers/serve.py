"""`gnarl-serve`: trained policies in, a server on this machine that solves POSTed graphs out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import USAGE, command_parser

EXAMPLES = """
  gnarl-serve runs/mvc-seed0                   POST http://127.0.0.1:8463/solve
  gnarl-serve mvc tsp --port 9000              shipped weights: POST .../solve/mvc, .../solve/tsp
  gnarl-serve runs/tsp-seed0 --nodes 500 --seconds 5 --batch 16
"""
USUAL_PORT = 8463


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-serve",
        "Answer graphs that programs of this machine POST as JSON with solutions; what waits at "
        "the same time is solved together. docs/serving.md has the requests.",
        EXAMPLES,
        ok="the server was ended, by Ctrl-C",
        failed="a checkpoint is at fault",
    )
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help="a run folder, a checkpoint, or shipped weights")
    add("--port", type=int, metavar="N", help=f"where to listen (default {USUAL_PORT} if it is "
        "free; 0: any)")  # fmt: skip
    add("--seconds", type=float, default=30.0, metavar="S", help="for one request (default 30)")
    add("--nodes", type=int, default=2000, metavar="N", help="of one graph (default 2000)")
    add("--batch", type=int, default=64, metavar="K", help="graphs solved at once (default 64)")
    add("--threads", type=int, default=1, metavar="K", help="of the network (default 1)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    return run_command("gnarl-serve", lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    verify_arguments(args)
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        print(
            f"gnarl-serve: {error.name} is not installed; a server needs the extra `play`\n"
            "Likely fix: pip install 'gnarl-dsl[play]'",
            file=sys.stderr,
        )
        return USAGE
    from gnarl_runtime.commands.servers.serve_command import serve_command

    return serve_command(args)


def verify_arguments(args: argparse.Namespace) -> None:
    """Raise a UsageError for what makes no sense, before anything slow happens."""
    if args.port is not None and not 0 <= args.port <= 65_535:
        raise UsageError(f"--port {args.port}: expected a number from 0 to 65535")
    for name in ("seconds", "nodes", "batch", "threads"):
        value = getattr(args, name)
        if not 0 < value < 1e9:
            raise UsageError(f"--{name} {value}: expected a number above 0")


if __name__ == "__main__":
    raise SystemExit(main())
