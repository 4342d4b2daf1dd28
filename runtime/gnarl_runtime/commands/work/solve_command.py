"""The work of `gnarl-solve`: parsed arguments in, solutions on standard output, exit code out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.given_graphs import own_graphs
from gnarl_runtime.api.policies import torch_set_up
from gnarl_runtime.api.solve_graphs import (
    Solution,
    Unaided,
    graph_title,
    notes_about,
    preferred_searches,
    run_solve,
    solving_subject,
)
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import FAILED, OK
from gnarl_runtime.commands.work.arguments import other_problem
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.evaluation.solution_text import solution_text
from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.evaluation.summary import plain
from gnarl_runtime.evaluation.tables import machine
from gnarl_runtime.search.task import Improved, Moment

_FOLLOWED = 8  # graphs whose improvements can be read as they come


def solve_command(args: argparse.Namespace) -> int:
    """Load, solve, show, write; 1 if a solution is known to be wrong."""
    with torch_set_up(args.threads):
        subject = solving_subject(args.checkpoint, *other_problem(args))
        problem = subject.problem
        graphs = own_graphs(
            problem, args.data, seed=args.seed, rounded=args.rounded, repair=args.repair
        )
        notes = notes_about(subject, graphs, args.rescale, FLAGS)
        strategies = [args.search] * len(graphs)
        if args.silent_search:
            strategies, warned = preferred_searches(subject, graphs, args.search, FLAGS)
            notes = (*warned, *notes)
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        drawn = subject.temperature(args.temperature)
        attempts = [
            Attempts(own, drawn, args.seed, args.rescale, args.max_rounds) for own in strategies
        ]
        with Progress(problem.name) as progress:
            solutions = run_solve(
                *(subject, graphs, attempts, args.data, notes, FLAGS, progress),
                improved=_teller(progress, problem, args.data, len(graphs)),
            )
    for solution in solutions:
        write(solution_text(problem, solution.episode, solution.title))
    if args.out:
        _save(Path(args.out), subject, solutions, args)
    return FAILED if any(solution.wrong for solution in solutions) else OK


def _teller(progress: Progress, problem: Problem, name: str, count: int) -> Improved:
    """Says what gets better as it does, unless there are too many graphs to follow."""

    def tell(number: int, moment: Moment) -> None:
        if count <= _FOLLOWED:
            what = problem.objectives[0].name if problem.objectives else "picks"
            value = 0.0 + (moment.value if problem.objectives else -moment.value)  # 0 is not -0
            told = f"{what} {value:.6g}, {moment.seconds:.2f} s, {moment.decisions:,} decisions"
            progress.say(f"{graph_title(name, number, count)}: {told}")

    return tell


def _save(
    path: Path,
    subject: TrainedPolicy | Unaided,
    solutions: Sequence[Solution],
    args: argparse.Namespace,
) -> None:
    found = {
        "solutions": [solution.to_dict() for solution in solutions],
        "data": args.data,
        "seed": args.seed,
        "temperature": subject.temperature(args.temperature),
        "search": ", ".join(dict.fromkeys(str(s.episode.search) for s in solutions)),
        "rescale": args.rescale,
        "max_rounds": args.max_rounds,
        **subject.provenance(),
        **machine(),
    }
    text = json.dumps(plain(found), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    write_whole(path, text.encode())
