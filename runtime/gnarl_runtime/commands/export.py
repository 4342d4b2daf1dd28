"""`gnarl-export`: arguments in, an archive of expert episodes out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import (
    SPEC_HELP,
    add_extern,
    add_param,
    add_seed,
    command_parser,
)
from gnarl_runtime.commands.work.arguments import verify_file_to_write
from gnarl_runtime.commands.work.outputs import verify_outputs

EXAMPLES = """
  gnarl-export --clrs heapsort                      100 episodes on 16 nodes, to heapsort.npz
  gnarl-export --clrs bfs --count 1000 --nodes 64 --split test -o bfs64.npz
  gnarl-export --clrs bellman_ford --expert printed -p stop=settled
"""
COUNT, NODES = 100, 16


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-export",
        "Write episodes of a spec's expert for other tools: with --clrs as the input, hint and "
        "output probes of the CLRS benchmark, in one NumPy archive.",
        EXAMPLES,
        ok="written, and every episode ended with a right answer",
        failed="the spec has mistakes, or some episode did not end with a right answer",
    )
    add = parser.add_argument
    add("spec", metavar="SPEC", help=SPEC_HELP)
    add("--clrs", action="store_true", help="as CLRS probes (docs/clrs_export.md)")
    add("--count", type=int, default=COUNT, metavar="N", help=f"episodes (default {COUNT})")
    add("--nodes", type=int, default=NODES, metavar="N", help=f"of each graph (default {NODES})")
    add("--expert", metavar="NAME", help="which expert (default: the first)")
    add("--split", default="train", metavar="NAME", help="train, valid or test (default train)")
    add("--instances", metavar="NAME", help="which instance set of the spec to draw from")
    add(
        "--ties",
        default="drawn",
        metavar="HOW",
        help="which of several right picks: drawn, or the "
        "first in the order of the nodes, as CLRS does (default drawn)",
    )
    add_seed(parser, "the instances and of picks among several")
    add("-o", "--out", metavar="FILE", help="the archive (default: SPEC.npz)")
    add_param(parser)
    add_extern(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-export", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    if not args.clrs:
        raise UsageError("expected --clrs, the one layout that there is")
    problem = load_problem(args.spec, parse_params(args.param), extern=args.extern)
    args.out = args.out or f"{problem.name}.npz"
    verify_file_to_write("--out", args.out, (".npz",))
    verify_outputs({"--out": args.out}, [args.spec])
    # NumPy and the rest are loaded once the command line makes sense.
    from gnarl_runtime.commands.work.export_command import export_command

    return export_command(args, problem)


if __name__ == "__main__":
    raise SystemExit(main())
