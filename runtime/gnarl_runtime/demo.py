"""The shipped BFS spec goes in, a policy that was trained on small graphs and solves large ones
comes out. Run `python -m gnarl_runtime.demo --help`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnarl_dsl.model import Problem
    from gnarl_runtime.imitation import Recipe, Report
    from gnarl_runtime.play import Played
    from gnarl_runtime.policy import Policy

SPEC = "bfs"
LARGEST_SEED = 2**32 - 1
LINE = 100


class Ticker:
    """Prints where a long job of a known number of steps stands, about once a second."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.start: tuple[float, int] | None = None
        self.printed = 0.0

    def tell(self, step: int, text: str) -> None:
        now = time.monotonic()
        if self.start is None:
            self.start = now, step  # not earlier: the first step is slow and says little
        if now - self.printed < 1.0 and step < self.steps:
            return
        self.printed = now
        done = f"  {100 * step // self.steps:3d} %  {text}"
        print(f"{done}, {self._left(now, step)}", flush=True)

    def _left(self, now: float, step: int) -> str:
        began, first = self.start or (now, step)
        if step == first:
            return "time left unknown"
        return f"about {(now - began) / (step - first) * (self.steps - step):.0f} s left"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; 0 if it ran, 1 if it could not, 130 if it was interrupted."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options.seed, options.graphs, options.quick)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gnarl_runtime.demo",
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
        "--quick", action="store_true", help="train a third as long; some graphs may fail"
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


def _run(seed: int, graphs: int, quick: bool) -> int:
    began = time.monotonic()
    # Threads that wait by spinning stall for seconds at a time when other programs are busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    print(f"GNARL: from the spec `{SPEC}` to a policy. Loading…", flush=True)
    from gnarl_runtime.imitation import Recipe
    from gnarl_runtime.policy import prepare_torch

    prepare_torch(os.cpu_count() or 1)
    problem = _problem()
    if problem is None:
        return 1
    recipe = Recipe()
    recipe = replace(recipe, updates=recipe.updates // 3) if quick else recipe
    policy = _train(problem, recipe, seed)
    _show(problem, _solve(problem, policy, graphs, seed))
    print(f"{time.monotonic() - began:.0f} s in all", flush=True)
    return 0


def _problem() -> Problem | None:
    """The shipped spec, or None after saying what is wrong with it."""
    import gnarl_dsl as gnarl
    from gnarl_dsl.specs import find_spec

    path = find_spec(SPEC)
    if path is None:
        print(f"the spec `{SPEC}` is missing: reinstall GNARL", file=sys.stderr)
        return None
    try:
        return gnarl.load(path)
    except gnarl.SpecError as error:
        print(error, file=sys.stderr)
        return None


def _train(problem: Problem, recipe: Recipe, seed: int) -> Policy:
    from gnarl_runtime.draws import Source
    from gnarl_runtime.imitation import imitate

    expert = problem.experts[0].name
    print(f"Training on {Source(problem, 'train').label()} by imitating `{expert}`", flush=True)
    ticker = Ticker(recipe.updates)

    def progress(report: Report) -> None:
        text = f"{report.states} states labelled, divergence from the expert {report.loss:.4f}"
        ticker.tell(report.update, text)

    return imitate(problem, recipe, seed, progress)


def _solve(problem: Problem, policy: Policy, graphs: int, seed: int) -> list[Played]:
    from gnarl_runtime.draws import Source
    from gnarl_runtime.play import play_best

    source = Source(problem, "test")
    print(f"Solving {graphs} fresh graphs from {source.label()}", flush=True)
    instances = [source.draw(seed, number) for number in range(graphs)]
    steps = len(problem.phases) * (source.largest() - 1)  # the horizon of this spec: n - 1 rounds
    ticker = Ticker(steps)
    return play_best(problem, policy, instances, lambda step: ticker.tell(step, f"pick {step}"))


def _show(problem: Problem, played: list[Played]) -> None:
    nodes = played[0].state.n
    solved = sum(episode.correct for episode in played)
    print(f"{nodes}-node graphs solved: {solved} of {len(played)}")
    print(_picks(problem, played[0]))


def _picks(problem: Problem, episode: Played) -> str:
    """The rounds of an episode on one line, as far as they fit."""
    size = len(problem.phases)
    rounds = [episode.picks[k : k + size] for k in range(0, len(episode.picks), size)]
    line = f"Graph 1, {' > '.join(phase.name for phase in problem.phases)}:"
    for number, picks in enumerate(rounds):
        word = ">".join(map(str, picks))
        if len(line) + len(word) > LINE - 20:
            return f"{line} … ({len(rounds) - number} more)"
        line = f"{line} {word}"
    return line


if __name__ == "__main__":
    sys.exit(main())
