"""The work of `gnarl-solve`: parsed arguments in, solutions on standard output, exit code out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.given_graphs import own_graphs
from gnarl_runtime.api.policies import load_policy, torch_set_up
from gnarl_runtime.api.solve_graphs import Solution, notes_about, run_solve
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.commands.arguments import other_problem
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.evaluation.solution_text import solution_text
from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.evaluation.summary import plain
from gnarl_runtime.evaluation.tables import machine


def solve_command(args: argparse.Namespace) -> int:
    """Load, solve, show, write; 1 if a solution is known to be wrong."""
    with torch_set_up(args.threads):
        trained = load_policy(args.checkpoint, *other_problem(args))
        problem = trained.problem
        graphs = own_graphs(
            problem, args.data, seed=args.seed, rounded=args.rounded, repair=args.repair
        )
        notes = notes_about(problem, graphs, args.rescale, FLAGS)
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        attempts = attempts_of(args, trained)
        with Progress(problem.name) as progress:
            solutions = run_solve(trained, graphs, attempts, args.data, notes, FLAGS, progress)
    for solution in solutions:
        write(solution_text(problem, solution.episode, solution.title))
    if args.out:
        _save(Path(args.out), trained, solutions, args)
    return FAILED if any(solution.wrong for solution in solutions) else OK


def attempts_of(args: argparse.Namespace, trained: TrainedPolicy) -> Attempts:
    temperature = trained.temperature(args.temperature)
    return Attempts(temperature, args.samples, args.seed, args.rescale, args.max_rounds)


def _save(
    path: Path, trained: TrainedPolicy, solutions: Sequence[Solution], args: argparse.Namespace
) -> None:
    found = {
        "solutions": [solution.to_dict() for solution in solutions],
        "data": args.data,
        "seed": args.seed,
        "temperature": trained.temperature(args.temperature),
        "samples": args.samples,
        "rescale": args.rescale,
        "max_rounds": args.max_rounds,
        **trained.provenance(),
        **machine(),
    }
    text = json.dumps(plain(found), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    write_whole(path, text.encode())
