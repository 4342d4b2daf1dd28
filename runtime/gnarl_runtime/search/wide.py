"""`sample:K`, `beam:W`, `starts:K`: many episodes per instance side by side, no two the same.

All three are one search. Of all continuations of the episodes in a beam the best few stay in it,
those that have ended among them. `beam` ranks by probability. `sample` adds Gumbel noise to it,
which makes the beam a draw without replacement (Kool, van Hoof and Welling 2019); noise belongs to
a sequence of picks, so a larger sample holds the smaller ones. `starts` ranks until the beam is
full, and then lets every episode go on by its best picks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from gnarl_compiler.graphs.streams import mix64
from gnarl_runtime.instances.sampler import uniform_below
from gnarl_runtime.search.arena import Arena, Floats, Truths, instance_keys
from gnarl_runtime.search.better import LEAST, worth_of_outcomes
from gnarl_runtime.search.outcomes import Keep, Picks
from gnarl_runtime.search.players import ExpertPlayer, Index, KeyedPlayer
from gnarl_runtime.search.rollout import choose_slots, play_with
from gnarl_runtime.search.sequences import Sequences
from gnarl_runtime.search.task import Answers, Task, unproven

_FINE = 2**32 - 1
_DIGITS = 4  # of log-probabilities that tell episodes of a beam apart
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Rank(Enum):
    """How the continuations in a beam compete."""

    CHANCE = "by their probability"
    NOISE = "by their probability and noise"
    STARTS = "by their probability until the beam is full"


@dataclass(frozen=True)
class Leaf:
    """An episode that has ended in a beam."""

    score: float
    picks: Picks
    worth: tuple[int, float]


@dataclass(eq=False)
class Leaves:
    """The ended episodes of one instance."""

    best: Leaf = Leaf(-np.inf, (), LEAST)
    inside: list[Leaf] = field(default_factory=list)  # those that are in the beam
    decisions: int = 0


def search_sample(task: Task, amount: float | None) -> Answers:
    """K episodes drawn from the policy; without one each expert's, the rest by chance."""
    width = int(amount or 1)
    experts = () if task.drivers.policy is not None else task.drivers.experts[:width]
    beams: list[Leaves] = []
    if width > len(experts):
        beams = beam_search(task, width - len(experts), Rank.NOISE)
    return _with_experts(task, experts, beams or [Leaves() for _ in range(len(task.pool))])


def search_beam(task: Task, amount: float | None) -> Answers:
    """The best end that a beam of W comes to."""
    return _answers(task, beam_search(task, int(amount or 1), Rank.CHANCE))


def search_starts(task: Task, amount: float | None) -> Answers:
    """Best picks from the K most probable beginnings."""
    return _answers(task, beam_search(task, int(amount or 1), Rank.STARTS))


def _answers(task: Task, beams: list[Leaves]) -> Answers:
    picks = tuple(leaves.best.picks for leaves in beams)
    return Answers(picks, np.array([leaves.decisions for leaves in beams]), unproven(task))


def _with_experts(task: Task, experts: tuple[str, ...], beams: list[Leaves]) -> Answers:
    keys = instance_keys(task.pool)
    for name in experts:
        outcomes = play_with(
            KeyedPlayer(ExpertPlayer(name, task.seed), keys),
            task.compiled,
            task.pool,
            slots=task.slots,
            objective=task.objective,
            max_rounds=task.max_rounds,
            keep=Keep(picks=True),
        )
        assert outcomes.picks is not None
        worth = worth_of_outcomes(outcomes, bool(task.compiled.problem.objectives))
        for number, leaves in enumerate(beams):
            _put(leaves, Leaf(-np.inf, outcomes.picks[number], worth.at(number)))
            leaves.decisions += int(outcomes.steps[number])
    return _answers(task, beams)


def _put(leaves: Leaves, leaf: Leaf) -> None:
    """Keep the best; an episode that is worth nothing is better than none."""
    if leaf.worth > leaves.best.worth or not leaves.best.picks:
        leaves.best = leaf


def beam_search(task: Task, width: int, rank: Rank) -> list[Leaves]:
    """What every instance's beam came to, as many of them side by side as fit."""
    fit = max(1, task.slots or choose_slots(task.compiled, task.pool))
    together = min(max(1, fit // width), len(task.pool))
    arena, keys = Arena(task, together * width), instance_keys(task.pool)
    temperature = (task.temperature or 1.0) if rank is Rank.NOISE else 1.0
    found: list[Leaves] = []
    for start in range(0, len(task.pool), together):
        numbers = np.arange(start, min(start + together, len(task.pool)))
        beams = _Beams(arena, numbers, keys[numbers], width, rank, temperature)
        while beams.step():
            task.progress(start + beams.done(), len(task.pool))
        found += beams.leaves
    task.progress(len(task.pool), len(task.pool))
    return found


class _Beams:
    """The beams of C instances: row r of instance c is slot c * W + r."""

    def __init__(
        self,
        arena: Arena,
        numbers: Index,
        keys: Index,
        width: int,
        rank: Rank,
        temperature: float,
    ) -> None:
        self.arena, self.width, self.rank, self.temperature = arena, width, rank, temperature
        slots = len(numbers) * width
        self.owner = np.repeat(np.arange(len(numbers)), width)  # (slots,)
        self.keys = keys  # (C,)
        self.leaves = [Leaves() for _ in numbers]
        self.leaf_scores = np.full((len(numbers), width), -np.inf)
        self.live = np.zeros(slots, np.bool_)
        self.chance = np.zeros(slots)  # log-probability of the picks so far
        self.score = np.zeros(slots)  # by which they are ranked
        self.prefix = np.zeros(slots, np.uint64)  # what the picks so far are called
        self.picks = Sequences(slots)
        arena.start(np.arange(slots), np.repeat(numbers, width))
        first = np.arange(len(numbers)) * width
        self.live[first] = True
        arena.clear(np.flatnonzero(~self.live))
        self._settle(first)

    def done(self) -> float:
        """Instances, those that still play in part."""
        slots, batch = np.flatnonzero(self.live), self.arena.engine.batch
        shares = np.ones(len(self.leaves))
        most = np.minimum(batch.horizon[slots], batch.limit[slots])
        np.minimum.at(shares, self.owner[slots], batch.rounds[slots] / np.maximum(most, 1.0))
        return float(shares.sum())

    def step(self) -> bool:
        """One more pick for all that live; whether there was any."""
        slots = np.flatnonzero(self.live)
        if not len(slots):
            return False
        chances = self.arena.log_chances(slots, self.temperature)  # (K, N)
        total = self.chance[slots, None] + chances
        scores = self._perturbed(slots, total) if self.rank is Rank.NOISE else total
        if self.rank is Rank.STARTS:
            scores = self._only_best_of_full(slots, scores)
        self._advance(slots, total, scores)
        return True

    def _perturbed(self, slots: Index, total: Floats) -> Floats:
        """Scores with noise whose largest is the score of the episode so far."""  # (K, N)
        nodes = np.arange(total.shape[1])
        keys = self.keys[self.owner[slots]][:, None], self.prefix[slots, None], nodes
        uniform = (uniform_below(_FINE, self.arena.task.seed, "gumbel", *keys) + 0.5) / _FINE
        noisy = total - np.log(-np.log(uniform))
        return conditioned(noisy, self.score[slots, None])

    def _only_best_of_full(self, slots: Index, scores: Floats) -> Floats:
        """Where a beam is full, nothing but the best continuation of each."""
        inside = np.isfinite(self.leaf_scores).sum(axis=1)
        count = np.bincount(self.owner[slots], minlength=len(self.leaves)) + inside
        full = (count >= self.width)[self.owner[slots]]
        others = np.arange(scores.shape[1]) != scores.argmax(axis=1)[:, None]
        return np.asarray(np.where(full[:, None] & others, -np.inf, scores))

    def _advance(self, slots: Index, total: Floats, scores: Floats) -> None:
        """The best of all continuations and ended episodes stay; the others make room."""
        beams, width, nodes = len(self.leaves), self.width, scores.shape[1]
        table = np.full((beams * width, nodes), -np.inf)
        table[slots] = scores
        rivals = np.hstack([table.reshape(beams, -1), self.leaf_scores])
        if width > 1 and self.rank is not Rank.NOISE:
            # Mirror images are equally likely but for rounding, which neighbours in a batch change.
            rivals = np.round(rivals, _DIGITS)
        order = np.argsort(-rivals, axis=1, kind="stable")[:, :width]  # (C, W)
        wins = np.isfinite(np.take_along_axis(rivals, order, axis=1))
        self._keep_leaves(order, wins, width * nodes)
        beam, place = np.nonzero(wins & (order < width * nodes))
        cell = order[beam, place]
        parent, pick = beam * width + cell // nodes, cell % nodes
        row = np.empty(len(self.live), np.int64)
        row[slots] = np.arange(len(slots))
        chance, score = total[row[parent], pick], scores[row[parent], pick]
        target = self._move(parent)
        self.chance[target], self.score[target] = chance, score
        self.prefix[target] = mix64(self.prefix[target] + (pick + 1).astype(np.uint64) * _STEP)
        self.picks.append(target, pick)
        self.arena.step(target, pick)
        for place_, count in enumerate(np.bincount(beam, minlength=beams).tolist()):
            self.leaves[place_].decisions += count
        self._settle(target)

    def _keep_leaves(self, order: Index, wins: Truths, first: int) -> None:
        """Ended episodes that are no longer among the best leave the beam."""
        beam, place = np.nonzero(wins & (order >= first))
        stay = np.zeros_like(self.leaf_scores, np.bool_)
        stay[beam, order[beam, place] - first] = True
        gone = np.isfinite(self.leaf_scores) & ~stay
        for number in np.flatnonzero(gone.any(axis=1)).tolist():
            leaves = self.leaves[number]
            leaves.inside = [leaf for k, leaf in enumerate(leaves.inside) if stay[number, k]]
            self._write_scores(number)

    def _write_scores(self, number: int) -> None:
        scores = [leaf.score for leaf in self.leaves[number].inside]
        self.leaf_scores[number] = -np.inf
        self.leaf_scores[number, : len(scores)] = scores

    def _move(self, parent: Index) -> Index:
        """A slot for every continuation: the first of a parent stays, others are copied."""
        _, first = np.unique(parent, return_index=True)
        stays = np.zeros(len(parent), np.bool_)
        stays[first] = True
        self.live[:] = False
        self.live[parent] = True
        free = np.flatnonzero(~self.live)
        self.arena.clear(free)
        target, moved = parent.copy(), np.flatnonzero(~stays)
        target[moved] = _nth_free(free, self.width, self.owner[parent[moved]])
        self.arena.copy(parent[moved], target[moved])
        self.picks.copy(parent[moved], target[moved])
        for values in (self.chance, self.score, self.prefix):
            values[target[moved]] = values[parent[moved]]
        self.live[target] = True
        return target

    def _settle(self, slots: Index) -> None:
        """Judge those that have ended; they stay in the beam and leave their slots."""
        over = slots[~self.arena.running(slots)]
        if not len(over):
            return
        worth = self.arena.worth(over, np.array([len(self._made(slot)) for slot in over.tolist()]))
        for k, slot in enumerate(over.tolist()):
            number = int(self.owner[slot])
            leaves = self.leaves[number]
            leaf = Leaf(float(self.score[slot]), self._made(slot), worth.at(k))
            leaves.inside.append(leaf)
            _put(leaves, leaf)
            self._write_scores(number)
        self.live[over] = False

    def _made(self, slot: int) -> Picks:
        """The nodes that were picked: to end an episode is none."""
        picks = self.picks.of(slot)
        return picks[:-1] if picks[-1:] == (self.arena.engine.batch.layout.nodes,) else picks


def conditioned(noisy: Floats, largest: Floats) -> Floats:
    """Gumbel variables (K, N) shifted as if their largest had come out as `largest` (K, 1)."""
    top = noisy.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = np.where(noisy > -np.inf, noisy - top, -1.0)  # <= 0
        rest = largest - noisy + np.log(-np.expm1(below))
        moved = largest - np.maximum(rest, 0.0) - np.log1p(np.exp(-np.abs(rest)))
    return np.where(noisy > -np.inf, moved, -np.inf)


def _nth_free(free: Index, width: int, owners: Index) -> Index:
    """For each owner in ascending or any order, its next free slot."""  # (M,)
    group = free // width
    rank = np.arange(len(free)) - np.searchsorted(group, group)
    table = np.full((int(max(group.max(initial=0), owners.max(initial=0))) + 1, width), -1)
    table[group, rank] = free
    order = np.argsort(owners, kind="stable")
    wanted = owners[order]
    nth = np.arange(len(wanted)) - np.searchsorted(wanted, wanted)
    found = np.empty(len(owners), np.int64)
    found[order] = table[wanted, nth]
    return found
