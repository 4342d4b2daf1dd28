"""`gnarl-check`: arguments in, reports of specs on standard output and an exit code out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.api.asked import FLAGS, verify_checking, verify_least
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.jobs.extras import require_extra
from gnarl_runtime.commands.options import (
    add_extern,
    add_format,
    add_param,
    add_seed,
    add_specs,
    command_parser,
)
from gnarl_runtime.commands.work.outputs import verify_outputs

EXAMPLES = """
  gnarl-check specs/bfs.gnarl                 explore all small graphs, play larger ones
  gnarl-check bfs --fast                      only graphs of up to 3 nodes, in a second or two
  gnarl-check my.gnarl --only dead-end        one property
  gnarl-check my.gnarl --save witnesses       keep every counterexample in a file
  gnarl-check --replay witnesses/my-dead-end.json           does it still happen?
  gnarl-check --replay witnesses/my-dead-end.json my.gnarl  ... with the spec as it is now?
  gnarl-check specs/*.gnarl --format json     for scripts
"""


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-check",
        "Check that a spec describes the problem that was meant: explore every state of every "
        "small graph, play random larger ones, explain what fails.",
        EXAMPLES,
        ok="everything holds",
        failed="something fails, or a spec has mistakes",
    )
    add_specs(parser)
    add = parser.add_argument
    add("--max-nodes", type=int, default=4, metavar="N", help="graphs to explore (default 4)")
    add("--examples", type=int, default=500, metavar="K", help="random instances (default 500)")
    add("--states", type=int, default=200_000, metavar="K", help="per instance (default 200000)")
    add_seed(parser, "random instances and hidden ranks")
    add("--fast", action="store_true", help="nothing compiled, up to 3 nodes, no random instances")
    add("--lenient", action="store_true", help="experts need to know their own path only")
    add("--only", metavar="PROPERTY", help="report one property only, such as dead-end")
    add("--expert", metavar="NAME", help="check one expert only")
    add_param(parser)
    add_extern(parser)
    add_format(parser)
    add("--jobs", type=int, default=1, metavar="N", help="specs checked at a time (default 1)")
    add("--save", metavar="PATH", help="write counterexamples to a folder, or to PATH.json")
    add("--png", metavar="FILE", help="draw the first counterexample")
    add("--dot", metavar="FILE", help="the same for Graphviz")
    add("--replay", metavar="FILE", help="play a saved counterexample again")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-check", lambda: _run(build_parser().parse_args(argv)))


def _run(args: argparse.Namespace) -> int:
    _verify(args)
    params = parse_params(args.param)
    problems = [load_problem(spec, params, args.allow_costly, args.extern) for spec in args.specs]
    # Numba and the rest are loaded once the command line and the specs make sense.
    if args.replay:
        from gnarl_runtime.commands.work.replay_command import replay_command

        return replay_command(args, problems[0] if problems else None)
    from gnarl_runtime.commands.work.check_command import check_command

    return check_command(args, problems)


def _verify(args: argparse.Namespace) -> None:
    if not args.specs and not args.replay:
        raise UsageError(
            "no spec given; expected a .gnarl file or the name of a shipped spec\n"
            "For example: gnarl-check bfs (more with --help)"
        )
    if args.replay and len(args.specs) > 1:
        raise UsageError(f"--replay takes at most one spec, found {len(args.specs)}")
    if args.replay and args.param and not args.specs:
        raise UsageError("-p needs a spec to set params of; a saved counterexample has its own")
    outputs = {"--png": args.png, "--dot": args.dot}
    verify_outputs(outputs, [*args.specs, args.replay, args.save])
    verify_checking(FLAGS, args.max_nodes, args.examples, args.states, args.seed)
    verify_least(FLAGS, "jobs", args.jobs, 1)
    if args.jobs > 1:
        require_extra("sweep", "joblib")


if __name__ == "__main__":
    raise SystemExit(main())
