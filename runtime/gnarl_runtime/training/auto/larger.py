"""A problem and a recipe for small graphs in, a recipe that keeps an eye on larger ones out.

What is picked by how it does on small graphs may be worth nothing on larger ones: features grow,
degrees grow, episodes are longer. So half of the validation graphs are larger ones, with rewards
in units of what others gain there, and an expert that needs no oracle is learned from on some.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import set_keys
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool, most_nodes
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.limits import TookTooLong, within
from gnarl_runtime.search.players import ExpertPlayer, Player, RandomPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.training.auto.choice import RANDOM, Choice, Standing, best_of

TIMES = 3  # as many nodes as the largest of training
SECONDS = 0.1  # that drawing and playing a larger graph may take everybody together
FIRST = 3.0  # and the first of them
BC_SHARE, IMPROVE_SHARE = 0.1, 0.15  # of the graphs that are learned from


def with_larger(
    problem: Problem, recipe: Recipe, standings: Sequence[Standing], seed: int
) -> Recipe:
    """The recipe validated on larger graphs, too; as it is where there are none, or it says so."""
    nodes = most_nodes(problem, "train", recipe.data.instances)
    chosen = recipe.data.nodes is not None or recipe.validation.nodes is not None
    if nodes is None or chosen or recipe.validation.larger is not None:
        return recipe
    gained = _gain(problem, recipe, seed, TIMES * nodes)
    usual = best_of([own for own in standings if own.name == RANDOM or not own.reads_oracle])
    if gained is None or usual is None:
        return recipe
    weight = abs(usual.reward) / abs(gained) if gained and usual.reward else 1.0
    keys = {"larger": TIMES * nodes, "larger_weight": weight}
    return set_keys(recipe, {f"validation.{name}": value for name, value in keys.items()})


def _gain(problem: Problem, recipe: Recipe, seed: int, nodes: int) -> float | None:
    """The best mean reward of anybody who needs no training; None if it takes too long."""
    experts = free_experts(problem)
    compiled = compile_for(
        problem.model_copy(update={"metrics": ()}), recipe.reward, experts, metrics=True
    )
    players: list[Player] = [RandomPlayer(seed), *(ExpertPlayer(name, seed) for name in experts)]
    found: list[tuple[float, float]] = []
    graphs = recipe.validation.larger_graphs
    # The first is none of the larger ones: with it code is compiled, which is not to count.
    for count, size, seconds in (
        *((1, nodes // TIMES, math.inf), (1, nodes, FIRST)),
        (graphs, nodes, SECONDS * graphs),
    ):
        limit = within(seconds)
        try:
            pool = draw_pool(
                compiled.problem,
                count=count,
                nodes=size,
                seed=seed,
                split="valid",
                instances=recipe.data.instances,
                oracles=compiled.oracles,
            )
            outcomes = [play_with(player, compiled, pool, progress=limit) for player in players]
        except (GnarlError, TookTooLong):  # also a family that has no such graphs
            return None
        found = [(float(own.success.mean()), float(own.reward.mean())) for own in outcomes]
    return max(found)[1]


def learn_larger(problem: Problem, recipe: Recipe, choice: Choice) -> Recipe:
    """The recipe with larger graphs to learn from, where validation has them."""
    nodes, largest = most_nodes(problem, "train", recipe.data.instances), recipe.validation.larger
    if nodes is None or largest is None or recipe.data.larger_nodes is not None:
        return recipe
    keys = {"data.larger_nodes": (nodes + 1, largest), "improve.larger": IMPROVE_SHARE}
    # Elsewhere larger graphs would have to be solved first.
    free = any(own.name == choice.expert and not own.reads_oracle for own in choice.standings)
    return set_keys(recipe, {**keys, **({"bc.larger": BC_SHARE} if free else {})})
