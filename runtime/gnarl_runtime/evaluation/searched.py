"""A policy, a strategy and a pool in, how the best episode of each instance ends out.

A search is not told what only a reference knows: it plays the problem without judges, and its picks
are made again where everything is measured. In the same way the best that anybody knows is found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.evaluation.solving import Attempts, BestEpisode, Progress, solve
from gnarl_runtime.evaluation.summary import plain
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.outcomes import Outcomes
from gnarl_runtime.search.players import ReplayPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.strategy import Strategy

PROOF = Strategy("exact", 200_000)
KNOWN = Strategy("work", 2_000)
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


def play_searched(
    policy: Policy | None,
    compiled: Compiled,
    pool: Pool,
    attempts: Attempts,
    progress: Progress | None = None,
) -> tuple[Outcomes, Flags]:
    """The outcomes of the best episodes, and of which of them nothing can be better."""
    found = solve(policy, compiled.problem, pool.instances(), attempts, progress)
    outcomes = play_with(_replay(found), compiled, pool, max_rounds=attempts.max_rounds)
    seconds = sum(own.seconds for own in found)
    return replace(outcomes, seconds=seconds), np.array([own.proven for own in found])


def _replay(found: Sequence[BestEpisode]) -> ReplayPlayer:
    return ReplayPlayer(tuple(own.picks for own in found))


@dataclass(frozen=True)
class Best:
    """The best end that is known of each instance."""

    objective: Values  # (I,) NaN where none is known
    proven: Flags  # (I,)


def find_best(
    policy: Policy | None,
    compiled: Compiled,
    pool: Pool,
    seed: int,
    progress: Progress | None = None,
) -> Best:
    """By exact search where that comes to an end, else by looking for a while."""
    exact, proven = play_searched(policy, compiled, pool, Attempts(PROOF, seed=seed), progress)
    known, _ = play_searched(policy, compiled, pool, Attempts(KNOWN, seed=seed), progress)
    return Best(np.fmax(_right(exact), _right(known)), proven & exact.success)


def _right(outcomes: Outcomes) -> Values:
    return np.where(outcomes.success, outcomes.objective, np.nan)


@dataclass(frozen=True)
class Gaps:
    """How far everybody is from the best that is known on the graphs of one size."""

    nodes: int
    graphs: int
    proven: int  # of the graphs: nothing can be better there
    best: float  # the mean objective
    gaps: Mapping[str, float]  # by player, per cent of that mean; NaN where it is 0

    def document(self) -> dict[str, Any]:
        tidy: dict[str, Any] = plain(vars(self))
        return tidy


def gaps_by_size(outcomes: Mapping[str, Outcomes], best: Best) -> list[Gaps]:
    """`best` is of the instances that all of them played."""
    nodes = next(iter(outcomes.values()))
    known = best.objective.copy()
    for own in outcomes.values():
        np.fmax.at(known, own.instance, _right(own))
    found = []
    for size in np.unique(nodes.nodes):
        chosen = np.unique(nodes.instance[nodes.nodes == size])
        found.append(_gaps(int(size), chosen, outcomes, known, best.proven))
    return found


def _gaps(
    size: int,
    chosen: NDArray[np.int64],
    outcomes: Mapping[str, Outcomes],
    known: Values,
    proven: Flags,
) -> Gaps:
    right = np.isfinite(known[chosen])
    return Gaps(
        nodes=size,
        graphs=len(chosen),
        proven=int(proven[chosen].sum()),
        best=float(known[chosen][right].mean()) if right.any() else float("nan"),
        gaps={name: _gap(own, size, known) for name, own in outcomes.items()},
    )


def _gap(own: Outcomes, size: int, known: Values) -> float:
    """What is missing on the graphs where this player comes to a right end."""
    values, best = _right(own), known[own.instance]
    both = (own.nodes == size) & np.isfinite(values) & np.isfinite(best)
    whole = float(best[both].mean()) if both.any() else 0.0
    return 100 * (whole - float(values[both].mean())) / abs(whole) if whole else float("nan")


def gaps_text(found: Gaps) -> str:
    """One line: the best, whether that is proven, and who misses how much of it."""
    if found.proven == found.graphs:
        label = "optimum (proven)"
    elif found.proven:
        label = f"best known (proven on {found.proven} of {found.graphs} graphs)"
    else:
        label = "best known (proven on none)"
    told = ", ".join(
        f"{name.removeprefix('the ')} {gap:.2f} %"
        for name, gap in found.gaps.items()
        if np.isfinite(gap)
    )
    return f"{found.nodes} nodes, {label} {found.best:.4g}; missing to it: {told}"
