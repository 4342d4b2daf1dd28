"""`gnarl-train`: arguments in, a trained policy in a run folder out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_dsl.spec_arguments import load_problem, parse_params
from gnarl_runtime.checkpoints.pretrained import chosen_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import (
    RecipeError,
    change_recipe,
    default_recipe,
    load_recipe,
    policy_settings,
)
from gnarl_runtime.commands.console import run_command
from gnarl_runtime.commands.options import add_param, add_seed, command_parser

EXAMPLES = """
  gnarl-train --spec specs/bfs.gnarl                        the spec's own recipe
  gnarl-train --spec specs/tsp.gnarl --recipe tsp_ppo       another one
  gnarl-train --spec my.gnarl --set lr=1e-3 --set rounds=3  a recipe with changes
  gnarl-train --spec bellman_ford --minutes 5 --seed 1      as many updates as fit into the time
  gnarl-train --spec tsp --recipe tsp_ppo --pretrained tsp  from the shipped weights on
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
    add("--recipe", metavar="NAME", help="a TOML file or a shipped recipe's name")
    setting = "change a setting of the recipe"
    add("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes", help=setting)
    add_param(parser)
    add_seed(parser, "everything random", default=None)
    add("--from", type=Path, metavar="RUN", dest="source", help="start from a run's best weights")
    add("--pretrained", metavar="NAME", help="start from weights that are shipped")
    add("--minutes", type=float, metavar="T", help="train as long as that, instead of updates")
    add("--device", metavar="NAME", help="of the policy, such as cuda (default cpu)")
    add("--threads", type=int, metavar="K", help="of the policy on a CPU (default 1)")
    add("--out", type=Path, metavar="DIR", help="the run folder (default runs/NAME-seedN)")
    add("--resume", type=Path, metavar="RUN", help="continue this run")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_command("gnarl-train", lambda: _train(build_parser().parse_args(argv)))


def _train(args: argparse.Namespace) -> int:
    if (args.spec is None) == (args.resume is None):
        raise UsageError("expected --spec SPEC, or --resume RUN to continue a run")
    if args.resume is not None:
        return _resume(args)
    _verify(args)
    problem = load_problem(args.spec, parse_params(args.param))
    weights = _weights(args)
    name, recipe = _recipe(problem, args)
    if recipe.params:
        given = {**{k: str(v) for k, v in recipe.params.items()}, **parse_params(args.param)}
        problem = load_problem(args.spec, given)
    _verify_recipe(problem, recipe)
    seed = args.seed or 0
    out = args.out or Path("runs") / f"{name}-seed{seed}"
    # torch takes seconds to import; mistakes above are reported without waiting for it.
    from gnarl_runtime.commands.work.train_command import Request, start

    threads, device = args.threads or 1, args.device or "cpu"
    chosen = policy_settings(args.changes)
    request = Request(problem, recipe, name, seed, threads, device, weights, chosen)
    return start(request, out, args.minutes)


def _resume(args: argparse.Namespace) -> int:
    flags = {"changes": "--set", "source": "--from"}
    others = {name: value for name, value in vars(args).items() if name != "resume"}
    given = [flags.get(name, f"--{name}") for name, value in others.items() if value]
    if given:
        raise UsageError(f"{given[0]} cannot change a run that is continued; start a new one")
    from gnarl_runtime.commands.work.train_command import resume

    return resume(args.resume)


def _verify(args: argparse.Namespace) -> None:
    if args.minutes is not None and not 0 < args.minutes <= 60 * 24 * 30:
        raise UsageError(f"--minutes {args.minutes:g}: expected a positive number of minutes")
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"--threads {args.threads}: expected at least 1")
    if args.seed is not None and args.seed < 0:
        raise UsageError(f"--seed {args.seed}: expected 0 or more")


def _weights(args: argparse.Namespace) -> Path | None:
    """The checkpoint to start from, if one is named."""
    if args.source is None and args.pretrained is None:
        return None
    given = None if args.source is None else str(args.source)
    return Path(chosen_checkpoint(given, args.pretrained, "--from RUN"))


def _recipe(problem: Problem, args: argparse.Namespace) -> tuple[str, Recipe]:
    try:
        if args.recipe is None:
            name, recipe = default_recipe(problem)
        else:
            name, recipe = Path(args.recipe).stem, load_recipe(args.recipe)
        return name, change_recipe(recipe, args.changes)
    except RecipeError as error:
        raise UsageError(str(error)) from None


def _verify_recipe(problem: Problem, recipe: Recipe) -> None:
    """What the recipe names must be in the spec."""
    experts = [expert.name for expert in problem.experts]
    rewards = [entry.name for entry in problem.objectives] + [r.name for r in problem.rewards]
    sets = [entry.name for entry in problem.instances]
    for what, wanted, known, needed in (
        ("expert", recipe.bc.expert, experts, "bc" in recipe.trainer),
        ("reward or objective", recipe.ppo.reward, rewards, "ppo" in recipe.trainer),
        ("instance set", recipe.data.instances, sets, True),
    ):
        if needed and not known:
            raise UsageError(f"{problem.name} has no {what}, which {recipe.trainer} training needs")
        if wanted is not None and wanted not in known and needed:
            raise UsageError(f"{problem.name} has no {what} {wanted}; it has: {', '.join(known)}")


if __name__ == "__main__":
    raise SystemExit(main())
