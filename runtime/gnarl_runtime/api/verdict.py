"""A trained policy in; out: how it does beside the experts, chance and the optimum, in words.

Everybody plays the same fresh graphs, of the sizes of the `valid` split, then larger ones. Experts
that read an oracle are left out: nobody can ask them on graphs of one's own.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import GnarlError
from gnarl_runtime.api.asked import Tell, silent
from gnarl_runtime.api.larger_graphs import GRAPHS, Larger, judge_larger, larger_text
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation.evaluate import FRESH, without_metrics
from gnarl_runtime.evaluation.paired import judged, paired
from gnarl_runtime.instances.pools import Pool, draw_pool
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.limits import TookTooLong, within
from gnarl_runtime.search.outcomes import Outcomes
from gnarl_runtime.search.players import ExpertPlayer, Player, PolicyPlayer, RandomPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Drivers

VERDICT = "verdict.json"
SECONDS = 20.0  # of processor time that playing the fresh graphs may take; else there are FEW
FEW = 20
SMALL, SMALL_GRAPHS = 8, 20  # nodes of graphs whose optimum is proven, and how many
PROOF = Strategy("exact", 50_000)
POLICY, RANDOM = "policy", "random"
Word = Literal["ahead", "level", "behind", "alone"]


class Placing(BaseModel):
    """How somebody did on the fresh graphs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    success: float
    steps: float
    value: float | None  # the mean objective of ends that are right


class Optimum(BaseModel):
    """How far the policy is from the best there is, on graphs that are small enough to tell."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    nodes: int
    graphs: int  # of which the optimum was proven
    tried: int
    policy: float  # the mean objective on the proven ones
    best: float

    @property
    def gap(self) -> float | None:
        """Per cent of the optimum that is missing; None where that is 0."""
        return 100 * (self.best - self.policy) / abs(self.best) if self.best else None


class Verdict(BaseModel):
    """Where a policy stands against the best expert that reads no oracle."""

    # The interval of a single graph is infinite, which JSON knows only as a text.
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")

    graphs: int
    placings: tuple[Placing, ...]
    rival: str | None  # that expert
    word: Word
    difference: float = 0.0  # policy minus rival, of what is judged
    interval: tuple[float, float] = (0.0, 0.0)  # 95 % of the mean difference, graph by graph
    optimum: Optimum | None = None  # None: no objective, or nothing could be proven
    nodes: int = 0  # of the largest of these graphs
    larger: tuple[Larger, ...] = ()  # how it stands on graphs of more nodes

    @property
    def behind(self) -> str | None:
        """The expert to prefer to this policy on graphs like those of training, if there is one."""
        return self.rival if self.word == "behind" else None

    def behind_at(self, nodes: int) -> str | None:
        """The same for graphs of so many nodes: what was found on the size that is nearest."""
        found = {own.nodes: own.rival if own.word == "behind" else None for own in self.larger}
        found = {max(self.nodes, 1): self.behind, **found}
        return found[min(found, key=lambda size: abs(math.log(size / max(nodes, 1))))]


def judge(
    policy: Policy,
    problem: Problem,
    recipe: Recipe,
    seed: int,
    progress: Tell | None = None,
    trained: float = math.inf,
) -> Verdict:
    """Play `validation.graphs` fresh graphs with everybody who can be asked, fewer if that is slow.

    `trained` is how many seconds training took: to look at larger graphs should not take longer.
    """
    experts = free_experts(problem)
    compiled = compile_for(without_metrics(problem), recipe.reward, experts, metrics=True)
    players: dict[str, Player] = {
        POLICY: PolicyPlayer(policy, recipe.temperature or None, seed),
        **{name: ExpertPlayer(name, seed) for name in experts},
        RANDOM: RandomPlayer(seed),
    }
    tell = progress or silent
    pool = _fresh_graphs(compiled, recipe, seed)
    began = time.process_time()
    try:
        outcomes = _play(players, compiled, pool, tell, SECONDS)
    except TookTooLong:
        pool, began = _fresh_graphs(compiled, recipe, seed, FEW), time.process_time()
        outcomes = _play(players, compiled, pool, tell, math.inf)
    seconds = (time.process_time() - began) * GRAPHS / len(pool)
    figures = judged(list(outcomes.values()), bool(problem.objectives))  # each (G,)
    scores = dict(zip(outcomes, figures, strict=True))
    rival = max(experts, key=lambda name: float(scores[name].mean()), default=None)
    placings = tuple(_placing(name, own) for name, own in outcomes.items())
    optimum = _optimum(players[POLICY], compiled, recipe, seed, tell)
    nodes = int(pool.batch.n.max())
    if rival is None:
        return Verdict(
            graphs=len(scores[POLICY]),
            placings=placings,
            rival=None,
            word="alone",
            optimum=optimum,
            nodes=nodes,
        )
    found = paired(scores[POLICY], scores[rival])
    return Verdict(
        graphs=found.graphs,
        placings=placings,
        rival=rival,
        word=found.standing,
        difference=found.mean,
        interval=(found.low, found.high),
        optimum=optimum,
        nodes=nodes,
        larger=judge_larger(
            players, POLICY, experts, compiled, recipe, seed, nodes, seconds, trained, tell
        ),
    )


def _fresh_graphs(compiled: Compiled, recipe: Recipe, seed: int, most: int | None = None) -> Pool:
    """Graphs of the size by which weights were chosen; of several, the first."""
    nodes = recipe.validation.nodes
    size = nodes[0] if isinstance(nodes, tuple) else nodes
    count = min(recipe.validation.graphs, most or recipe.validation.graphs)
    return _fresh(compiled, recipe, seed, count, size)


def _play(
    players: Mapping[str, Player], compiled: Compiled, pool: Pool, tell: Tell, seconds: float
) -> dict[str, Outcomes]:
    outcomes, limit = {}, within(seconds)
    for place, (name, player) in enumerate(players.items()):
        tell(f"{name} plays fresh graphs", place, len(players))
        outcomes[name] = play_with(player, compiled, pool, progress=limit)
    return outcomes


def _fresh(compiled: Compiled, recipe: Recipe, seed: int, count: int, nodes: int | None) -> Pool:
    return draw_pool(
        compiled.problem,
        count=count,
        nodes=nodes,
        seed=FRESH + seed,
        split="valid",
        instances=recipe.data.instances,
        oracles=compiled.oracles,
    )


def _optimum(
    player: Player, compiled: Compiled, recipe: Recipe, seed: int, tell: Tell
) -> Optimum | None:
    """Small graphs are solved by exact search; a family that has no such graphs is left alone."""
    if not compiled.problem.objectives:
        return None
    tell("exact search on small graphs", 0, 1)
    try:
        pool = _fresh(compiled, recipe, seed, SMALL_GRAPHS, SMALL)
        found = search(PROOF, Drivers(None, compiled.experts), compiled, pool, seed=seed)
    except GnarlError:  # no graph of that size, or a spec that fails on one
        return None
    own = play_with(player, compiled, pool)
    known = found.proven & found.outcomes.success & own.success
    known &= np.isfinite(found.outcomes.objective) & np.isfinite(own.objective)
    if not known.any():
        return None
    return Optimum(
        nodes=SMALL,
        graphs=int(known.sum()),
        tried=len(pool),
        policy=float(own.objective[known].mean()),
        best=float(found.outcomes.objective[known].mean()),
    )


def _placing(name: str, outcomes: Outcomes) -> Placing:
    right = outcomes.objective[outcomes.success & np.isfinite(outcomes.objective)]
    return Placing(
        name=name,
        success=float(outcomes.success.mean()),
        steps=float(outcomes.steps.mean()),
        value=float(right.mean()) if len(right) else None,
    )


# Kept with the run


def write_verdict(folder: Path, verdict: Verdict) -> None:
    write_whole(folder / VERDICT, (verdict.model_dump_json(indent=2) + "\n").encode())


def read_verdict(folder: Path) -> Verdict | None:
    """What was said at the end of a run; None if nothing was, or nothing that can be read."""
    file = folder / VERDICT
    try:
        return Verdict.model_validate_json(file.read_bytes())
    except (OSError, ValidationError, json.JSONDecodeError):
        return None


# In words


def verdict_text(verdict: Verdict, problem: Problem) -> str:
    """A table and a sentence or two."""
    value = problem.objectives[0].name if problem.objectives else ""
    told = [(f"on {verdict.graphs} fresh graphs", "right" if problem.correct else "valid", value)]
    told += [
        (
            "random picks" if own.name == RANDOM else own.name,
            f"{100 * own.success:.1f} %",
            "" if own.value is None else f"{own.value:.4g}",
        )
        for own in verdict.placings
    ]
    widths = [max(len(row[k]) for row in told) for k in range(3)]
    lines = [
        f"{name:{widths[0]}}  {right:>{widths[1]}}  {own:>{widths[2]}}".rstrip()
        for name, right, own in told
    ]
    lines += [*_optimum_lines(verdict.optimum), *map(larger_text, verdict.larger)]
    return "\n".join([*lines, _sentence(verdict)])


def _optimum_lines(optimum: Optimum | None) -> list[str]:
    if optimum is None:
        return []
    gap = "" if optimum.gap is None else f", {optimum.gap:.1f} % off"
    proven = f"proven on {optimum.graphs} of {optimum.tried} fresh graphs of {optimum.nodes} nodes"
    return [f"optimum {optimum.best:.4g} and policy {optimum.policy:.4g}{gap}: {proven}"]


def _sentence(verdict: Verdict) -> str:
    rival, (low, high) = verdict.rival, verdict.interval
    interval = f"{verdict.difference:+.4g} per graph, 95 % interval {low:+.4g} to {high:+.4g}"
    chance = next(own for own in verdict.placings if own.name == RANDOM)
    own = next(own for own in verdict.placings if own.name == POLICY)
    lost = (own.success, own.value or 0.0) < (chance.success, chance.value or 0.0)
    worse = "it is worse than random picks; " if lost else ""
    match verdict.word:
        case "alone":
            return f"verdict: {worse}the spec has no expert without an oracle to compare with"
        case "ahead":
            told = f"the policy is ahead of the expert {rival} ({interval})"
        case "level":
            told = f"{worse}it cannot be told apart from the expert {rival} ({interval})"
        case "behind":
            told = f"{worse}the policy is BEHIND the expert {rival} ({interval})"
    return f"verdict: {told}{_beyond(verdict)}{_advice(verdict)}"


def _beyond(verdict: Verdict) -> str:
    """Where it falls back on larger graphs."""
    lost = [own for own in verdict.larger if own.word == "behind"]
    if not lost:
        return ""
    sizes = " and ".join(f"{own.nodes:,}" for own in lost)
    rivals = " and ".join(dict.fromkeys(own.rival for own in lost))
    also = "also" if verdict.word == "behind" else "but"
    return f"; {also} BEHIND {rivals} on graphs of {sizes} nodes"


def _advice(verdict: Verdict) -> str:
    lost = [own for own in verdict.larger if own.word == "behind"]
    if verdict.word != "behind" and not lost:
        return ""
    larger = f", larger graphs (--set data.nodes='[8, {lost[0].nodes}]')" if lost else ""
    return (
        f"; try more --minutes, another --seed{larger}, or a search (gnarl-solve --search); "
        "gnarl-solve plays the better of the two there unless --search says otherwise"
    )
