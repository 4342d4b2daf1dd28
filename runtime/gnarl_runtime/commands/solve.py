"""`gnarl-solve`: arguments in, solutions of a user's own graphs on standard output out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.api.asked import FLAGS, chosen_search
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import command_parser
from gnarl_runtime.commands.work.arguments import (
    add_policy_arguments,
    verify_file_to_read,
    verify_file_to_write,
    verify_numbers_of_play,
    verify_policy_arguments,
)
from gnarl_runtime.commands.work.outputs import verify_outputs
from gnarl_runtime.search.strategy import forms

EXAMPLES = """
  gnarl-solve runs/tsp --data berlin52.tsp --rescale
  gnarl-solve runs/mvc --data my_graph.json --out cover.json
  gnarl-solve runs/tsp --data my.tsp --search time:10     shows improvements as they come
  gnarl-solve runs/tsp --data my.tsp --temperature 0.1 --samples 64     the best of 64 attempts
  gnarl-solve --spec my.gnarl --data my_graph.json --search work:5000   without any policy
  gnarl-solve --pretrained bellman_ford --data roads.gr -p stop=settled   no reference needed
  gnarl-solve runs/bf --data roads.gr -p stop=settled --max-rounds 9999   and an end in any case
"""


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-solve",
        "Search for solutions of your own graphs, with a trained policy or without.",
        EXAMPLES,
        ok="every solution is valid as far as can be told",
        failed="one is not, or the checkpoint, the spec or the data are at fault",
    )
    add = parser.add_argument
    add("--data", required=True, metavar="FILE", help="graphs: .tsp, .gr, .graphml, .json, ...")
    add("--out", metavar="FILE", help="write the solutions as JSON")
    add("--search", metavar="HOW", help=f"one of {', '.join(forms())} (docs/search.md)")
    add("--samples", type=int, metavar="K", help="short for --search sample:K")
    add("--rescale", action="store_true", help="show the network numbers as large as in training")
    add("--rounded", action="store_true", help="round TSPLIB distances, as published optima do")
    add("--repair", action="store_true", help="remove loops, repeated edges, and small parts")
    add_policy_arguments(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-solve", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    aided = args.checkpoint is not None or args.pretrained is not None
    if aided or args.spec is None:
        verify_policy_arguments(args)
    else:
        verify_numbers_of_play(args)
    given = (args.search, args.samples, args.temperature)
    args.silent_search = all(value is None for value in given)
    args.search = chosen_search(FLAGS, args.search, args.samples, args.temperature, aided)
    parse_params(args.param)
    verify_file_to_read("--data", args.data)
    verify_file_to_write("--out", args.out)
    verify_outputs({"--out": args.out}, [args.data, args.checkpoint, args.spec])
    # Torch and the rest are loaded once the command line makes sense.
    from gnarl_runtime.commands.work.solve_command import solve_command

    return solve_command(args)


if __name__ == "__main__":
    raise SystemExit(main())
