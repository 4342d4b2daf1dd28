"""`gnarl-view`: arguments in, one episode as a page or a picture out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.api.asked import FLAGS, verify_seed
from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import add_extern, add_param, add_seed, command_parser
from gnarl_runtime.commands.work.arguments import verify_file_to_read, verify_file_to_write
from gnarl_runtime.commands.work.outputs import verify_outputs
from gnarl_runtime.commands.work.subjects import verify_subject

EXAMPLES = """
  gnarl-view bfs                                     the expert of a spec, as rollout.html
  gnarl-view runs/bfs-seed0 --nodes 24 -o bfs.html   a trained policy, the expert beside it
  gnarl-view runs/tsp --data berlin52.tsp            on a graph of your own
  gnarl-view --pretrained bellman_ford --nodes 16
  gnarl-view my.gnarl --policy random --seed 3
  gnarl-view runs/bfs-seed0 --png strip.png --steps 5
"""
SUBJECT = "a run folder, a checkpoint, or a spec"
MOST_NODES = 200  # more cannot be told apart in a picture
NODES = 12
STEPS = 6
NOBODY = "none"


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-view",
        "Play one episode and write it as a page to look at: one HTML file that needs nothing "
        "else, or with --png a strip of pictures.",
        EXAMPLES,
        ok="written",
        failed="the checkpoint, the spec or the data are at fault",
    )
    add = parser.add_argument
    add("subject", nargs="?", metavar="RUN|CHECKPOINT|SPEC", help=SUBJECT)
    add("--pretrained", metavar="NAME", help="the shipped weights for a problem instead")
    add("--nodes", type=int, metavar="N", help=f"size of the graph (default {NODES})")
    add_seed(parser, "the graph, its layout and drawn picks")
    add("--policy", choices=["expert", "random", "learned"], help="who picks (default: learned "
        "for a run or checkpoint, else expert, or random if the spec has none)")  # fmt: skip
    add("--expert", metavar="NAME", help=f"which expert picks or is asked; {NOBODY}: nobody is")
    add(
        "-o", "--out", metavar="FILE", help="the page (default rollout.html, unless --png is given)"
    )
    add("--png", metavar="FILE", help="a strip of steps as a picture")
    add("--steps", type=int, metavar="K", help=f"how many steps the strip shows (default {STEPS})")
    add(
        "--data",
        metavar="FILE",
        help="the graph: .tsp, .gr, .graphml, .json, ... (docs/instances.md)",
    )
    add("--instances", metavar="NAME", help="which instance set of the spec to draw from")
    add("--reward", metavar="NAME", help="which reward or objective to show")
    add_param(parser)
    add_extern(parser, accept=True)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-view", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    verify_arguments(args)
    # NumPy and the rest are loaded once the command line makes sense.
    from gnarl_runtime.commands.work.view_command import view_command

    return view_command(args)


def verify_arguments(args: argparse.Namespace) -> None:
    """Raise a UsageError for what makes no sense, before anything slow happens."""
    args.subject = chosen_checkpoint(args.subject, args.pretrained, SUBJECT)
    verify_subject(args.subject)
    parse_params(args.param)
    _verify_numbers(args)
    verify_file_to_read("--data", args.data)
    verify_file_to_write("--out", args.out, (".html", ".htm"))
    verify_file_to_write("--png", args.png, (".png",))
    if args.out is None and args.png is None:
        args.out = "rollout.html"
        verify_file_to_write("--out", args.out)
    verify_outputs({"--out": args.out, "--png": args.png}, [args.data, args.subject])
    if args.expert == NOBODY and args.policy == "expert":
        raise UsageError(f"--expert {NOBODY} with --policy expert leaves nobody to pick")


def _verify_numbers(args: argparse.Namespace) -> None:
    if args.nodes is not None and args.data is not None:
        raise UsageError("--nodes and --data: the graph in the file has its own size; drop one")
    if args.nodes is not None and not 1 <= args.nodes <= MOST_NODES:
        raise UsageError(f"--nodes {args.nodes}: expected a number from 1 to {MOST_NODES}")
    verify_seed(FLAGS, args.seed)
    if args.steps is not None and args.steps < 1:
        raise UsageError(f"--steps {args.steps}: expected 1 or more")
    if args.steps is not None and args.png is None:
        raise UsageError("--steps is about the strip of --png; a page has every step")


if __name__ == "__main__":
    raise SystemExit(main())
