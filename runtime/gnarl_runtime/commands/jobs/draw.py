"""`gnarl-draw`: a spec and a number in, a folder of drawn and solved instances out."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.api.asked import FLAGS, MOST_NODES, verify_least
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.jobs.extras import require_extra
from gnarl_runtime.commands.options import OK, add_extern, add_param, add_seed, command_parser

EXAMPLES = """
  gnarl-draw tsp --count 100000 --nodes 20 --out tours --jobs 2
  gnarl-draw my.gnarl --count 5000 --out graphs --oracles none
  gnarl-draw mvc --count 2000 --nodes 10-50 --seed 7 --out graphs
"""
MOST = 10**9


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-draw",
        "Draw instances of a spec into a folder, oracles solved, for trainings to read from disk. "
        "Shards that are there are done: start it again after a stop, or on several machines.",
        EXAMPLES,
        ok="all shards are there",
        failed="an oracle could not be solved",
    )
    add = parser.add_argument
    add("spec", metavar="SPEC", help="a .gnarl file or a shipped spec's name")
    add("--count", type=int, required=True, metavar="N", help="instances")
    add("--out", type=Path, required=True, metavar="DIR", help="the folder")
    add("--nodes", metavar="N|A-B", help="of each instance, or a range (default: the spec's)")
    add("--split", default="train", choices=("train", "valid", "test"), help="of the spec")
    add("--instances", metavar="NAME", help="a set of instances of the spec (default its first)")
    add("--oracles", metavar="A,B", help="which to solve (default all); none: none")
    add("--shard", type=int, default=1_000, metavar="K", help="instances in a file (default 1000)")
    add("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    add_seed(parser, "the instances")
    add_param(parser)
    add_extern(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-draw", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    for name, least in (("count", 1), ("shard", 1), ("jobs", 1), ("seed", 0)):
        verify_least(FLAGS, name, getattr(args, name), least)
    if args.count > MOST:
        raise UsageError(f"--count {args.count}: expected at most {MOST:,}")
    nodes = parse_nodes(args.nodes)
    problem = load_problem(args.spec, parse_params(args.param), args.allow_costly, args.extern)
    require_extra("sweep", "filelock", *(["joblib"] if args.jobs > 1 else []))
    if args.out.exists() and not args.out.is_dir():
        raise UsageError(f"--out {args.out}: expected a folder, found a file")
    from gnarl_runtime.commands.work.progress import Progress
    from gnarl_runtime.shards.draw_shards import draw_shards, missing_shards
    from gnarl_runtime.shards.plan import DrawPlan, all_oracles

    known = all_oracles(problem)
    oracles = _oracles(args.oracles, known)
    choices = {"split": args.split, "instances": args.instances, "nodes": nodes}
    plan = DrawPlan(problem, args.count, args.seed, oracles=oracles, size=args.shard, **choices)
    with Progress(problem.name) as progress:
        drawn = draw_shards(plan, args.out, args.jobs, progress)
    left = len(missing_shards(plan, args.out))
    there = f"{len(plan.shards) - left} of {len(plan.shards)} shards are in {args.out}"
    print(f"{drawn:,} instances drawn here; {there}")
    if left:
        print(f"{left} are being drawn by others")
    return OK


def parse_nodes(text: str | None) -> int | tuple[int, int] | None:
    """`20`, or `10-50`."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", text, re.ASCII)
    low = int(match[1]) if match else 0
    high = int(match[2]) if match and match[2] else low
    if not 1 <= low <= high <= MOST_NODES:
        raise UsageError(
            f"--nodes {text}: expected a number from 1 to {MOST_NODES:,} or a range such as 10-50"
        )
    return low if low == high else (low, high)


def _oracles(text: str | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if text is None:
        return known
    wanted = () if text == "none" else tuple(part.strip() for part in text.split(","))
    for name in wanted:
        if name not in known:
            told = ", ".join(known) or "none"
            raise UsageError(f"--oracles {text}: there is no oracle `{name}`; it has: {told}")
    return wanted


if __name__ == "__main__":
    raise SystemExit(main())
