"""`gnarl-train`: arguments in, a trained policy in a run folder out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.api.asked import FLAGS, verify_least, verify_training
from gnarl_runtime.api.recipe_choice import choose_recipe, run_name, verify_recipe
from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import parse_changes, policy_settings
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import add_extern, add_param, add_seed, command_parser
from gnarl_runtime.training.team.started import follows, is_worker, worker_count

EXAMPLES = """
  gnarl-train --spec specs/bfs.gnarl                        the spec's own recipe
  gnarl-train --spec my.gnarl --minutes 10                  no recipe: one is chosen by a race
  gnarl-train --spec specs/tsp.gnarl --recipe tsp_ppo       another one
  gnarl-train --spec my.gnarl --set lr=1e-3 --set rounds=3  a recipe with changes
  gnarl-train --spec bellman_ford --minutes 5 --seed 1      as many updates as fit into the time
  gnarl-train --spec tsp --recipe tsp_ppo --pretrained tsp  from the shipped weights on
  gnarl-train --spec tsp --data tours                       instances that gnarl-draw has drawn
  gnarl-train --spec tsp --workers 4                        four processes share the graphs
  gnarl-train --resume runs/bfs-seed0                       go on where a run stopped
"""


def build_parser() -> argparse.ArgumentParser:
    parser = command_parser(
        "gnarl-train",
        "Train a policy on a spec. Everything about the run goes into one folder.",
        EXAMPLES,
        ok="trained",
        failed="the spec has mistakes, or no policy could be kept",
    )
    add = parser.add_argument
    add("--spec", metavar="SPEC", help="a .gnarl file or a shipped spec's name")
    add("--recipe", metavar="NAME", help="a TOML file, a shipped recipe's name, or auto")
    setting = "change a setting of the recipe"
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes", help=setting)
    add_param(parser)
    add_extern(parser, accept=True)
    add_seed(parser, "everything random", default=None)
    add("--from", type=Path, metavar="RUN", dest="source", help="start from a run's best weights")
    add("--pretrained", metavar="NAME", help="start from weights that are shipped")
    add("--data", type=Path, metavar="DIR", help="play the instances of a folder of gnarl-draw")
    add("--minutes", type=float, metavar="T", help="train as long as that, instead of updates")
    add("--device", metavar="NAME", help="of the policy, such as cuda (default cpu)")
    add("--threads", type=int, metavar="K", help="of the policy on a CPU (default 1)")
    add("--workers", type=int, metavar="N", help="processes that share the graphs (default 1)")
    add("--out", type=Path, metavar="DIR", help="the run folder (default runs/NAME-seedN)")
    add("--resume", type=Path, metavar="RUN", help="continue this run")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-train", lambda: _train(argv))


def _train(argv: Sequence[str] | None) -> int:
    if follows():
        from gnarl_runtime.commands.work.train_command import follow_command

        return follow_command()
    args = build_parser().parse_args(argv)
    if args.workers is not None:
        verify_least(FLAGS, "workers", args.workers, 1)
    if (args.workers or 1) > 1 and not is_worker():
        return _launch(args, sys.argv[1:] if argv is None else argv)
    return _train_here(args)


def _launch(args: argparse.Namespace, argv: Sequence[str]) -> int:
    """As many processes as are wanted, once what can be told without torch has been."""
    asked = None if args.resume is not None else _asked(args)
    out = args.resume if asked is None else asked.out
    from gnarl_runtime.training.team.launch import launch_workers

    return launch_workers(argv, args.workers, args.threads or 1, out)


def _train_here(args: argparse.Namespace) -> int:
    if (args.spec is None) == (args.resume is None):
        raise UsageError("expected --spec SPEC, or --resume RUN to continue a run")
    if args.resume is not None:
        return _resume(args)
    asked = _asked(args)
    # torch takes seconds to import; mistakes above are reported without waiting for it.
    from gnarl_runtime.api.train_policy import Request
    from gnarl_runtime.commands.work.train_command import start_command

    threads, device = args.threads or 1, args.device or "cpu"
    request = Request(
        *(asked.problem, asked.recipe, asked.name, asked.seed, threads, device),
        *(asked.weights, policy_settings(asked.changes), asked.changes),
        workers=worker_count(),
    )
    return start_command(request, asked.out, args.minutes, args.extern)


@dataclass(frozen=True)
class _Asked:
    """What the flags come to, found without torch."""

    problem: Problem
    recipe: Recipe
    name: str
    seed: int
    weights: Path | None
    changes: dict[str, Any]
    out: Path


def _asked(args: argparse.Namespace) -> _Asked:
    if (args.spec is None) == (args.resume is None):
        raise UsageError("expected --spec SPEC, or --resume RUN to continue a run")
    verify_training(FLAGS, args.minutes, args.threads, args.seed)
    problem = load_problem(args.spec, parse_params(args.param), args.allow_costly, args.extern)
    weights = _weights(args)
    changes = parse_changes(args.changes)
    if args.data is not None:
        changes["data.shards"] = str(args.data.resolve())
    name, recipe = choose_recipe(problem, args.recipe, changes, "--set")
    if recipe.params:
        given = {**{k: str(v) for k, v in recipe.params.items()}, **parse_params(args.param)}
        problem = load_problem(args.spec, given, args.allow_costly, problem.code)
    verify_recipe(problem, recipe, name)
    seed = args.seed or 0
    out = args.out or Path("runs") / run_name(problem, name, seed)
    return _Asked(problem, recipe, name, seed, weights, changes, out)


def _resume(args: argparse.Namespace) -> int:
    flags = {"changes": "--set", "source": "--from", "allow_costly": "--allow-costly"}
    own = ("resume", "extern", "accept_extern", "workers")
    others = {name: value for name, value in vars(args).items() if name not in own}
    given = [flags.get(name, f"--{name}") for name, value in others.items() if value]
    if given:
        raise UsageError(f"{given[0]} cannot change a run that is continued; start a new one")
    from gnarl_runtime.commands.work.train_command import resume_command

    return resume_command(args.resume, args.extern, args.accept_extern)


def _weights(args: argparse.Namespace) -> Path | None:
    """The checkpoint to start from, if one is named."""
    if args.source is None and args.pretrained is None:
        return None
    given = None if args.source is None else str(args.source)
    return Path(chosen_checkpoint(given, args.pretrained, "--from RUN"))


if __name__ == "__main__":
    raise SystemExit(main())
