"""One instance in; out: its best episode, and whether every other one was looked at or ruled out.

States are expanded in blocks on the compiled batch. One that was met before is not expanded again;
where the objective adds up, of states with the same future only the best goes on; where it can
only fall, one that is no better than the best known end is given up. Layer after layer as long as
the open states fit into memory, which meets each state in its best form first; beyond that the
deepest go first, which makes room.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.support.endings import RUNNING, TERMINATED
from gnarl_runtime.envs.episode_arrays import moving_arrays
from gnarl_runtime.search.arena import Arena
from gnarl_runtime.search.better import LEAST, RIGHT
from gnarl_runtime.search.outcomes import Picks
from gnarl_runtime.search.players import STOP, Index
from gnarl_runtime.search.proof.futures import Live
from gnarl_runtime.search.proof.state_keys import StateKeys

BLOCK = 1024  # picks that are tried at once; part of the meaning of a limit, so nobody can set it
_OPEN_BYTES = 1 << 28  # of open states, before the deepest go first

Floats = NDArray[np.float64]
Worths = tuple[int, float]


class NotAdditive(Exception):
    """An objective that is not finite on the way: differences do not say what is better."""


@dataclass(frozen=True)
class Limits:
    """How much may be looked at; what is not finished by then is not proven."""

    decisions: int  # picks that are tried
    states: int  # that are remembered


@dataclass(frozen=True)
class Best:
    """The best episode that is known."""

    worth: Worths = LEAST
    picks: Picks = ()
    played: bool = False  # to an end; no episode at all is known as long as it is not


@dataclass(eq=False)
class Block:
    """K open states, all after the same number of picks."""

    arrays: list[NDArray[Any]]  # each (K, …)
    keys: list[bytes]  # (K,)
    value: Floats  # (K,) the objective now, where better states go on instead of worse
    most: Floats  # (K,) no end can be worth more
    number: Index  # (K,) of the state in the family tree


@dataclass(eq=False)
class Tree:
    """Who came from whom."""

    parents: list[Index] = field(default_factory=list)
    picks: list[Index] = field(default_factory=list)
    size: int = 0

    def add(self, parents: Index, picks: Index) -> Index:
        """Their numbers."""
        self.parents.append(parents.astype(np.int64))
        self.picks.append(picks.astype(np.int64))
        self.size += len(parents)
        return np.arange(self.size - len(parents), self.size)

    def picks_to(self, number: int) -> Picks:
        parents, picks = np.concatenate(self.parents), np.concatenate(self.picks)
        way: list[int] = []
        while number >= 0:
            way.append(int(picks[number]))
            number = int(parents[number])
        return tuple(reversed(way[:-1]))  # the root was not picked


@dataclass(frozen=True)
class Searched:
    """What came of a search."""

    best: Best
    complete: bool  # everything was looked at or ruled out
    ceiling: float  # the best value of an end that was not valid, where that was left for later
    decisions: int
    states: int


class Branching:
    """A search from the start of one instance, which is in all slots of an arena."""

    def __init__(self, arena: Arena, live: Live, falls: bool, limits: Limits, best: Best) -> None:
        self.arena, self.engine, self.live, self.falls = arena, arena.engine, live, falls
        self.limits, self.best = limits, best
        self.moving = moving_arrays(arena.engine)
        self.keys = StateKeys(arena.engine, live)
        self.seen: dict[bytes, float] = {}
        self.tree = Tree()
        self.open: dict[int, list[Block]] = defaultdict(list)
        self.waiting, self.decisions, self.ceiling = 0, 0, -np.inf
        self.row_bytes = sum(values[:1].nbytes for values in self.moving)

    def run(self) -> Searched:
        """Until nothing is open, or a limit is reached."""
        self._root()
        while (depth := self._next_depth()) is not None:
            if self.decisions >= self.limits.decisions or len(self.seen) >= self.limits.states:
                return self._searched(False)
            block = self.open[depth].pop()
            self.waiting -= len(block.keys)
            self._expand(block, depth)
        return self._searched(True)

    def _searched(self, complete: bool) -> Searched:
        """Where every pick fails there is no episode to prove anything of."""
        complete = complete and self.best.played
        return Searched(self.best, complete, self.ceiling, self.decisions, len(self.seen))

    def _next_depth(self) -> int | None:
        depths = [depth for depth, blocks in self.open.items() if blocks]
        if not depths:
            return None
        roomy = self.waiting * self.row_bytes < _OPEN_BYTES
        return min(depths) if roomy else max(depths)

    def _root(self) -> None:
        first = np.zeros(1, np.int64)
        number = self.tree.add(np.full(1, -1), first)
        if self.engine.batch.ended[0] != RUNNING:
            self._judge(first, 0, number - 1, first, root=True)
            return
        value = self._values(first) if self.live.dominates or self.falls else np.zeros(1)
        most = value if self.falls else np.full(1, np.inf)
        self._add(0, Block(self._rows(first), self.keys.of_first(1), value, most, number))

    # Expanding

    def _expand(self, block: Block, depth: int) -> None:
        legal = block.arrays[self._legal]
        current = self._current(block)
        source, picks = np.nonzero(legal & current[:, None])
        for start in range(0, len(source), BLOCK):
            part = slice(start, start + BLOCK)
            self._try(block, source[part], picks[part], depth + 1)

    @property
    def _legal(self) -> int:
        legal = self.engine.batch.legal
        return next(k for k, values in enumerate(self.moving) if values is legal)

    def _current(self, block: Block) -> NDArray[np.bool_]:
        """States that still deserve it: nothing better was met since, nor a better end."""
        worth = self.best.worth
        seen = self.seen
        newest = np.array([seen[key] for key in block.keys])  # (K,)
        kept = block.value >= newest if self.live.dominates else np.ones(len(newest), np.bool_)
        return kept & (block.most > worth[1]) if worth[0] == RIGHT else kept

    def _try(self, block: Block, source: Index, picks: Index, depth: int) -> None:
        """Make picks in copies of open states; new states are opened, ends are judged."""
        engine, count = self.engine, len(source)
        batch = engine.batch
        for own, values in zip(block.arrays, self.moving, strict=True):
            values[:count] = own[source]
        batch.ended[count:] = TERMINATED
        actions = np.full(engine.slots, STOP, np.int64)
        actions[:count] = picks
        # A pick at which the spec itself fails leads nowhere: it is no episode.
        engine.kernels.run("step", actions, engine.rewards, engine.kernels.fault)
        sound = engine.kernels.fault[:count] == 0
        engine.kernels.fault[:] = 0
        self.decisions += count
        ended = batch.ended[:count] != RUNNING
        parents = block.number[source]
        over = np.flatnonzero(sound & ended)
        if len(over):
            self._judge(over, depth, parents[over], picks[over])
        self._open(np.flatnonzero(sound & ~ended), count, block, source, picks, depth)

    def _open(
        self, slots: Index, count: int, block: Block, source: Index, picks: Index, depth: int
    ) -> None:
        if not len(slots):
            return
        value, most = self._bounds(slots, block, source, depth)
        worth = self.best.worth
        if worth[0] == RIGHT:
            hopeful = most > worth[1]
            slots, value, most = slots[hopeful], value[hopeful], most[hopeful]
        keys = self.keys.of_first(count)
        fresh = self._unseen([keys[slot] for slot in slots], value)
        if not len(fresh):
            return
        slots = slots[fresh]
        number = self.tree.add(block.number[source[slots]], picks[slots])
        own = [keys[slot] for slot in slots]
        self._add(depth, Block(self._rows(slots), own, value[fresh], most[fresh], number))

    def _bounds(
        self, slots: Index, block: Block, source: Index, depth: int
    ) -> tuple[Floats, Floats]:
        """What new states are worth now, and what their ends can be worth at most."""
        if self.arena.objective is None:
            return np.zeros(len(slots)), np.full(len(slots), -float(depth))
        value = self._values(slots) if self.live.dominates or self.falls else np.zeros(len(slots))
        if not self.falls:
            return value, np.full(len(slots), np.inf)
        # Inside a round nothing is promised; what held at its start still holds.
        starting = self.engine.batch.opening(slots)
        return value, np.where(starting, value, block.most[source[slots]])

    def _unseen(self, keys: list[bytes], value: Floats) -> Index:
        """The states that were not met before, or are better than when they were."""
        better, seen, found = self.live.dominates, self.seen, []
        for place, key in enumerate(keys):
            known = seen.get(key)
            if known is None or (better and value[place] > known):
                seen[key] = float(value[place])
                found.append(place)
        return np.array(found, np.int64)

    def _add(self, depth: int, block: Block) -> None:
        for key, value in zip(block.keys, block.value.tolist(), strict=True):
            self.seen.setdefault(key, value)
        # First in, first out within a layer, so that limits cut the same states everywhere.
        self.open[depth].insert(0, block)
        self.waiting += len(block.keys)

    # Looking at slots

    def _rows(self, slots: Index) -> list[NDArray[Any]]:
        return [values[slots] for values in self.moving]

    def _values(self, slots: Index) -> Floats:
        if self.arena.objective is None:
            return np.zeros(len(slots))
        out = np.zeros(self.engine.slots)
        self.engine.kernels.run(self.arena.objective, slots, out)
        if not np.isfinite(out[slots]).all():
            raise NotAdditive
        return out[slots]

    def _judge(
        self, slots: Index, depth: int, parents: Index, picks: Index, root: bool = False
    ) -> None:
        """Ends of episodes: is one of them the best so far?"""
        stopped = picks == self.engine.batch.layout.nodes  # which is no pick of a node
        worth = self.arena.worth(slots, depth - stopped[: len(slots)])
        for place in np.lexsort((-worth.value, -worth.level))[:1].tolist():
            # An end that counts for nothing is still an episode, where there is no other.
            if worth.at(place) > self.best.worth or not self.best.played:
                way = () if root else self._way(int(parents[place]), int(picks[place]))
                self.best = Best(worth.at(place), way, True)
        if not self.live.judged:
            self._note_ceiling(slots, worth.level)

    def _way(self, parent: int, pick: int) -> Picks:
        way = self.tree.picks_to(parent)
        return way if pick == self.engine.batch.layout.nodes else (*way, pick)

    def _note_ceiling(self, slots: Index, level: NDArray[np.int64]) -> None:
        """Ends that do not count stand for others of the same value, which might."""
        wrong = slots[level < RIGHT]
        if len(wrong):
            self.ceiling = max(self.ceiling, float(self._values(wrong).max()))
