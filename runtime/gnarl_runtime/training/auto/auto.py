"""A problem in, a recipe for it out: look who plays well, decide what to learn from, race settings.

What is decided is told in one line, and kept with the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gnarl_compiler.instances.draw import choose_split
from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import set_keys
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.training.auto.choice import RANDOM, Choice, Heat, Standing, best_of
from gnarl_runtime.training.auto.larger import learn_larger, with_larger
from gnarl_runtime.training.auto.race import Setting, run_race
from gnarl_runtime.training.auto.standings import find_standings
from gnarl_runtime.training.boundary.boundary import BoundaryError
from gnarl_runtime.training.boundary.flow import choose_expert, close_lines, flow_of
from gnarl_runtime.training.scaling import training_pool
from gnarl_runtime.training.trainer import Trainer
from gnarl_runtime.training.trainers import make_trainer
from gnarl_runtime.training.validate import make_validator

Tell = Callable[[str, int, int], None]

RACE = 60.0  # seconds at most
_RACE_SHARE = 0.2  # of the time that training may take
_START = 0.5  # of the time of a race is for each expert who may be imitated first
# So much less, of what rewards gain over chance, may an expert teach whose imitation is cheap.
_CLOSE = 0.1
# Of the time for learning: imitation of an expert that looks answers up, and of another one.
_LOOKED_UP, _IMITATED = 0.6, 0.2
# And of what is left for it: what rewards have taught is settled by the best of its episodes. Who
# is ahead after some seconds at a constant rate need not be in the end, so neither goes without.
_SHARES: Mapping[str, Mapping[str, float]] = {
    "ppo": {"ppo": 0.65, "improve": 0.35},
    "improve": {"ppo": 0.5, "improve": 0.5},
}
_PARTS = 3  # of a recipe, at most; each draws its own
_RACE_POOL = 1_000  # instances at most, drawn once for all settings
_DRAWING = 0.2  # of the time for training may be spent on drawing instances, besides

_DEEP: Setting = {"policy.layer_norm": True}
# What differs between problems, by what was seen: whether neighbours are counted (sum) or compared
# (max), whether the graph as a whole matters on average or by its extremes, and how far to look.
IMITATING: Sequence[Setting] = (
    {"policy.aggregation": "max", "policy.pooling": "max", "policy.rounds": 2, "bc.lr": 3e-3},
    {**_DEEP, "policy.aggregation": "max", "policy.pooling": "max", "policy.rounds": 4},
    {**_DEEP, "policy.aggregation": "sum", "policy.pooling": "mean", "policy.rounds": 3},
    {**_DEEP, "policy.rounds": 3, "policy.actor": "product"},
    {**_DEEP, "policy.aggregation": "sum", "policy.rounds": 5, "bc.lr": 1e-3},
    {**_DEEP, "policy.aggregation": "max", "policy.rounds": 6, "bc.lr": 2e-3},
)
_REWARDED: Setting = {**_DEEP, "policy.pooling": "mean"}
REWARDED: Sequence[Setting] = (
    {**_REWARDED, "trainer": "ppo", "policy.aggregation": "sum", "policy.rounds": 3},
    {**_REWARDED, "trainer": "ppo", "policy.aggregation": "max", "policy.rounds": 3},
    {**_REWARDED, "trainer": "improve", "policy.aggregation": "sum", "policy.rounds": 3},
    {**_REWARDED, "trainer": "improve", "policy.aggregation": "max", "policy.rounds": 3},
)


@dataclass(frozen=True)
class Chosen:
    """A recipe, but for the number of its updates: those are a matter of the time there is."""

    recipe: Recipe
    choice: Choice
    shares: tuple[float, ...]  # of the time, by part of the recipe


@dataclass(frozen=True)
class Wish:
    """What is to be trained, and for how long; `base` has what the user set."""

    problem: Problem
    base: Recipe
    seed: int
    minutes: float


def choose_recipe_for(wish: Wish, standings: Sequence[Standing], tell: Tell) -> Chosen:
    """What to learn from follows from who plays how well; the rest is decided by a race."""
    expert, why = decide(wish.problem, standings)
    base = with_larger(wish.problem, wish.base, standings, wish.seed)
    if base.validation.larger is not None:
        wish = replace(wish, base=base)
        standings = find_standings(wish.problem, base, wish.seed, tell)
    choice = Choice(standings=tuple(standings), why=why, expert=expert)
    if not wish.problem.objectives and expert is not None:
        return _imitate(wish, choice, expert, tell)
    return _learn_from_rewards(wish, choice, tell)


def decide(problem: Problem, standings: Sequence[Standing]) -> tuple[str | None, str]:
    """Whom to imitate, if anybody, and why, in a line."""
    chance = next(s for s in standings if s.name == RANDOM)
    best = best_of([s for s in standings if s.name != RANDOM])
    goal = problem.objectives[0].name if problem.objectives else "correct"
    if best is None:
        return None, f"no expert to start from: learning {goal} from rewards alone"
    if best.order <= chance.order:
        return None, (
            f"no expert is better than random picks ({best.name}: {told(best, chance)}): "
            f"learning {goal} from rewards alone"
        )
    if not problem.objectives:
        return best.name, f"imitating {best.name}, which is right most often ({told(best)})"
    return best.name, (
        f"starting from {best.name}, the best expert ({told(best, chance)}), where a race confirms "
        f"that, then improving {goal}"
    )


def told(standing: Standing, chance: Standing | None = None) -> str:
    """`-4.2 against -7.0 by chance`, or how often it succeeds where that is what differs."""
    if standing.objective is None or standing.success < 1:
        text = f"{100 * standing.success:.0f} % right"
        return text if chance is None else f"{text} against {100 * chance.success:.0f} % by chance"
    if chance is None or chance.objective is None:
        return f"{standing.objective:.4g}"
    return f"{standing.objective:.4g} against {chance.objective:.4g} by chance"


# The two ways


def _imitate(wish: Wish, choice: Choice, expert: str, tell: Tell) -> Chosen:
    imitating = {"trainer": "bc", "bc.expert": expert}
    raced = _race(wish, set_keys(wish.base, imitating), IMITATING, _seconds(wish), tell)
    closer = set_keys(raced.recipe, _near_ties(wish.problem, expert))
    closer = learn_larger(wish.problem, closer, choice)
    return Chosen(closer, choice.model_copy(update={"heats": raced.heats}), (1.0,))


def _learn_from_rewards(wish: Wish, choice: Choice, tell: Tell) -> Chosen:
    raced = _race(wish, set_keys(wish.base, PPO), REWARDED, _seconds(wish), tell)
    chosen = raced.recipe
    starts = _try_starts(wish, chosen, choice, tell)
    heats = (*raced.heats, *(heat for heat, _ in starts))
    start = _best_start(raced.winner, starts, choice.standings)
    choice = choice.model_copy(update={"heats": heats, "expert": start})
    shares = _SHARES[chosen.trainer]
    chosen = set_keys(chosen, {"trainer": "+".join(shares)})
    chosen = learn_larger(wish.problem, chosen, choice)
    if choice.expert is None:
        return Chosen(chosen, choice, tuple(shares.values()))
    expert = next(own for own in choice.standings if own.name == choice.expert)
    imitating = {"trainer": f"bc+{chosen.trainer}", **_following(expert), "bc.critic": 0.5}
    share = _LOOKED_UP if expert.reads_oracle else _IMITATED
    later = tuple((1 - share) * part for part in shares.values())
    return Chosen(set_keys(chosen, imitating), choice, (share, *later))


def _following(expert: Standing) -> Setting:
    """Off its own path an expert that looks answers up knows no answer."""
    path = {"bc.expert_share": 1.0, "bc.sampled_share": 0.0} if expert.reads_oracle else {}
    return {"bc.expert": expert.name, **path}


def _try_starts(
    wish: Wish, recipe: Recipe, choice: Choice, tell: Tell
) -> list[tuple[Heat, Standing]]:
    """What a short imitation comes to: of the best expert, and the best that reads no oracle."""
    chance = next(own for own in choice.standings if own.name == RANDOM)
    own = {entry.name: entry for entry in choice.standings}
    experts = [own[choice.expert]] if choice.expert is not None else []
    free = choice.free
    if experts and free is not None and free not in experts and free.order > chance.order:
        experts.append(free)
    found = []
    for expert in experts:
        setting = {"trainer": "bc", **_following(expert)}
        raced = _race(wish, set_keys(recipe, setting), [setting], _START * _seconds(wish), tell)
        found += [(heat, expert) for heat in raced.heats]
    return found


def _best_start(
    winner: Heat | None, starts: Sequence[tuple[Heat, Standing]], standings: Sequence[Standing]
) -> str | None:
    """Who taught best; nobody, if rewards alone taught more in about that time."""
    if not starts:
        return None
    heat, expert = max(starts, key=lambda entry: entry[0].order)
    if winner is None or heat.order >= winner.order:
        return expert.name
    chance = next(own for own in standings if own.name == RANDOM)
    close = winner.reward - heat.reward <= _CLOSE * (winner.reward - chance.reward)
    cheap = not expert.reads_oracle and heat.success >= winner.success
    return expert.name if close and cheap else None


PPO: Setting = {
    "ppo.graphs": 128,
    "ppo.steps": 16,
    "ppo.epochs": 4,
    "ppo.minibatch": 512,
    "ppo.lr": 2e-3,
    "ppo.value": 0.2,
    "ppo.lam": 0.9,
    "bc.graphs": 128,
    "bc.lr": 2e-3,
}


def _near_ties(problem: Problem, expert: str) -> Setting:
    """Half of the episodes near a comparison of the expert, where it makes any of numbers."""
    try:
        close_lines(flow_of(problem), choose_expert(problem, expert))
    except BoundaryError:
        return {}
    return {"data.boundary": 0.5, "data.boundary_starts": 0.3}


@dataclass(frozen=True)
class _Raced:
    recipe: Recipe
    heats: tuple[Heat, ...]
    winner: Heat | None  # the last of the setting that won; None if all came apart


def _seconds(wish: Wish) -> float:
    """For a race of settings."""
    return min(RACE, _RACE_SHARE * 60 * wish.minutes)


def _race(
    wish: Wish, recipe: Recipe, settings: Sequence[Setting], seconds: float, tell: Tell
) -> _Raced:
    """The recipe with the setting that learned best."""
    problem, seed = wish.problem, wish.seed
    recipes = [(setting, set_keys(recipe, setting)) for setting in settings]
    began = time.process_time()
    pool = _race_pool(wish, recipe, tell)
    each = (time.process_time() - began) / len(pool)
    validator = make_validator(problem, wish.base, seed)

    def make(problem: Problem, recipe: Recipe) -> Trainer:
        return make_trainer(problem, recipe, seed, pool=pool)

    best, heats = run_race(problem, recipes, make, validator, seconds, tell)
    own = [heat for heat in heats if heat.setting == dict(settings[best])]
    return _Raced(_affordable(wish, recipes[best][1], each), tuple(heats), own[-1] if own else None)


def _affordable(wish: Wish, recipe: Recipe, each: float) -> Recipe:
    """The recipe with no more instances than can be drawn for its parts in a share of the time."""
    wanted = recipe.data.pool or choose_split(wish.problem, "train", recipe.data.instances).count
    seconds = _DRAWING * 60 * wish.minutes / _PARTS
    most = max(_RACE_POOL, int(seconds / max(each, 1e-9)))
    return recipe if wanted <= most else set_keys(recipe, {"data.pool": most})


def _race_pool(wish: Wish, recipe: Recipe, tell: Tell) -> Pool:
    """Instances for all settings, with the oracles that any of them reads."""
    experts = (recipe.bc.expert,) if recipe.bc.expert else ()
    compiled = compile_for(wish.problem, recipe.reward, experts)
    few = recipe.data.model_copy(update={"pool": min(recipe.data.pool or _RACE_POOL, _RACE_POOL)})

    def drawing(done: int, total: int) -> None:
        tell("drawing instances", done, total)

    return training_pool(compiled, few, wish.seed, drawing)
