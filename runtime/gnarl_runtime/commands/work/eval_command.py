"""The work of `gnarl-eval`: parsed arguments in, a table on standard output, exit code out."""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnarl_compiler.build.files import write_whole
from gnarl_compiler.build.generate import Unsupported
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split
from gnarl_compiler.instances.generators import GenerationError
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_compiler.support.endings import SpecFault
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_dsl.spec_arguments import parse_params
from gnarl_runtime.checkpoints.provenance import provenance
from gnarl_runtime.checkpoints.spec_texts import params_of
from gnarl_runtime.checkpoints.targets import Target, load_target
from gnarl_runtime.commands.arguments import parse_names, parse_sizes
from gnarl_runtime.commands.options import OK
from gnarl_runtime.commands.work.check_command import write
from gnarl_runtime.commands.work.watcher import Watcher
from gnarl_runtime.evaluation.baselines import UnknownBaseline
from gnarl_runtime.evaluation.evaluate import Evaluation, Plan, evaluate
from gnarl_runtime.evaluation.kept import Kept
from gnarl_runtime.evaluation.plot import write_plot
from gnarl_runtime.evaluation.tables import document, machine, table_text
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.readers.read import InstanceError, read_graphs

_NARROW = 100  # columns without a terminal


def eval_command(args: argparse.Namespace) -> int:
    """Load, evaluate, show, write."""
    began = time.monotonic()
    prepare_torch(args.threads)
    target = load_target(args.checkpoint, args.spec, parse_params(args.param))
    with failures_explained(target.problem):
        plan = plan_of(args, target)
        with kept_beside(args, target, plan) as kept:
            with Watcher(target.problem.name) as progress:
                evaluation = evaluate(target.policy, target.problem, plan, progress, kept)
            if args.json:
                seconds = round(time.monotonic() - began, 3)
                write_json(Path(args.json), target, evaluation, seconds, args.data)
    show(target, evaluation)
    if args.plot:
        write_plot(Path(args.plot), evaluation, heading(target, evaluation))
    return OK


def plan_of(args: argparse.Namespace, target: Target) -> Plan:
    """What the command line asks for."""
    problem = target.problem
    if not args.data:
        require_split(problem, args.split, args.instances)
    return Plan(
        sizes=parse_sizes(args.sizes),
        graphs=args.graphs,
        seed=args.seed,
        split=args.split,
        instances=args.instances,
        data=read_data(args.data, problem, args.seed) if args.data else None,
        temperature=target.temperature(args.temperature),
        samples=args.samples,
        max_rounds=args.max_rounds,
        against=parse_names("--against", args.against),
        reference=args.reference,
        metrics=not args.no_reference,
    )


def kept_beside(args: argparse.Namespace, target: Target, plan: Plan) -> Kept:
    """Where a long evaluation keeps what it has played, until its results are written."""
    if not args.json or plan.data is not None:
        return Kept()
    versions = {name: told for name, told in provenance().items() if name != "date"}
    decides = [target.problem.hash, repr(params_of(target.problem)), repr(plan), repr(versions)]
    digest = hashlib.sha256(target.checkpoint.read_bytes())
    digest.update("\0".join(decides).encode())
    return Kept(Path(f"{args.json}.part"), digest.hexdigest())


def write_json(
    file: Path, target: Target, evaluation: Evaluation, seconds: float, data: str | None
) -> None:
    """All figures, with what they were made from."""
    found = {**target.provenance(), **machine(), "wall_seconds": seconds, "data": data}
    text = json.dumps(document(evaluation, found), indent=2, allow_nan=False) + "\n"
    write_whole(file, text.encode())


def require_split(problem: Problem, split: str, instances: str | None) -> None:
    """A UsageError unless the spec has such instances."""
    try:
        choose_split(problem, split, instances)
    except LookupError as error:
        raise UsageError(str(error)) from error


def read_data(path: str, problem: Problem, seed: int) -> list[Instance]:
    """The graphs of a file; what was drawn or left out is said on standard error."""
    found = read_graphs(path, problem, seed=seed)
    for note in dict.fromkeys(note for instance in found for note in instance.notes):
        print(f"note: {note}", file=sys.stderr)
    return list(found)


@contextmanager
def failures_explained(problem: Problem) -> Iterator[None]:
    """Turn what instances, specs and names can do wrong into messages."""
    try:
        yield
    except UnknownBaseline as error:
        raise UsageError(str(error)) from error
    except Unsupported as error:
        raise Failure(f"{problem.name} cannot be compiled: {error}") from error
    except (InstanceError, GenerationError, SpecRunError, SpecFault) as error:
        raise Failure(str(error)) from error


def show(target: Target, evaluation: Evaluation) -> None:
    """The table, as wide as the terminal."""
    colour = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((_NARROW, 24)).columns if colour else max(_NARROW, 140)
    write(f"{heading(target, evaluation)}\n{table_text(evaluation, width, colour)}")


def heading(target: Target, evaluation: Evaluation) -> str:
    """`mvc, runs/mvc: test graphs, seed 0, ratio to the expert optimal`."""
    plan = evaluation.plan
    source = "given graphs" if plan.data is not None else f"{plan.split} graphs, seed {plan.seed}"
    drawn = f", temperature {plan.temperature:g}" if plan.temperature is not None else ""
    compared = f", ratio to the expert {evaluation.reference}" if evaluation.reference else ""
    return f"{target.problem.name}, {target.checkpoint}: {source}{drawn}{compared}"
