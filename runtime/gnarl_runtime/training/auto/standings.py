"""A problem and its validation graphs in, how well chance and every expert play them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gnarl_dsl.model import Problem
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.instances.pools import Pool, draw_pool
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.limits import TookTooLong, within
from gnarl_runtime.search.outcomes import Outcomes, join_outcomes
from gnarl_runtime.search.planned.planning import plan_experts
from gnarl_runtime.search.players import ExpertPlayer, Player, RandomPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.training.auto.choice import RANDOM, Standing
from gnarl_runtime.training.validate import (
    Scores,
    larger_weight_of,
    require_finite_rewards,
    scores_of,
)

Tell = Callable[[str, int, int], None]

SECONDS = 10.0  # of processor time that everybody together may take for all validation graphs
FEW = 10  # of each size are played where that is not enough


def find_standings(problem: Problem, recipe: Recipe, seed: int, tell: Tell) -> list[Standing]:
    """Chance first, then the experts in the order of the spec; slow ones play a few graphs."""
    try:
        return _play_all(problem, recipe, seed, tell, SECONDS)
    except TookTooLong:
        return _play_all(problem, _on_few(recipe), seed, tell, np.inf)


def _on_few(recipe: Recipe) -> Recipe:
    own = recipe.validation
    sizes = len(own.nodes) if isinstance(own.nodes, tuple) else 1
    fewer = {
        "graphs": min(own.graphs, FEW * sizes),
        "larger_graphs": min(own.larger_graphs, FEW),
    }
    return recipe.model_copy(update={"validation": own.model_copy(update=fewer)})


def _play_all(
    problem: Problem, recipe: Recipe, seed: int, tell: Tell, seconds: float
) -> list[Standing]:
    experts = tuple(expert.name for expert in problem.experts)
    compiled = compile_for(_without_metrics(problem), recipe.reward, experts, metrics=True)
    pools = [plan_experts(compiled, pool) for pool in validation_pools(compiled, recipe, seed)]
    free, limit = free_experts(problem), within(seconds)
    found = []
    for place, name in enumerate((RANDOM, *experts)):
        tell(f"{name} plays the validation graphs", place, 1 + len(experts))
        player: Player = RandomPlayer(seed) if name == RANDOM else ExpertPlayer(name, seed)
        parts = [play_with(player, compiled, pool, progress=limit) for pool in pools]
        outcomes = join_outcomes(parts)
        require_finite_rewards(compiled, outcomes)
        scores = scores_of(parts, larger_weight_of(recipe))
        found.append(_standing(name, outcomes, scores, name not in (RANDOM, *free)))
    return found


def validation_pools(compiled: Compiled, recipe: Recipe, seed: int) -> Sequence[Pool]:
    """The graphs of the `valid` split, one pool for every size."""
    return [
        draw_pool(
            compiled.problem,
            count=count,
            nodes=nodes,
            seed=seed,
            split="valid",
            instances=recipe.data.instances,
            oracles=compiled.oracles,
        )
        for nodes, count in recipe.validation.shares
    ]


def _without_metrics(problem: Problem) -> Problem:
    """Metrics compare with references, and nobody asks for those here."""
    return problem.model_copy(update={"metrics": ()})


def _standing(name: str, outcomes: Outcomes, scores: Scores, reads_oracle: bool) -> Standing:
    right = outcomes.objective[outcomes.success & np.isfinite(outcomes.objective)]
    return Standing(
        name=name,
        success=scores.success,
        reward=scores.reward,
        steps=scores.steps,
        objective=float(right.mean()) if len(right) else None,
        reads_oracle=reads_oracle,
        graphs=len(outcomes),
    )
