"""The work of `gnarl-solve`: parsed arguments in, solutions on standard output, exit code out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.checkpoints.targets import Target, load_target, with_params
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.check_command import write
from gnarl_runtime.commands.work.eval_command import failures_explained
from gnarl_runtime.commands.work.watcher import Watcher
from gnarl_runtime.evaluation.scales import unusual_scales
from gnarl_runtime.evaluation.solution_text import solution_document, solution_text
from gnarl_runtime.evaluation.solving import Attempts, Solution, solve
from gnarl_runtime.evaluation.summary import plain
from gnarl_runtime.evaluation.tables import machine
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.readers.read import Imported, read_graphs
from gnarl_runtime.search.players import ReplayError


def solve_command(args: argparse.Namespace) -> int:
    """Load, solve, show, write; 1 if a solution is known to be wrong."""
    prepare_torch(args.threads)
    target = load_target(args.checkpoint, args.spec, parse_params(args.param))
    with failures_explained(target.problem):
        graphs = read_graphs(
            args.data, target.problem, seed=args.seed, rounded=args.rounded, repair=args.repair
        )
        notes_about(target.problem, graphs, args.rescale)
        solutions = _solve(target, graphs, args)
    for number, solution in enumerate(solutions):
        title = args.data if len(solutions) == 1 else f"{args.data}, graph {number}"
        write(solution_text(target.problem, solution, title))
    if args.out:
        _write(Path(args.out), target, solutions, args)
    wrong = any(s.valid is False or s.correct is False for s in solutions)
    return FAILED if wrong else OK


def _solve(target: Target, graphs: Sequence[Imported], args: argparse.Namespace) -> list[Solution]:
    temperature = target.temperature(args.temperature)
    attempts = Attempts(temperature, args.samples, args.seed, args.rescale, args.max_rounds)
    with Watcher(target.problem.name) as progress:
        try:
            return solve(target.policy, target.problem, graphs, attempts, progress)
        except ReplayError as error:
            raise Failure(
                f"--rescale: {error}; what may be picked in {target.problem.name} depends on the "
                "size of numbers, so it cannot be solved in other units"
            ) from error


def notes_about(problem: Problem, graphs: Sequence[Imported], rescale: bool) -> None:
    """What a user should know before trusting the result, on standard error."""
    notes = [note for graph in graphs for note in graph.notes]
    if not problem.deployable:
        notes.append(reference_note(problem))
    scales = [] if rescale else unusual_scales(problem, graphs)
    notes += [f"{scale}; --rescale shows the network the usual size" for scale in scales]
    for note in dict.fromkeys(notes):
        print(f"note: {note}", file=sys.stderr)


def reference_note(problem: Problem) -> str:
    """That the end of an episode is decided by a reference solution, and how to do without."""
    text = f"{problem.name} ends its episodes by comparing with a reference, which is solved first"
    for param in problem.params:
        for choice in param.choices:
            if choice != param.value and _is_deployable(problem, param.name, choice):
                return f"{text}; -p {param.name}={choice} does without"
    return text


def _is_deployable(problem: Problem, param: str, choice: str) -> bool:
    try:
        return with_params(problem, {param: choice}).deployable
    except UsageError:
        return False


def _write(
    path: Path, target: Target, solutions: Sequence[Solution], args: argparse.Namespace
) -> None:
    found = {
        "solutions": [solution_document(target.problem, solution) for solution in solutions],
        "data": args.data,
        "seed": args.seed,
        "temperature": target.temperature(args.temperature),
        "samples": args.samples,
        "rescale": args.rescale,
        "max_rounds": args.max_rounds,
        **target.provenance(),
        **machine(),
    }
    text = json.dumps(plain(found), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    write_whole(path, text.encode())
