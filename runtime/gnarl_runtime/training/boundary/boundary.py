"""A problem in, instances near a decision boundary of its expert out, with the way there.

A policy that imitates an expert fails where the expert's comparisons are close. Such states are
rare in random instances, so they are made: play the expert to some state, take a comparison
that it makes there, and move one input until the two sides differ by a chosen ε. The spec says
what the expert compares, so nothing here knows a problem.

Only the comparisons of the expert's own rule count. `allow` and `terminate` compare as well, but
the environment decides those: a policy is shown the mask and is not asked whether to end.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_dsl.model import Problem, cheapest_reward
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.instance_files import Provenance
from gnarl_runtime.instances.pools import Pool, Progress, draw_pool, pool_of
from gnarl_runtime.training.boundary.flow import BoundaryError, choose_expert, close_lines, flow_of
from gnarl_runtime.training.boundary.replays import Picks, pad, play_picks, roll_expert
from gnarl_runtime.training.boundary.tries import Found, Search
from gnarl_runtime.training.scaling import SAME, Scale, rescaled

__all__ = [
    "Boundary",
    "BoundaryError",
    "BoundaryInstance",
    "BoundaryReport",
    "boundary_states",
    "play_picks",
]

_BLOCK = 128  # places that are searched together
_ROUNDS = 64  # tries per place
_HOPELESS = 24  # tries of all places of a block after which, if none succeeded, none will


@dataclass(frozen=True)
class BoundaryReport:
    """How the search went; a comparison is named by its line and the spec's own words."""

    wanted: int
    accepted: int
    tried: int
    by_comparison: Mapping[str, int]

    def describe(self) -> str:
        kinds = "; ".join(f"{count} at {text}" for text, count in self.by_comparison.items())
        return f"{self.accepted} of {self.wanted} boundary instances in {self.tried} tries: {kinds}"


@dataclass(frozen=True, eq=False)
class BoundaryInstance:
    """An instance, and the picks that lead to its boundary state."""

    instance: Instance
    picks: NDArray[np.int64]  # (steps,)
    margin: float


@dataclass(frozen=True, eq=False)
class Boundary:
    """A pool of boundary instances, the picks that lead to each boundary state, the margin there.

    `play_picks(engine, slots, boundary.picks[numbers])` takes slots that were just loaded with
    the instances `numbers` to their boundary states.
    """

    pool: Pool
    picks: Picks  # (instances, steps), -1 after the last pick
    lengths: NDArray[np.int64]  # (instances,) picks of the expert's episode before the move
    margins: NDArray[np.float64]  # (instances,)
    report: BoundaryReport

    def __len__(self) -> int:
        return len(self.pool)

    def __getitem__(self, number: int) -> BoundaryInstance:
        row = self.picks[number]
        instance = self.pool.instance(number)
        return BoundaryInstance(instance, row[row >= 0], float(self.margins[number]))


def boundary_states(
    problem: Problem,
    *,
    expert: str | None = None,
    count: int,
    margin: tuple[float, float],
    seed: int,
    scale: Scale = SAME,
    nodes: int | tuple[int, int] | None = None,
    instances: str | None = None,
    oracles: Sequence[str] = (),
    decisive: bool = True,
    progress: Progress | None = None,
) -> Boundary:
    """Instances of the training split, each moved to within ε of a boundary of the expert.

    ε is log-uniform in `margin`. Every second instance has its boundary in the last third of an
    expert episode. `decisive` asks that the expert answers differently with the margin at -ε; else
    a close comparison is enough, even if others settle the matter. A place for which no
    instance is found stays empty, so that there may be fewer than `count`.
    """
    verify_margin(margin)
    flow, chosen = flow_of(problem), choose_expert(problem, expert)
    lines = close_lines(flow, chosen)
    compiled = compile_for(problem, cheapest_reward(problem), (chosen.name,))
    own_seed = int(stream(seed, "boundary").integers(2**62))  # not the instances trained on
    drawn = draw_pool(
        problem,
        count=count,
        nodes=nodes,
        seed=own_seed,
        instances=instances,
        oracles=compiled.oracles,
        artifact=compiled.artifact,
    )
    drawn = rescaled(problem, drawn, scale, own_seed, compiled.oracles)
    rolled = roll_expert(compiled, drawn, own_seed)
    search = Search(flow, chosen, lines, compiled, rolled, margin, own_seed, decisive)
    found = _search(search, count, progress)
    return _boundary(search, found, oracles, Provenance(seed=seed, split="train"), count)


def verify_margin(margin: tuple[float, float]) -> None:
    low, high = margin
    if not (1e-6 < low <= high < math.inf):
        raise BoundaryError(
            f"expected margin=(low, high) with 1e-6 < low <= high, found {margin}: closer than "
            "one part in a million counts as a tie"
        )


def _search(search: Search, count: int, progress: Progress | None) -> list[Found]:
    found: dict[int, Found] = {}
    for start in range(0, count, _BLOCK):
        block = range(start, min(start + _BLOCK, count))
        for attempt in range(_ROUNDS):
            left = [place for place in block if place not in found]
            new = search.attempt(left, attempt)
            found |= {one.place: one for one in new}
            if progress and new:
                progress(len(found), count)
            if not found and attempt + 1 == _HOPELESS:
                raise BoundaryError(_nothing_found(search))
            if len(new) == len(left):
                break
    return [found[place] for place in sorted(found)]


def _nothing_found(search: Search) -> str:
    problem, name = search.flow.problem, search.expert.name
    what = (
        "its comparisons could not be moved to a point where its answer changes"
        if search.met
        else "in its own episodes it never compared numbers that depend on the instance"
    )
    return (
        f"no boundary of the expert `{name}` of {problem.name} was found in {search.tried} tries: "
        f"{what}; train without boundary instances, or name another expert"
    )


def _boundary(
    search: Search, found: list[Found], oracles: Sequence[str], source: Provenance, count: int
) -> Boundary:
    problem, (low, high) = search.flow.problem, search.margin
    names = Counter(one.key.describe(problem) for one in found)
    report = BoundaryReport(count, len(found), search.tried, dict(names.most_common()))
    text = f"moved to within {low:g}..{high:g} of a boundary of the expert {search.expert.name}"
    provenance = source.model_copy(update={"recipe": text})
    pool = pool_of(problem, [one.instance for one in found], oracles, provenance=provenance)
    margins = np.array([one.margin for one in found])
    lengths = np.array([one.length for one in found])
    return Boundary(pool, pad([one.picks for one in found]), lengths, margins, report)
