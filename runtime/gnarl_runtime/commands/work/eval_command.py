"""The work of `gnarl-eval`: parsed arguments in, a table on standard output, exit code out."""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_compiler.instances.draw import choose_split
from gnarl_runtime.api.asked import FLAGS
from gnarl_runtime.api.evaluate_policy import (
    WIDTH,
    Evaluation,
    load_others,
    plan_notes,
    run_evaluation,
    verify_optimum,
)
from gnarl_runtime.api.given_graphs import own_graphs
from gnarl_runtime.api.policies import load_policy, torch_set_up
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.checkpoints.provenance import provenance
from gnarl_runtime.checkpoints.spec_texts import params_of
from gnarl_runtime.commands.console import write
from gnarl_runtime.commands.options import OK
from gnarl_runtime.commands.work.arguments import other_problem, parse_names, parse_sizes
from gnarl_runtime.commands.work.progress import Progress
from gnarl_runtime.evaluation.evaluate import Plan
from gnarl_runtime.evaluation.kept import Kept
from gnarl_runtime.evaluation.plot import write_plot


def eval_command(args: argparse.Namespace) -> int:
    """Load, evaluate, show, write."""
    began = time.monotonic()
    with torch_set_up(args.threads):
        trained = load_policy(args.checkpoint, *other_problem(args))
        verify_optimum(FLAGS, trained.problem, args.optimum)
        others = load_others(trained, args.others, *other_problem(args))
        plan = plan_of(args, trained)
        for note in plan_notes(trained, plan):
            print(f"note: {note}", file=sys.stderr)
        with kept_beside(args, (trained, *others), plan) as kept:
            with Progress(trained.problem.name) as progress:
                evaluation = run_evaluation(
                    trained, plan, began, progress, kept, args.data, others, args.temperature
                )
            if args.json:
                write_whole(Path(args.json), evaluation.to_json().encode())
    show(evaluation)
    if args.plot:
        write_plot(Path(args.plot), evaluation.figures, evaluation.heading)
    return OK


def plan_of(args: argparse.Namespace, trained: TrainedPolicy) -> Plan:
    """What the command line asks for."""
    if not args.data:
        choose_split(trained.problem, args.split, args.instances)
    return Plan(
        sizes=parse_sizes(args.sizes),
        graphs=args.graphs,
        seed=args.seed,
        split=args.split,
        instances=args.instances,
        data=own_graphs(trained.problem, args.data, seed=args.seed) if args.data else None,
        temperature=trained.temperature(args.temperature),
        samples=args.samples,
        max_rounds=args.max_rounds,
        against=parse_names("--against", args.against),
        reference=args.reference,
        metrics=not args.no_reference,
        search=args.search,
        optimum=args.optimum,
        jobs=args.jobs,
    )


def kept_beside(args: argparse.Namespace, runs: Sequence[TrainedPolicy], plan: Plan) -> Kept:
    """Where a long evaluation keeps what it has played, until its results are written."""
    files = [own.path for own in runs if own.path is not None]
    if not args.json or plan.data is not None or len(files) < len(runs):
        return Kept()
    if Path(args.json).exists() and not Path(args.json).is_file():  # nothing is kept by a device
        return Kept()
    versions = {name: told for name, told in provenance().items() if name != "date"}
    problem, asked = runs[0].problem, f"{plan!r} {args.temperature}"
    decides = [problem.hash, repr(params_of(problem)), asked, repr(versions)]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files))
    digest.update("\0".join(decides).encode())
    return Kept(Path(f"{args.json}.part"), digest.hexdigest())


def show(evaluation: Evaluation) -> None:
    """The table, as wide as the terminal."""
    colour = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((100, 24)).columns if colour else WIDTH
    write(evaluation.table(width, colour), styled=colour)
