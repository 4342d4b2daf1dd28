"""`gnarl-compile`: arguments in, the checked problem as text, diagnostics and an exit code out."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gnarl_runtime.commands.options import add_format, add_param, add_specs, command_parser

EXAMPLES = """
  gnarl-compile specs/bfs.gnarl               check a spec and show what it says
  gnarl-compile bfs                           the same, by the name of a shipped spec
  gnarl-compile bellman_ford -p stop=settled  with another value of a param
  gnarl-compile --quiet specs/*.gnarl         only the mistakes, in all files
  gnarl-compile --format json my.gnarl        the same for editors and scripts
  gnarl-compile --explain GN401               what a diagnostic means
  gnarl-compile mvc --emit python             the kernels generated from a spec
  gnarl-compile mvc --emit costs              what a round costs, found anew and kept
  gnarl-compile specs/*.gnarl -o build        write them to build/NAME.py
"""


EMITS = ["summary", "tree", "problem", "ir", "costs", "python"]


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-compile",
        "Check GNARL specs and show the problem that each describes.",
        EXAMPLES,
        ok="the specs are sound",
        failed="a spec has mistakes (with --werror, or warnings)",
    )
    add_specs(parser)
    add_param(parser)
    add_format(parser)
    add = parser.add_argument
    add("--emit", choices=EMITS, help="what to show (default: summary)")
    add("-o", "--out", metavar="DIR", help="write the generated module of each spec to DIR")
    told = "needs none: nothing is run here, and this file would not be"
    add("--extern", action="append", default=[], metavar="FILE.py", help=told)
    add("--quiet", action="store_true", help="show diagnostics only")
    add("--werror", action="store_true", help="count warnings as errors")
    add("--explain", metavar="CODE", help="explain a diagnostic such as GN012, or list all")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.emit and args.format == "json":
        parser.error(f"--emit {args.emit} and --format json exclude each other")
    with _no_collection():
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    # The front end takes most of the start-up time; --help and --version need none of it.
    from gnarl_runtime.commands.console import run_command
    from gnarl_runtime.commands.work.compile_command import compile_command, explain_command

    if args.explain:
        return run_command("gnarl-compile", lambda: explain_command(args.explain))
    return run_command("gnarl-compile", lambda: compile_command(args))


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector, which finds nothing in a short run but takes 15 ms."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
