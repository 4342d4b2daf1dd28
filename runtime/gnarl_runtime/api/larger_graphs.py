"""Players in, how the policy stands on graphs larger than those of training out.

What was learned on small graphs may not carry over, and nothing in training shows it. Graphs are
drawn by the spec's `test` line, since that is what a policy is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.api.asked import Tell
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.evaluation.evaluate import FRESH, split_sizes
from gnarl_runtime.evaluation.paired import judged, paired
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.search.limits import TookTooLong, within
from gnarl_runtime.search.outcomes import Outcomes
from gnarl_runtime.search.players import Player
from gnarl_runtime.search.rollout import play_with

TIMES = (2, 4)  # as many nodes as in training
GRAPHS = 30
_GROWTH = 8.0  # twice the nodes: twice the picks, and four times the messages
_SECONDS, _ASKED_FOR = 10.0, 60.0  # at most, the second if the `test` line has larger graphs
Word = Literal["ahead", "level", "behind"]


class Larger(BaseModel):
    """A policy beside the best expert that reads no oracle, on graphs of one size."""

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    nodes: int
    graphs: int
    rival: str  # that expert
    policy: float  # means of what is judged
    expert: float
    word: Word
    difference: float  # policy minus expert
    interval: tuple[float, float]  # 95 % of the mean difference, graph by graph


def judge_larger(
    players: Mapping[str, Player],
    policy: str,
    experts: Sequence[str],
    compiled: Compiled,
    recipe: Recipe,
    seed: int,
    nodes: int,
    seconds: float,
    trained: float,
    tell: Tell,
) -> tuple[Larger, ...]:
    """Twice and four times the `nodes` of training, as long as it does not take too long.

    `seconds` is what it took on as many graphs of `nodes`, `trained` what training took. What an
    expert costs may grow faster than is guessed, so what takes too long is broken off.
    """
    asked = any(size > nodes for size in _test_sizes(compiled.problem, recipe))
    limit = min(_ASKED_FOR, max(_SECONDS, trained)) if asked else _SECONDS
    found: list[Larger] = []
    for times in TIMES if experts else ():
        if _GROWTH * seconds > limit:
            break
        tell(f"graphs of {times * nodes:,} nodes", len(found), len(TIMES))
        began = time.process_time()
        try:
            outcomes = _play(players, policy, experts, compiled, recipe, seed, times * nodes, limit)
        except (GnarlError, TookTooLong):  # also a family that has no such graphs
            break
        found.append(_stand(outcomes, policy, experts, compiled.problem, times * nodes))
        seconds = time.process_time() - began
    return tuple(found)


def _test_sizes(problem: Problem, recipe: Recipe) -> Sequence[int]:
    try:
        return split_sizes(problem, "test", recipe.data.instances)
    except GnarlError:
        return ()


def _play(
    players: Mapping[str, Player],
    policy: str,
    experts: Sequence[str],
    compiled: Compiled,
    recipe: Recipe,
    seed: int,
    nodes: int,
    seconds: float,
) -> dict[str, Outcomes]:
    limit = within(seconds)
    pool = draw_pool(
        compiled.problem,
        count=GRAPHS,
        nodes=nodes,
        seed=FRESH + seed,
        split="test",
        instances=recipe.data.instances,
        oracles=compiled.oracles,
    )
    return {
        name: play_with(players[name], compiled, pool, progress=limit)
        for name in (policy, *experts)
    }


def _stand(
    outcomes: Mapping[str, Outcomes],
    policy: str,
    experts: Sequence[str],
    problem: Problem,
    nodes: int,
) -> Larger:
    figures = judged(list(outcomes.values()), bool(problem.objectives))  # each (G,)
    scores = dict(zip(outcomes, figures, strict=True))
    rival = max(experts, key=lambda name: float(scores[name].mean()))
    own = paired(scores[policy], scores[rival])
    return Larger(
        nodes=nodes,
        graphs=own.graphs,
        rival=rival,
        policy=float(scores[policy].mean()),
        expert=float(scores[rival].mean()),
        word=own.standing,
        difference=own.mean,
        interval=(own.low, own.high),
    )


def larger_text(found: Larger) -> str:
    """One line for a table of sizes."""
    low, high = found.interval
    word = "BEHIND" if found.word == "behind" else found.word
    return (
        f"on {found.nodes:,} nodes: policy {found.policy:.4g}, {found.rival} {found.expert:.4g}: "
        f"{word} ({found.difference:+.4g}, {low:+.4g} to {high:+.4g})"
    )
