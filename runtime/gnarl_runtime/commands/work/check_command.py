"""The work of `gnarl-check`: parsed arguments in, reports on standard output, exit code out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from gnarl_compiler.build.generate import Unsupported
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.report.suggestions import did_you_mean
from gnarl_runtime.checks.explore.board import Uncheckable
from gnarl_runtime.checks.explore.small_graphs import MOST_NODES
from gnarl_runtime.checks.findings.findings import Property, Report
from gnarl_runtime.checks.findings.wishes import PLAIN_NODES, Options
from gnarl_runtime.checks.report.report_json import document
from gnarl_runtime.checks.report.report_text import report_text
from gnarl_runtime.checks.run import check_problem
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.progress_line import ProgressLine


def check_command(args: argparse.Namespace, problems: Sequence[Problem]) -> int:
    """Check every spec and show each report when it is ready; 1 if anything fails."""
    _verify_name("--only", args.only, list(get_args(Property)))
    for problem in problems:
        _verify_problem(problem, args)
    reports = []
    for problem in problems:
        report = _check(problem, options_of(args))
        reports.append(report)
        if args.format == "text":
            write("" if len(reports) == 1 else "\n")
            write(report_text(report, options_of(args)))
        try:
            _save(report, args)
        except OSError as error:
            raise UsageError(f"{error.filename}: {error.strerror or error}") from error
    if args.format == "json":
        write(document(reports, options_of(args)))
    return OK if all(report.passed for report in reports) else FAILED


def options_of(args: argparse.Namespace) -> Options:
    """What the command line asks for."""
    return Options(
        max_nodes=min(args.max_nodes, PLAIN_NODES) if args.fast else args.max_nodes,
        examples=0 if args.fast else args.examples,
        states=args.states,
        seed=args.seed,
        jit=not args.fast,
        only=args.only,
        expert=args.expert,
        lenient=args.lenient,
    )


def _check(problem: Problem, options: Options) -> Report:
    with ProgressLine(problem.name, sys.stderr) as progress:
        try:
            return check_problem(problem, options, progress)
        except Unsupported as error:
            raise Failure(f"{problem.name} cannot be compiled: {error}") from error
        except Uncheckable as error:
            raise Failure(str(error)) from error


def _verify_problem(problem: Problem, args: argparse.Namespace) -> None:
    _verify_name("--expert", args.expert, [expert.name for expert in problem.experts])
    most = MOST_NODES[problem.graph.directed]
    if args.max_nodes > most:
        raise UsageError(
            f"--max-nodes {args.max_nodes}: {problem.name} is about directed graphs, of which "
            f"those of up to {most} nodes can be listed"
        )


def _verify_name(flag: str, given: str | None, known: list[str]) -> None:
    if given is not None and given not in known:
        fix = did_you_mean(given, known)
        has = f"expected one of: {', '.join(known)}" if known else "the spec has none"
        raise UsageError(f"{flag} {given}: {has}" + (f"\n{fix}" if fix else ""))


# Files


def _save(report: Report, args: argparse.Namespace) -> None:
    if not report.failures:
        return
    from gnarl_runtime.checks.witness import pictures as witness_pictures
    from gnarl_runtime.checks.witness import witness_files

    if args.save:
        for number, failure in enumerate(report.failures):
            path = witness_path(Path(args.save), report, number)
            witness_files.write(path, report.problem, failure)
            print(f"wrote {path}", file=sys.stderr)
    writers = ((args.png, witness_pictures.write_png), (args.dot, witness_pictures.write_dot))
    for path, writer in writers:
        if path:
            writer(path, report.problem, report.failures[0])
            print(f"wrote {path}", file=sys.stderr)


def witness_path(base: Path, report: Report, number: int) -> Path:
    """PATH.json for the first failure, or a name of its own in a folder."""
    failure = report.failures[number]
    name = "-".join(filter(None, (report.problem.name, failure.property, failure.expert)))
    if base.suffix == ".json":
        return base if number == 0 else base.with_name(f"{base.stem}-{name}.json")
    base.mkdir(parents=True, exist_ok=True)
    return base / f"{name}.json"


def write(text: str) -> None:
    """Write and flush here, where a closed pipe is expected; other signs where one has no code."""
    if sys.stdout is None:  # closed by whoever started us
        return
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()
