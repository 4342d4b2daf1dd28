"""`gnarl-trace`: arguments in, the table of one interpreted episode on standard output."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.api.asked import FLAGS, verify_seed
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import (
    SPEC_HELP,
    add_extern,
    add_format,
    add_param,
    add_seed,
    command_parser,
)

EXAMPLES = """
  gnarl-trace specs/bfs.gnarl                      the expert on a random 6-node graph
  gnarl-trace specs/tsp.gnarl --expert nearest     another expert of the spec
  gnarl-trace my.gnarl --policy random --why       why each illegal node is illegal
  gnarl-trace specs/rgc.gnarl -p removal=targeted --instances ba --nodes 10 --seed 3
"""
MAX_NODES = 2000
_REQUESTED = ("nodes", "seed", "policy", "expert", "reward", "instances", "why", "format")


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-trace",
        "Run one episode of a spec in the interpreter and show every step: the phase, the legal "
        "nodes, the pick, what it changed and what it paid.",
        EXAMPLES,
        ok="the episode was played",
        failed="the spec has mistakes, or the episode could not be played to its end",
    )
    add = parser.add_argument
    add("spec", metavar="SPEC", help=SPEC_HELP)
    add("--nodes", type=int, default=6, metavar="N", help="size of the graph (default 6)")
    add_seed(parser, "the graph and of the picks")
    add("--policy", choices=["expert", "random"], help="default: expert if any")
    add("--expert", metavar="NAME", help="which expert (default: the first)")
    add("--reward", metavar="NAME", help="which reward or objective to show")
    add("--instances", metavar="NAME", help="which instance set to draw from")
    add("--why", action="store_true", help="tell why illegal nodes are illegal")
    add_param(parser)
    add_extern(parser)
    add_format(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-trace", lambda: _trace(build_parser().parse_args(argv)))


def _trace(args: argparse.Namespace) -> int:
    problem = load_problem(args.spec, parse_params(args.param), args.allow_costly, args.extern)
    _verify_arguments(problem, args)
    # The interpreter needs NumPy; mistakes above are reported without waiting for it.
    from gnarl_runtime.commands.work.trace_command import Request, report

    return report(problem, Request(**{key: getattr(args, key) for key in _REQUESTED}))


def _verify_arguments(problem: Problem, args: argparse.Namespace) -> None:
    if not 1 <= args.nodes <= MAX_NODES:
        raise UsageError(f"--nodes {args.nodes}: expected a number from 1 to {MAX_NODES}")
    verify_seed(FLAGS, args.seed)
    if args.policy is None:
        args.policy = "expert" if problem.experts else "random"
    if args.policy == "expert" and not problem.experts:
        raise UsageError(f"{problem.name} declares no expert; try --policy random")
    rewards = [e.name for e in problem.objectives] + [e.name for e in problem.rewards]
    verify_name("--expert", args.expert, [entry.name for entry in problem.experts])
    verify_name("--reward", args.reward, rewards)
    verify_name("--instances", args.instances, [entry.name for entry in problem.instances])
    if not problem.instances:
        raise UsageError(f"{problem.name} declares no instances to draw a graph from")


def verify_name(flag: str, given: str | None, known: list[str]) -> None:
    """Raise a UsageError with a suggestion if a name is given that the spec does not have."""
    if given is not None and given not in known:
        fix = did_you_mean(given, known)
        has = f"the spec has: {', '.join(known)}" if known else "the spec has none"
        raise UsageError(f"{flag} {given}: {has}" + (f"\n{fix}" if fix else ""))
