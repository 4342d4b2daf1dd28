"""`gnarl-play`: a spec or a folder in, a live page in the browser out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import USAGE, add_extern, add_seed, command_parser

EXAMPLES = """
  gnarl-play specs/bfs.gnarl        edit, play, check, train and solve it in the browser
  gnarl-play                        all specs of this folder
  gnarl-play mvc                    a shipped spec, to be saved here if it is changed
  gnarl-play my.gnarl --extern mine.py --seed 3
"""
USUAL_PORT = 8462


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-play",
        "Open a page in the browser to play with a spec: edit it with diagnostics as you type, "
        "pick nodes, ask why not, check, train, solve. Only this machine can reach it, and only "
        "files of the folder are read or written.",
        EXAMPLES,
        ok="the server was ended, by Ctrl-C",
        failed="not used",
    )
    add = parser.add_argument
    add("subject", nargs="?", metavar="SPEC|FOLDER", help="a .gnarl file, a shipped spec's name, "
        "or a folder (default: this one)")  # fmt: skip
    add("--port", type=int, metavar="N", help=f"where to listen (default {USUAL_PORT} if it is "
        "free; 0: any)")  # fmt: skip
    add("--no-browser", action="store_true", help="print the address only")
    add_seed(parser, "what is drawn at first")
    add_extern(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    return run_command("gnarl-play", lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    verify_arguments(args)
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        print(
            f"gnarl-play: {error.name} is not installed; the page needs the extra `play`\n"
            "Likely fix: pip install 'gnarl-dsl[play]'",
            file=sys.stderr,
        )
        return USAGE
    from gnarl_runtime.commands.servers.play_command import play_command

    return play_command(args)


def verify_arguments(args: argparse.Namespace) -> None:
    """Raise a UsageError for what makes no sense, before anything is imported."""
    if args.port is not None and not 0 <= args.port <= 65_535:
        raise UsageError(f"--port {args.port}: expected a number from 0 to 65535")
    if args.seed < 0:
        raise UsageError(f"--seed {args.seed}: expected 0 or more")
    for file in args.extern:
        if not Path(file).is_file():
            raise UsageError(f"--extern {file}: there is no such file")


if __name__ == "__main__":
    raise SystemExit(main())
