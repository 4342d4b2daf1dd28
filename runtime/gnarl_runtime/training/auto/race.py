"""Settings and a problem in, the one that learns best in a short time out: successive halving.

All begin from nothing on the same instances. A third of them goes on from where it stands, for
three times as long; the best of those wins. Where single updates use up the time, who has not run
by then does not. Rates do not decay, since nobody knows yet how long training will last, and
averaged weights are compared.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import is_finite
from gnarl_runtime.training.auto.choice import Heat
from gnarl_runtime.training.trainer import Trainer
from gnarl_runtime.training.validate import Scores, Validator

Tell = Callable[[str, int, int], None]
Setting = Mapping[str, str | int | float | bool]  # keys of a recipe with dots
MakeTrainer = Callable[[Problem, Recipe], Trainer]

_ENDLESS = 1_000_000  # updates, so that no rate has decayed yet
_ROUNDS = 2
_SURVIVORS = 3  # one of so many goes on
_PATIENCE = 3.0  # times the share of the time that a busy machine may take


@dataclass
class _Runner:
    setting: Setting
    trainer: Trainer
    seconds: float = 0.0
    latest: float = 0.0  # of these, in the latest round
    out: bool = False


def run_race(
    problem: Problem,
    recipes: Sequence[tuple[Setting, Recipe]],
    make: MakeTrainer,
    validator: Validator,
    seconds: float,
    tell: Tell,
) -> tuple[int, list[Heat]]:
    """The number of the best recipe, and what came of each heat; compiling takes no time."""
    runners = [_Runner(setting, make(problem, endless(recipe))) for setting, recipe in recipes]
    going, heats, spent = list(range(len(runners))), [], 0.0
    for number in range(_ROUNDS):
        share = seconds / _ROUNDS / len(going)
        results = []
        for place, k in enumerate(going):
            if spent > seconds:
                break
            tell(f"race, round {number + 1} of {_ROUNDS}", place, len(going))
            scores = _run(runners[k], validator, share)
            spent += runners[k].latest
            if scores is not None:
                results.append((scores, k))
                heats.append(_heat(runners[k], scores))
        if not results:
            break
        results.sort(key=lambda entry: entry[0].order, reverse=True)  # stable: the first of equals
        going = [k for _, k in results[: max(1, math.ceil(len(going) / _SURVIVORS))]]
        if len(going) <= 1:
            break
    return (going[0] if going else 0), heats


def endless(recipe: Recipe) -> Recipe:
    """The recipe without an end, so that its rates stay as they are."""
    part = recipe.parts[-1]
    longer = getattr(recipe, part).model_copy(update={"updates": _ENDLESS})
    return recipe.model_copy(update={part: longer})


def _run(runner: _Runner, validator: Validator, seconds: float) -> Scores | None:
    """Learn for so long and validate; None if the network came apart."""
    if not runner.trainer.done:
        runner.trainer.update()  # compiles what is not compiled yet
    cpu, wall = time.process_time(), time.monotonic()
    while time.process_time() - cpu < seconds and time.monotonic() - wall < _PATIENCE * seconds:
        loss = runner.trainer.update().get("loss", 0.0)
        if not math.isfinite(loss) or not is_finite(runner.trainer.policy):
            runner.out = True
            return None
    runner.latest = time.process_time() - cpu
    runner.seconds += runner.latest
    return validator.scores(runner.trainer.best_policy())


def _heat(runner: _Runner, scores: Scores) -> Heat:
    return Heat(
        setting=dict(runner.setting),
        seconds=round(runner.seconds, 2),
        updates=runner.trainer.done,
        **scores.metrics,
    )
