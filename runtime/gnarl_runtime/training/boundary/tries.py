"""Expert episodes in, instances moved to a boundary of the expert out: one try at a time.

Every try has a random stream of its own, so what is found does not depend on how many places
are searched together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_dsl.model import GreedyExpert, RuleExpert
from gnarl_dsl.report.source import Span
from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.training.boundary.flow import Flow
from gnarl_runtime.training.boundary.margins import Key, Margins, margins_after
from gnarl_runtime.training.boundary.moves import Slide, slides
from gnarl_runtime.training.boundary.replays import Rolled, ask_expert
from gnarl_runtime.training.boundary.slopes import Traced

_OWN = 2  # tries of a place on its own instance, before it borrows others
_PATIENCE = 8  # tries of a place for its own line of the spec, before it takes any
_CHOICES = 3  # comparisons of a state that are tried, of those that seem in reach
_STEPS = 5  # of the secant method
_TOLERANCE = 0.1  # of ε, within which the margin must be


@dataclass(frozen=True, eq=False)
class Found:
    """An instance whose expert has a close decision after these picks."""

    place: int
    instance: Instance
    picks: NDArray[np.int64]  # (steps,)
    length: int  # of the expert's episode before the move, in picks
    key: Key
    margin: float
    mirror: Instance | None  # the margin on the other side, to see whether the answer changes


@dataclass(frozen=True)
class _Standing:
    """A state on an instance: where a margin is to be moved."""

    place: int
    instance: Instance
    picks: NDArray[np.int64]  # (steps,)
    length: int


class Search:
    """Looks for boundary instances in the neighbourhood of expert episodes."""

    def __init__(
        self,
        flow: Flow,
        expert: RuleExpert | GreedyExpert,
        lines: Sequence[Span],
        compiled: Compiled,
        rolled: Rolled,
        margin: tuple[float, float],
        seed: int,
        decisive: bool,
    ) -> None:
        self.flow, self.expert, self.compiled, self.rolled = flow, expert, compiled, rolled
        self.lines = lines  # comparisons of the spec, each wanted by as many places
        self.margin, self.seed, self.decisive = margin, seed, decisive
        self.tried = 0
        self.met = 0  # states with a comparison that an input can move

    def attempt(self, places: Sequence[int], number: int) -> list[Found]:
        """One try per place: what was found and stands up to the compiled environment."""
        self.tried += len(places)
        proposed = [self.propose(place, number) for place in places]
        likely = [one for one in proposed if one is not None]
        return self.confirmed(likely) if likely else []

    def confirmed(self, likely: Sequence[Found]) -> list[Found]:
        """Those whose picks are legal and whose expert has an answer, that depends on the side."""
        sides = [one.instance for one in likely]
        sides += [one.mirror for one in likely if one.mirror is not None]
        picks = [one.picks for one in likely]
        answers = ask_expert(self.compiled, sides, picks + picks if self.decisive else picks)
        return [
            one
            for k, one in enumerate(likely)
            if answers.speaks(k) and (not self.decisive or answers.differ(k, len(likely) + k))
        ]

    # One try

    def propose(self, place: int, number: int) -> Found | None:
        """Move a random comparison of a random state to a random distance."""
        rng = stream(self.seed, "boundary place", place, number)
        base = place if number < _OWN else int(rng.integers(len(self.rolled.pool)))
        length = int(self.rolled.lengths[base])
        first = 2 * length // 3 if place % 2 else 0
        if first >= length:
            return None
        picks = self.rolled.picks[base, : int(rng.integers(first, length))]
        standing = _Standing(place, self.rolled.pool.instance(base), picks, length)
        low, high = np.log(self.margin)
        goal = float(rng.choice([-1.0, 1.0]) * np.exp(rng.uniform(low, high)))
        wanted = self.lines[place // 2 % len(self.lines)] if number < _PATIENCE else None
        return self.near(standing, wanted, goal, rng)

    def near(
        self, standing: _Standing, wanted: Span | None, goal: float, rng: np.random.Generator
    ) -> Found | None:
        """The state with one of its margins, on a wanted line or on any, at `goal`."""
        margins = self.margins(standing.instance, standing.picks)
        self.met += bool(margins)
        keys = [key for key in margins if wanted in (None, key.span)]
        left = _CHOICES
        for key in (keys[k] for k in rng.permutation(len(keys))):
            ways = self.ways(standing, margins[key], goal)
            if ways and left:
                left -= 1
                way, side = ways[int(rng.integers(len(ways)))]
                found = self.slide(standing, key, way, float(margins[key]), side)
                if found is not None:
                    return found
        return None

    def ways(self, standing: _Standing, margin: Traced, goal: float) -> list[tuple[Slide, float]]:
        """The slides that seem to lead to a goal or, if none does, to its opposite."""
        known = slides(self.flow.problem, standing.instance, margin.slopes)
        for side in (goal, -goal):
            near = [(way, side) for way in known if in_reach(way, side - float(margin))]
            if near:
                return near
        return []

    def slide(
        self, standing: _Standing, key: Key, way: Slide, margin: float, goal: float
    ) -> Found | None:
        """The secant method on the margin, replayed from the start at every step."""
        value, slope, move = way.start, way.slope, way.move
        for _ in range(_STEPS):
            target = value + (goal - margin) / slope
            if not move.low < target < move.high:
                return None
            moved = move.apply(standing.instance, target)
            reached = self.margins(moved, standing.picks).get(key)
            if reached is None:
                return None
            after = float(reached)
            if abs(after - goal) <= _TOLERANCE * abs(goal):
                mirror = target - (after + goal) / slope
                return self.found(standing, key, moved, after, (way, mirror))
            value, slope, margin = target, (after - margin) / (target - value), after
            if not slope or not math.isfinite(slope):
                return None
        return None

    def found(
        self,
        standing: _Standing,
        key: Key,
        moved: Instance,
        margin: float,
        across: tuple[Slide, float],
    ) -> Found | None:
        """The moved state, with its mirror image if one is needed; None if that is out of reach."""
        (way, value), mirror = across, None
        if self.decisive:
            if not way.move.lowest < value < way.move.high:
                return None
            mirror = way.move.apply(standing.instance, value)
        return Found(standing.place, moved, standing.picks, standing.length, key, margin, mirror)

    def margins(self, instance: Instance, picks: NDArray[np.int64]) -> Margins:
        """What the expert compares there; nothing if the spec cannot be played that far."""
        try:
            return margins_after(self.flow, instance, picks, self.expert)
        except SpecRunError:
            return {}


def in_reach(way: Slide, change: float) -> bool:
    """Whether a margin may change by so much, as far as its slope tells."""
    return way.move.low < way.start + change / way.slope < way.move.high
