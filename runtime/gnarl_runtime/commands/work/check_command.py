"""The work of `gnarl-check`: parsed arguments in, reports on standard output, exit code out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.check_spec import CheckReport, make_options, run_check, verify_wishes
from gnarl_runtime.checks.findings.findings import Report
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.report.report_json import document
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.progress import Progress


def check_command(args: argparse.Namespace, problems: Sequence[Problem]) -> int:
    """Check every spec and show each report when it is ready; 1 if anything fails."""
    options = options_of(args)
    for problem in problems:
        verify_wishes(problem, options, args.max_nodes, FLAGS)
    reports: list[CheckReport] = []
    for report in _reports(problems, options, args.jobs):
        reports.append(report)
        if args.format == "text":
            write("" if len(reports) == 1 else "\n")
            write(str(report))
        try:
            _save(report.found, args)
        except OSError as error:
            raise UsageError(f"{error.filename}: {error.strerror or error}") from error
    if args.format == "json":
        write(document([report.found for report in reports], options))
    return OK if all(report.ok for report in reports) else FAILED


def _reports(problems: Sequence[Problem], options: Options, jobs: int) -> Iterator[CheckReport]:
    """One after the other, in the order in which they were asked for."""
    if jobs == 1 or len(problems) == 1:
        for problem in problems:
            with Progress(problem.name) as progress:
                report = run_check(problem, options, progress)
            yield report
        return
    from joblib import Parallel, delayed

    work = (delayed(run_check)(problem, options) for problem in problems)
    with Progress() as progress:
        found = Parallel(n_jobs=jobs, backend="loky", return_as="generator")(work)
        for done, report in enumerate(found, 1):
            progress(f"checking, {jobs} at a time", done, len(problems))
            yield report


def options_of(args: argparse.Namespace) -> Options:
    """What the command line asks for."""
    return make_options(
        args.max_nodes,
        args.examples,
        args.states,
        args.seed,
        args.fast,
        args.lenient,
        args.only,
        args.expert,
    )


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
