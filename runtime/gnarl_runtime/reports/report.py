"""`gnarl-report`: a run in, one page about it out."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.api.asked import FLAGS, verify_least
from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint
from gnarl_runtime.commands.console import run_command, write
from gnarl_runtime.commands.options import OK, add_extern, add_param, add_seed, command_parser
from gnarl_runtime.commands.work.arguments import (
    CHECKPOINT,
    parse_names,
    parse_sizes,
    verify_file_to_write,
    verify_run,
)
from gnarl_runtime.commands.work.outputs import verify_outputs
from gnarl_runtime.search.strategy import parse_searches

EXAMPLES = """
  gnarl-report runs/mvc                           report.html: figures, curves, episodes, failures
  gnarl-report runs/mvc -o appendix.md            the same as Markdown, without the episodes
  gnarl-report --pretrained bfs --sizes 16,64 -o bfs.html
  gnarl-report runs/tsp --search sample:64,time:5 --minutes 10
"""
SEARCH = "sample:16,beam:8,time:1"
MINUTES, GRAPHS = 2.0, 100
MOST_GRAPHS = 10_000
PAGE, TEXT = (".html", ".htm"), (".md", ".markdown")


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-report",
        "Write a report about a trained policy that can be sent as it is: what was trained, its "
        "curves, how good it is beside the experts and the optimum, what searches add over time, "
        "where it fails, and three episodes to step through. One file, which fetches nothing.",
        EXAMPLES,
        ok="written",
        failed="the checkpoint, the spec or the data are at fault",
    )
    add = parser.add_argument
    add("run", nargs="?", metavar="RUN", help=CHECKPOINT)
    add("--pretrained", metavar="NAME", help="the shipped weights for a problem instead")
    add("-o", "--out", metavar="FILE", help="report.html, or a name that ends in .md")
    add("--markdown", action="store_true", help="as Markdown; without -o to standard output")
    add("--sizes", metavar="N,N", help="numbers of nodes (default: those of the test split)")
    add("--graphs", type=int, default=GRAPHS, metavar="K", help=f"per size (default {GRAPHS})")
    known = "who plays beside it (default: every expert without an oracle, and random)"
    add("--against", metavar="NAME,NAME", help=known)
    add("--search", default=SEARCH, metavar="HOW,HOW", help=f"searches to try (default {SEARCH})")
    told = f"processor time; what is not done then is left out and named (default {MINUTES:g})"
    add("--minutes", type=float, default=MINUTES, metavar="M", help=told)
    add_seed(parser, "graphs and drawn picks")
    add("--threads", type=int, default=1, metavar="K", help="of the network (default 1)")
    add_param(parser)
    add_extern(parser, accept=True)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    words = sys.argv[1:] if argv is None else argv
    return run_command("gnarl-report", lambda: _report(args, shlex.join(["gnarl-report", *words])))


def _report(args: argparse.Namespace, command: str) -> int:
    verify_arguments(args)
    # Torch and the rest are loaded once the command line makes sense.
    from gnarl_runtime.api.policies import load_policy, torch_set_up
    from gnarl_runtime.commands.work.progress import Progress
    from gnarl_runtime.reports.gather import Request, gather

    asked = Request(
        parse_sizes(args.sizes),
        args.graphs,
        parse_names("--against", args.against),
        args.search,
        60 * args.minutes,
        args.seed,
        command,
    )
    with torch_set_up(args.threads):
        params, extern = parse_params(args.param), tuple(args.extern)
        trained = load_policy(args.run, None, params, extern, args.accept_extern)
        with Progress(trained.problem.name) as progress:
            report = gather(trained, asked, progress)
    if args.markdown:
        from gnarl_runtime.reports.as_markdown import markdown_of

        curves = Path(args.run) / "curves.png"
        text = markdown_of(report, curves if curves.is_file() else None)
    else:
        from gnarl_runtime.reports.as_html import html_of

        text = html_of(report)
    if args.out is None:
        write(text)
        return OK
    from gnarl_compiler.build.files import write_whole

    write_whole(Path(args.out), text.encode())
    missing = (
        f"; left out for lack of time: {', '.join(report.left_out)}" if report.left_out else ""
    )
    print(f"{args.out}: {report.title}, {len(text) / 1e6:.1f} MB, {report.seconds:.0f} s{missing}")
    return OK


def verify_arguments(args: argparse.Namespace) -> None:
    """Raise a UsageError for what makes no sense, before anything slow happens."""
    args.run = chosen_checkpoint(args.run, args.pretrained, CHECKPOINT)
    verify_run(args.run)
    if args.out is not None and Path(args.out).suffix.lower() in TEXT:
        args.markdown = True
    if args.out is None and not args.markdown:
        args.out = "report.html"
    verify_file_to_write("--out", args.out, TEXT if args.markdown else PAGE)
    verify_outputs({"--out": args.out}, [args.run])
    parse_sizes(args.sizes)
    parse_names("--against", args.against)
    args.search = parse_searches(args.search) if args.search else ()
    parse_params(args.param)
    verify_least(FLAGS, "graphs", args.graphs, 1)
    verify_least(FLAGS, "threads", args.threads, 1)
    verify_least(FLAGS, "seed", args.seed, 0)
    if args.graphs > MOST_GRAPHS:
        raise UsageError(f"--graphs {args.graphs}: expected at most {MOST_GRAPHS:,}")
    if not 0 < args.minutes < float("inf"):
        raise UsageError(f"--minutes {args.minutes:g}: expected a number above 0")


if __name__ == "__main__":
    raise SystemExit(main())
