"""`work:N`: keeps the best episode, cuts it at a random pick, plays the rest anew, and so on.

Every instance has a chain of its own, which plays a fixed number of tries at a time and draws by
(seed, instance, try, step): the same N and seed give the same answer whatever plays beside it.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from gnarl_runtime.instances.sampler import uniform_below
from gnarl_runtime.search.anytime.plans import PLANS, replanned
from gnarl_runtime.search.arena import Arena, Truths, instance_keys
from gnarl_runtime.search.better import LEAST, NOTHING, RIGHT
from gnarl_runtime.search.outcomes import Picks
from gnarl_runtime.search.players import STOP, ExpertPlayer, Index, Turn, draw_picks
from gnarl_runtime.search.rollout import choose_slots
from gnarl_runtime.search.sequences import Sequences
from gnarl_runtime.search.task import Answers, Moment, Task, unproven

TRIES = 8  # that a chain plays at a time; part of what an answer means
_PATIENCE = 8  # tries per pick of an episode without anything better, then from scratch
_FINE = 2**32 - 1


class Mode(IntEnum):
    """Who plays the rest of a try; numbers from EXPERT on are the spec's experts in order."""

    ORDER = 0  # the old picks in their old order, as far as they are still legal
    PLAN = 1  # the old picks in another order, as far as they are still legal
    BEST = 2  # the policy as it plays by itself
    DRAWN = 3  # the policy drawn at temperature 1, or chance without one
    CHANCE = 4
    EXPERT = 5


@dataclass(eq=False)
class _Chain:
    """One instance: the best episode of all, and the one that is being changed."""

    number: int  # of the instance
    openings: deque[int]  # modes of the first episodes that are still to be played
    best: Picks | None = None
    best_worth: tuple[int, float] = LEAST
    current: Picks | None = None
    current_worth: tuple[int, float] = LEAST
    decisions: int = 0
    tries: int = 0
    idle: int = 0  # tries since the current episode got better
    fresh: bool = False  # the tries that are being played begin from scratch
    opening: bool = True
    playing: int = 0  # tries at the moment
    history: list[Moment] = field(default_factory=list)


def search_work(task: Task, amount: float | None) -> Answers:
    """The best episode within N decisions per instance; first episodes are played in any case."""
    work = Work(task, int(amount or 1))
    work.run()
    chains = work.finished
    return Answers(
        tuple(chain.best or () for chain in chains),
        np.array([chain.decisions for chain in chains]),
        unproven(task),
        tuple(tuple(chain.history) for chain in chains),
    )


class Work:
    """Chains side by side: lane k has the slots k * TRIES .. k * TRIES + TRIES - 1."""

    def __init__(self, task: Task, budget: int) -> None:
        self.task, self.budget = task, budget
        fit = max(1, task.slots or choose_slots(task.compiled, task.pool))
        lanes = min(max(1, fit // TRIES), len(task.pool))
        self.arena, self.keys = Arena(task, lanes * TRIES), instance_keys(task.pool)
        slots = lanes * TRIES
        self.experts = [ExpertPlayer(name, task.seed) for name in task.drivers.experts]
        # Where phases may be skipped, a round is no certain number of picks: each goes by itself.
        problem = task.compiled.problem
        self.phases = 1 if problem.may_skip else len(problem.phases)
        self.own, self.old = Sequences(slots), Sequences(slots)
        self.used = np.zeros_like(self.old.rows, np.bool_)  # old picks that were made again
        self.mode = np.zeros(slots, np.int64)  # (slots,)
        self.cut = np.zeros(slots, np.int64)  # (slots,) old picks that are kept
        self.number = np.zeros(slots, np.int64)  # (slots,) of the try
        self.key = np.zeros(slots, np.int64)  # (slots,) of the instance
        self.left = np.zeros(slots)  # (slots,) decisions, then the try does not count
        self.playing = np.zeros(slots, np.bool_)
        self.level, self.value = np.zeros(slots, np.int64), np.zeros(slots)
        self.lanes: list[_Chain | None] = [None] * lanes
        self.chains: dict[int, _Chain] = {}
        self.next = 0
        self.decisions = 0  # of all chains, dropped tries included
        self.began = time.perf_counter()

    @property
    def finished(self) -> list[_Chain]:
        """The chains in the order of their instances."""
        return [self.chains[number] for number in range(len(self.task.pool))]

    def run(self, seconds: float = np.inf) -> None:
        """Until every chain has spent its budget, or for that long."""
        self.began = time.perf_counter()
        for lane in range(len(self.lanes)):
            self._next_chain(lane)
        while self.playing.any() and time.perf_counter() - self.began < seconds:
            slots = np.flatnonzero(self.playing)
            over = slots[~self.arena.running(slots) | self._late(slots)]
            if len(over):
                self._finish(over)
            else:
                self._step(slots)
            self.task.progress(self._done(), len(self.task.pool))

    def _done(self) -> float:
        shares = [c.decisions / self.budget for c in self.lanes if c is not None]
        return self.next - len(shares) + sum(min(share, 1.0) for share in shares)

    # Chains and their tries

    def _next_chain(self, lane: int) -> None:
        if self.next == len(self.task.pool):
            self.lanes[lane] = None
            return
        modes = [Mode.EXPERT + k for k in range(len(self.experts))]
        policy = [Mode.BEST] * (self.task.drivers.policy is not None)
        chain = _Chain(self.next, deque([*modes, *policy, Mode.CHANCE]))
        self.chains[self.next] = self.lanes[lane] = chain
        self.next += 1
        self._next_tries(lane, chain)

    def _next_tries(self, lane: int, chain: _Chain) -> None:
        """Start as many tries as a chain plays at a time."""
        chain.opening = bool(chain.openings)
        count = min(TRIES, len(chain.openings)) if chain.opening else TRIES
        slots = lane * TRIES + np.arange(count)
        numbers = chain.tries + np.arange(count)
        chain.tries += count
        self.arena.start(slots, np.full(count, chain.number))
        self.own.clear(slots)
        self.number[slots], self.playing[slots] = numbers, True
        self.key[slots] = self.keys[chain.number]
        self.left[slots] = np.inf if chain.opening else self.budget - chain.decisions
        chain.playing = count
        if chain.opening:
            self.mode[slots] = [chain.openings.popleft() for _ in range(count)]
            self._from_scratch(slots)
        elif chain.fresh:
            self.mode[slots] = Mode.DRAWN
            self._from_scratch(slots)
        else:
            self.mode[slots] = self._turns()[numbers % len(self._turns())]
            self._cut(slots, chain.current or (), numbers)

    def _turns(self) -> Index:
        """Who plays the rest, in turn."""
        policy = [Mode.BEST] * (self.task.drivers.policy is not None)
        experts = [Mode.EXPERT + k for k in range(len(self.experts))]
        modes = [Mode.PLAN, *policy, Mode.ORDER, *experts, Mode.PLAN, Mode.DRAWN]
        return np.array(modes, np.int64)

    def _from_scratch(self, slots: Index) -> None:
        self.old.clear(slots)
        self.cut[slots] = 0

    def _cut(self, slots: Index, current: Picks, numbers: Index) -> None:
        """Keep so many picks of the current episode, drawn for each try."""
        self.old.put(slots, current)
        keys = self.key[slots], numbers
        self.cut[slots] = uniform_below(len(current), self.task.seed, "cut", *keys)
        more = self.old.rows.shape[1] - self.used.shape[1]
        if more:
            self.used = np.pad(self.used, ((0, 0), (0, more)))
        self._plan(slots[self.mode[slots] == Mode.PLAN], current)
        self.used[slots] = np.arange(self.used.shape[1]) < self.cut[slots, None]

    def _plan(self, slots: Index, current: Picks) -> None:
        """Another order of the old picks, from the round of the cut on."""
        keys = self.key[slots], self.number[slots]
        first, rounds = self.cut[slots] // self.phases, -(-len(current) // self.phases)
        kinds = uniform_below(len(PLANS), self.task.seed, "plan", *keys)
        share = uniform_below(_FINE, self.task.seed, "plan's end", *keys) / _FINE
        last = first + 2 + (share * (rounds - first - 1)).astype(np.int64)
        for k, slot in enumerate(slots.tolist()):
            plan = replanned(current, PLANS[kinds[k]], int(first[k]), int(last[k]), self.phases)
            self.old.put(slots[k : k + 1], plan)
            self.cut[slot] = first[k] * self.phases

    def _settle(self, lane: int, chain: _Chain) -> None:
        """All tries are over: count them in order, keep the best, and go on."""
        slots = lane * TRIES + np.arange(chain.playing)
        winner, spent = self._count(chain, slots)
        chain.idle += len(slots)
        if winner is not None:
            chain.current, chain.current_worth = self.own.of(winner), self._worth(winner)
            chain.idle = 0
        patience = _PATIENCE * max(len(chain.current or ()), TRIES)
        chain.fresh = not chain.opening and chain.idle >= patience
        if chain.fresh:
            chain.idle = 0
        spent = spent or chain.decisions >= self.budget or not chain.current
        if chain.openings or not spent:
            self._next_tries(lane, chain)
        else:
            self._next_chain(lane)

    def _count(self, chain: _Chain, slots: Index) -> tuple[int | None, bool]:
        """The try that replaces the current episode, and whether one broke the budget."""
        winner, target = None, LEAST if chain.fresh else chain.current_worth
        known = chain.current is not None
        for slot in slots.tolist():
            cost = int(self.own.length[slot] - self.cut[slot])
            if cost > self.left[slot] or (
                not chain.opening and chain.decisions + cost > self.budget
            ):
                return winner, True
            chain.decisions += cost
            worth = self._worth(slot)
            if worth > target or not known:
                winner, target, known = slot, worth, True
            if worth > chain.best_worth or chain.best is None:
                self._improve(chain, slot, worth)
        return winner, False

    def _improve(self, chain: _Chain, slot: int, worth: tuple[int, float]) -> None:
        chain.best, chain.best_worth = self.own.of(slot), worth
        if worth[0] == NOTHING:
            return
        seconds = time.perf_counter() - self.began
        moment = Moment(chain.decisions, seconds, worth[1], worth[0] == RIGHT)
        chain.history.append(moment)
        self.task.improved(chain.number, moment)

    def _worth(self, slot: int) -> tuple[int, float]:
        return int(self.level[slot]), float(self.value[slot])

    # Picks

    def _step(self, slots: Index) -> None:
        """One pick for each of the tries that are being played."""
        at = self.own.length[slots]
        again = at < self.cut[slots]
        picks = np.empty(len(slots), np.int64)
        picks[again] = self.old.rows[slots[again], at[again]]
        self.decisions += int((~again).sum())
        new = np.flatnonzero(~again)
        if len(new):
            picks[new] = self._choose(slots[new])
        made = (picks != STOP) & (picks < self.arena.engine.batch.layout.nodes)
        self.own.append(slots[made], picks[made])
        self.arena.step(slots, picks)

    def _late(self, slots: Index) -> Truths:
        """Tries that have used more than is left, and those without an end in sight."""
        spent, batch = self.own.length[slots] - self.cut[slots], self.arena.engine.batch
        endless = np.isinf(np.minimum(batch.horizon[slots], batch.limit[slots]))
        most = np.where(endless, np.minimum(self.left[slots], self.budget), self.left[slots])
        return np.asarray(spent > most)

    def _finish(self, over: Index) -> None:
        """Judge what has ended; what is too late is worth nothing."""
        late = ~(ended := ~self.arena.running(over))
        self.arena.clear(over[late])
        self.level[over], self.value[over] = LEAST
        if ended.any():
            mine = over[ended]
            self.level[mine], self.value[mine] = self.arena.worth(mine, self.own.length[mine])
        self.playing[over] = False
        for lane in np.unique(over // TRIES).tolist():
            chain = self.lanes[lane]
            if chain is not None and not self.playing[lane * TRIES : (lane + 1) * TRIES].any():
                self._settle(lane, chain)

    def _choose(self, slots: Index) -> Index:
        """A pick for every slot behind its cut."""
        mode = self.mode[slots]
        turn = Turn(
            slots,
            self.key[slots],
            self.number[slots],
            self.own.length[slots],
        )
        picks = np.full(len(slots), STOP, np.int64)
        other = (self.own.length[slots] == self.cut[slots]) & (self.old.length[slots] > 0)
        other &= mode != Mode.PLAN
        drawn = other | (mode == Mode.DRAWN) | (mode == Mode.BEST)
        self._draw(turn, mode, np.flatnonzero(drawn), other, picks)
        chance = np.flatnonzero((mode == Mode.CHANCE) & ~other)
        if len(chance):
            legal = self.arena.legal[slots[chance]].astype(np.float64)
            picks[chance] = draw_picks(legal, turn.uniform(self.task.seed, "random")[chance])
        for k, expert in enumerate(self.experts):
            asked = np.flatnonzero((mode == Mode.EXPERT + k) & ~other)
            if len(asked):
                picks[asked] = expert.choose(self.arena.engine, _part(turn, asked))
        order = np.flatnonzero((mode <= Mode.PLAN) & ~other)
        if len(order):
            picks[order] = self._in_order(_part(turn, order))
        self._mark_used(slots, picks)
        return picks

    def _draw(self, turn: Turn, mode: Index, asked: Index, other: Truths, picks: Index) -> None:
        """Picks by the policy, or by chance without one: another than the old one behind a cut."""
        if not len(asked):
            return
        slots, seed = turn.slots[asked], self.task.seed
        logs = self.arena.log_chances(slots)
        drawn = logs.copy()
        best = (mode[asked] == Mode.BEST) & ~other[asked]
        if self.task.temperature is not None:
            drawn[best] /= self.task.temperature
        cut = np.flatnonzero(other[asked])
        before = self.old.rows[slots[cut], self.cut[slots[cut]]]
        alone = self.arena.legal[slots[cut]].sum(axis=1) == 1
        drawn[cut[~alone], before[~alone]] = -np.inf
        chances = np.exp(drawn - drawn.max(axis=1, keepdims=True))
        picks[asked] = draw_picks(chances, turn.uniform(seed, "try")[asked])
        if self.task.temperature is None:
            picks[asked[best]] = logs[best].argmax(axis=1)

    def _in_order(self, turn: Turn) -> Index:
        """The first old pick of this phase that is left and legal; chance if there is none."""
        slots = turn.slots
        old = self.old.rows[slots]  # (K, room)
        place = np.arange(old.shape[1])
        phase = (turn.step % self.phases)[:, None]
        open_ = (place < self.old.length[slots, None]) & ~self.used[slots]
        open_ &= place % self.phases == phase
        open_ &= np.take_along_axis(self.arena.legal[slots], np.maximum(old, 0), axis=1)
        first = open_.argmax(axis=1)
        picks = old[np.arange(len(slots)), first]
        none = np.flatnonzero(~open_.any(axis=1))
        if len(none):
            legal = self.arena.legal[slots[none]].astype(np.float64)
            if self.arena.engine.problem.may_stop:  # the old picks have been made: so it ended
                ends = self.arena.legal[slots[none], -1]
                legal[ends, :-1] = 0.0
            picks[none] = draw_picks(legal, turn.uniform(self.task.seed, "order")[none])
        return np.asarray(picks, np.int64)

    def _mark_used(self, slots: Index, picks: Index) -> None:
        """The first old pick that is the same in the same phase is not made again."""
        mine = np.flatnonzero(self.mode[slots] <= Mode.PLAN)
        slots, picks = slots[mine], picks[mine]
        old, place = self.old.rows[slots], np.arange(self.old.rows.shape[1])
        phase = (self.own.length[slots] % self.phases)[:, None]
        same = (old == picks[:, None]) & ~self.used[slots]
        same &= (place < self.old.length[slots, None]) & (place % self.phases == phase)
        hit = np.flatnonzero(same.any(axis=1))
        self.used[slots[hit], same[hit].argmax(axis=1)] = True


def _part(turn: Turn, rows: Index) -> Turn:
    return Turn(turn.slots[rows], turn.instance[rows], turn.sample[rows], turn.step[rows])
