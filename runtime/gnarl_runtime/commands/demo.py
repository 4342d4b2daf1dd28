"""The shipped BFS spec in, a policy that was trained on small graphs and solves large ones out.

Run `python -m gnarl_runtime.commands.demo --help`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnarl_dsl.model import Problem
    from gnarl_runtime.checkpoints.recipe import Recipe
    from gnarl_runtime.network.policy import Policy
    from gnarl_runtime.search.outcomes import Outcomes

SPEC = "bfs"
NODES = 64
UPDATES = 250
LARGEST_SEED = 2**32 - 1
LINE = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 if it ran, 1 if it could not, 130 if it was interrupted."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options.seed, options.graphs, options.updates)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gnarl_runtime.commands.demo",
        description="Train a policy for breadth-first search on graphs of up to 16 nodes, by "
        "imitating the expert in the spec, and let it solve graphs of 64. Takes about a minute.",
    )
    parser.add_argument(
        "--seed", type=_whole(0, LARGEST_SEED), default=0, help="seed of all randomness (0)"
    )
    parser.add_argument(
        "--graphs", type=_whole(1, 300), default=20, help="how many 64-node graphs to solve (20)"
    )
    parser.add_argument(
        "--updates", type=_whole(1, 10_000), default=UPDATES, help=f"of training ({UPDATES})"
    )
    return parser


def _whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers within bounds, for argparse."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"expected a whole number from {least} to {most}, found {text!r}"
            )
        return int(text)

    return read


def _run(seed: int, graphs: int, updates: int) -> int:
    began = time.monotonic()
    print(f"GNARL: from the spec `{SPEC}` to a policy. Loading…", flush=True)
    import gnarl_dsl as gnarl
    from gnarl_runtime.checkpoints.recipe_files import change_recipe, load_recipe
    from gnarl_runtime.network.policy import prepare_torch

    prepare_torch(1)
    problem = gnarl.load(SPEC)
    recipe = change_recipe(load_recipe(SPEC), [f"bc.updates={updates}"])
    policy = _train(problem, recipe, seed)
    _show(problem, _solve(problem, policy, graphs, seed))
    print(f"{time.monotonic() - began:.0f} s in all", flush=True)
    print(f"Play with it in the browser: {_play()} specs/{SPEC}.gnarl", flush=True)
    return 0


def _play() -> str:
    """The command as it can be typed here."""
    path = Path(sys.executable).with_name("gnarl-play")
    here = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return str(here) if path.exists() else path.name


def _train(problem: Problem, recipe: Recipe, seed: int) -> Policy:
    from gnarl_runtime.commands.work.progress import Progress
    from gnarl_runtime.training.trainers import make_trainer

    sizes = "graphs of 4 to 16 nodes"
    print(f"Compiling, then training on {sizes} by imitating `{problem.experts[0].name}`")
    print("  (the first time, compiling takes some 15 s)", flush=True)
    states, loss = 0.0, 0.0
    with Progress(SPEC) as progress:
        progress("compiling", 0, 1)
        trainer = make_trainer(problem, recipe, seed)
        while trainer.done < trainer.updates:
            metrics = trainer.update()
            states, loss = states + metrics["states"], metrics["loss"]
            progress("training", trainer.done, trainer.updates)
    print(
        f"  100 %  {states:,.0f} states labelled, divergence from the expert {loss:.4f}", flush=True
    )
    return trainer.best_policy()


def _solve(problem: Problem, policy: Policy, graphs: int, seed: int) -> Outcomes:
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.instances.pools import draw_pool
    from gnarl_runtime.search.rollout import Keep, play

    print(f"Solving {graphs} fresh graphs of {NODES} nodes", flush=True)
    compiled = compile_for(problem)
    pool = draw_pool(
        problem, count=graphs, nodes=NODES, seed=seed, split="test", oracles=compiled.oracles
    )
    return play(policy, compiled, pool, keep=Keep(picks=True))


def _show(problem: Problem, outcomes: Outcomes) -> None:
    print(f"{NODES}-node graphs solved: {int(outcomes.success.sum())} of {len(outcomes)}")
    assert outcomes.picks is not None
    print(_rounds(problem, outcomes.picks[0]))


def _rounds(problem: Problem, picks: tuple[int, ...]) -> str:
    """The rounds of an episode on one line, as far as they fit."""
    size = 1 if problem.may_skip else len(problem.phases)
    rounds = [picks[k : k + size] for k in range(0, len(picks), size)]
    line = f"Graph 1, {' > '.join(phase.name for phase in problem.phases)}:"
    for number, own in enumerate(rounds):
        word = ">".join(map(str, own))
        if len(line) + len(word) > LINE - 20:
            return f"{line} … ({len(rounds) - number} more)"
        line = f"{line} {word}"
    return line


if __name__ == "__main__":
    sys.exit(main())
