"""`gnarl-eval`: arguments in, a table on standard output and an exit code out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.api.asked import (
    FLAGS,
    MOST_GRAPHS,
    MOST_THREADS,
    verify_attempts,
    verify_between,
)
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.jobs.extras import require_extra
from gnarl_runtime.commands.options import command_parser
from gnarl_runtime.commands.work.arguments import (
    add_policy_arguments,
    parse_names,
    parse_sizes,
    verify_file_to_read,
    verify_file_to_write,
    verify_policy_arguments,
    verify_run,
)
from gnarl_runtime.commands.work.outputs import verify_outputs
from gnarl_runtime.search.strategy import forms, parse_searches

EXAMPLES = """
  gnarl-eval --pretrained bellman_ford                 weights that come with GNARL
  gnarl-eval runs/bfs                                 fresh graphs of the spec's test split
  gnarl-eval runs/mvc --sizes 16,64,256 --graphs 300 --against approx,random
  gnarl-eval runs/tsp --data berlin52.tsp             graphs from a file
  gnarl-eval runs/mvc runs/mvc-2                      the same graphs: do the two differ?
  gnarl-eval runs/bfs --temperature 0.05 --samples 100   how many different solutions?
  gnarl-eval runs/tsp --search sample:64,beam:16,time:2   which search is worth its seconds?
  gnarl-eval runs/mvc --sizes 16,32 --optimum         how far from the optimum?
  gnarl-eval runs/tsp --json tsp.json --plot tsp.png
"""
BASELINES = """\
Baselines for --against: random, expert (the spec's first), the name of any expert of the spec,
greedy (its first greedy expert), approx (its expert `approximation`).\
"""
PICTURES = (".png", ".svg", ".pdf")


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-eval",
        "Play a trained policy on fresh graphs: how often it succeeds, how good its answers are, "
        f"how long it takes. {BASELINES}",
        EXAMPLES,
        ok="evaluated",
        failed="the checkpoint, the spec or the data are at fault",
    )
    add = parser.add_argument
    add("--sizes", metavar="N,N", help="numbers of nodes (default: those of the split)")
    add("--graphs", type=int, metavar="K", help="per size (default: what the split says)")
    add("--split", choices=["train", "valid", "test"], default="test", help="of the spec's graphs")
    add("--instances", metavar="NAME", help="which instances of the spec (default: the first)")
    add(
        "--data",
        metavar="FILE",
        help="graphs from a file instead: .gnarl.npz, .tsp, .json, ... or a folder of gnarl-draw",
    )
    add("--samples", type=int, default=1, metavar="K", help="attempts at each graph (default 1)")
    add("--against", metavar="NAME,NAME", help="baselines to play on the same graphs")
    add("--reference", metavar="EXPERT", help="whose objective `ratio` refers to")
    add("--search", metavar="HOW,HOW", help=f"search, too: {', '.join(forms())} (docs/search.md)")
    add("--optimum", action="store_true", help="how far all are from the best that can be found")
    add("--no-reference", action="store_true", help="leave out metrics and what they need solved")
    add("--jobs", type=int, default=1, metavar="N", help="processes that play (default 1)")
    add("--json", metavar="FILE", help="write all figures to a file")
    add("--plot", metavar="FILE", help="draw success and ratio over sizes (.png, .svg, .pdf)")
    add_policy_arguments(parser, several=True)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    parser = build_parser()
    args, more = parser.parse_known_args(argv)
    if any(word.startswith("-") for word in more):
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    # Runs behind an option are left over by the parser.
    return run_command("gnarl-eval", lambda: _run(args, [*args.checkpoint, *more]))


def _run(args: argparse.Namespace, runs: Sequence[str]) -> int:
    _verify_that_sizes_are_joined(args, runs)
    args.checkpoint, args.others = (runs[0] if runs else None), tuple(runs[1:])
    _verify(args)
    # Torch and the rest are loaded once the command line makes sense.
    from gnarl_runtime.commands.work.eval_command import eval_command

    return eval_command(args)


def _verify(args: argparse.Namespace) -> None:
    verify_policy_arguments(args)
    verify_attempts(FLAGS, args.temperature, args.samples)
    for other in args.others:
        verify_run(other)
    parse_sizes(args.sizes)
    parse_names("--against", args.against)
    args.search = parse_searches(args.search) if args.search is not None else ()
    parse_params(args.param)
    if args.data is None or not Path(args.data).is_dir():
        verify_file_to_read("--data", args.data)
    verify_between(FLAGS, "jobs", args.jobs, 1, MOST_THREADS)
    if args.jobs > 1:
        require_extra("sweep", "joblib")
    verify_file_to_write("--json", args.json)
    verify_file_to_write("--plot", args.plot, PICTURES)
    outputs = {"--json": args.json, "--plot": args.plot}
    verify_outputs(outputs, [args.data, args.checkpoint, *args.others, args.spec])
    verify_between(FLAGS, "graphs", args.graphs, 1, MOST_GRAPHS)
    if args.reference and args.no_reference:
        raise UsageError("--reference and --no-reference cannot both be given")
    drawn = [f"--{flag}" for flag in ("sizes", "graphs", "instances") if getattr(args, flag)]
    if args.data and drawn:
        raise UsageError(f"{drawn[0]} is about drawn graphs; leave it out with --data")


def _verify_that_sizes_are_joined(args: argparse.Namespace, runs: Sequence[str]) -> None:
    """Of `--sizes 16 64 128`, 64 and 128 read as run folders."""
    sizes = args.sizes
    apart = [run for run in runs if run.isdigit() and not Path(run).exists()]
    if sizes and apart:
        raise UsageError(
            f"--sizes {' '.join([sizes, *apart])}: expected commas between numbers of nodes: "
            f"--sizes {','.join([sizes, *apart])}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
