"""A player and a pool of instances go in, every instance is played to its end, Outcomes come out.

Episodes run side by side; one that ends makes room for the next, so only running ones are ever
packed for the network. What an episode does depends on neither its slot nor its neighbours.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING, TERMINATED, TRUNCATED
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.layout import BatchLayout, layout_of
from gnarl_runtime.envs.engine import Compiled, Engine, spare_edges
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.search.outcomes import Keep, Outcomes, Values, blank_outcomes
from gnarl_runtime.search.players import STOP, Index, Player, PolicyPlayer, Turn

__all__ = ["Keep", "Outcomes", "choose_slots", "messages_in", "play", "play_with"]

Progress = Callable[[float, int], None]  # (episodes done, of all); running ones count in part

_MEMORY = 1 << 28  # bytes for the episodes that are played side by side
_PER_MESSAGE = 64  # bytes while a state is packed and read by the network
_SLOTS = 256  # more side by side is no faster
_NOTHING = Keep()


def play(
    policy: Policy,
    compiled: Compiled,
    pool: Pool,
    *,
    temperature: float | None = None,
    samples: int = 1,
    seed: int = 0,
    slots: int | None = None,
    objective: str | None = None,
    keep: Keep = _NOTHING,
    progress: Progress | None = None,
) -> Outcomes:
    """Every instance of the pool played by a policy: its best picks unless a temperature is given.

    `compiled` with metrics also fills objectives and metrics. `seed` decides the picks that a
    temperature leaves open, `slots` how many episodes run at once, which changes no result.
    """
    player = PolicyPlayer(policy, temperature, seed)
    return play_with(
        player,
        compiled,
        pool,
        samples=samples,
        slots=slots,
        objective=objective,
        keep=keep,
        progress=progress,
    )


def play_with(
    player: Player,
    compiled: Compiled,
    pool: Pool,
    *,
    samples: int = 1,
    first: int = 0,
    slots: int | None = None,
    objective: str | None = None,
    max_rounds: int | None = None,
    keep: Keep = _NOTHING,
    progress: Progress | None = None,
) -> Outcomes:
    """Every instance of the pool played `samples` times to its end, or for `max_rounds`.

    `first` is the number of the pool's first instance where players draw by number: parts of a
    set of instances are then played as the whole would be.
    """
    side_by_side = min(slots or choose_slots(compiled, pool), len(pool) * samples)
    engine = Engine(compiled, pool, side_by_side)
    # One pick whose result nobody reads: code is loaded or compiled before the clock starts.
    _Table(engine, 1, 1, objective, keep).warm_up(player)
    table = _Table(engine, len(pool) * samples, samples, objective, keep, max_rounds)
    table.run(player, first, progress or _silent)
    return table.outcomes()


def choose_slots(compiled: Compiled, pool: Pool) -> int:
    """How many episodes fit into a bounded memory side by side."""
    room = pool.batch.layout
    one = layout_of(compiled.problem, 1, room.nodes, spare_edges(room), compiled.oracles)
    return max(1, min(_SLOTS, _MEMORY // (one.bytes + _PER_MESSAGE * messages_in(one))))


def messages_in(one: BatchLayout) -> int:
    """How many messages pass in one round, at most, if the layout is of one graph."""
    pairs = one.signature.all_pairs or one.problem.graph.complete
    return one.nodes**2 if pairs else one.nodes + 2 * one.edges


def _silent(done: float, total: int) -> None:
    """For those who do not want to know."""


class _Table:
    """Which episode is in which slot, and what came of those that have ended."""

    def __init__(
        self,
        engine: Engine,
        episodes: int,
        samples: int,
        objective: str | None,
        keep: Keep,
        max_rounds: int | None = None,
    ) -> None:
        self.engine, self.keep = engine, keep
        self.instance, self.sample = np.divmod(np.arange(episodes), samples)  # (E,)
        self.seat = np.full(engine.slots, -1)  # (slots,) the episode in each slot
        self.next, self.seconds = 0, 0.0
        self.max_rounds = np.inf if max_rounds is None else max_rounds
        self.objective = objective_kernel(engine, objective)
        names = [m.name for m in engine.problem.metrics] if engine.compiled.metrics else []
        nodes = engine.pool.batch.n[self.instance]
        self.columns = blank_outcomes(self.instance, self.sample, nodes, names)
        self.solutions = np.zeros(episodes, np.uint64)
        self.picks: list[list[int]] = [[] for _ in range(episodes)]
        self.phases: list[list[int]] = [[] for _ in range(episodes)]
        self.states: list[dict[str, Values]] = [{} for _ in range(episodes)]

    def run(self, player: Player, first: int, progress: Progress) -> None:
        """Play until every episode has ended."""
        began = time.perf_counter()
        self._refill(np.arange(self.engine.slots))
        while len(slots := np.flatnonzero(self.seat >= 0)):
            over = slots[self.engine.batch.ended[slots] != RUNNING]
            if len(over):
                self._finish(over)
                self._refill(over)
            else:
                self._step(player, slots, first)
            progress(self._done(), len(self.instance))
        self.seconds = time.perf_counter() - began

    def _done(self) -> float:
        """Episodes that have ended, and what the others have used of the rounds they may take."""
        slots, batch = np.flatnonzero(self.seat >= 0), self.engine.batch
        most = np.minimum(batch.horizon[slots], batch.limit[slots])
        shares = batch.rounds[slots] / np.maximum(most, 1.0)
        return float(self.next - len(slots) + shares.sum())

    def warm_up(self, player: Player) -> None:
        """Start an episode, make a pick, judge it."""
        first = np.zeros(1, np.int64)
        self.engine.batch.ended[:] = TERMINATED
        self._refill(first)
        if self.engine.batch.ended[0] == RUNNING:
            self._step(player, first)
        self._finish(first)
        self.engine.batch.ended[:] = TERMINATED

    def outcomes(self) -> Outcomes:
        """What came of all episodes."""
        keep = self.keep
        return replace(
            self.columns,
            seconds=self.seconds,
            solutions=self.solutions if keep.solutions else None,
            picks=tuple(map(tuple, self.picks)) if keep.picks else None,
            phases=tuple(map(tuple, self.phases)) if keep.picks else None,
            states=tuple(self.states) if keep.states else None,
        )

    # Episodes come and go

    def _refill(self, slots: Index) -> None:
        """Start the next episodes in free slots; slots without one stay empty."""
        count = min(len(slots), len(self.instance) - self.next)
        fresh = np.arange(self.next, self.next + count)
        self.next += count
        self.seat[slots] = -1
        self.seat[slots[:count]] = fresh
        if count:
            self.engine.load(slots[:count], self.instance[fresh])
            limit = self.engine.batch.limit
            limit[slots[:count]] = np.minimum(limit[slots[:count]], self.max_rounds)

    def _step(self, player: Player, slots: Index, first: int = 0) -> None:
        engine, own = self.engine, self.seat[slots]
        turn = Turn(slots, first + self.instance[own], self.sample[own], self.columns.steps[own])
        picks = player.choose(engine, turn)
        actions = np.full(engine.slots, STOP, np.int64)
        actions[slots] = picks
        given_up = picks == STOP
        made = (picks >= 0) & (picks < engine.batch.layout.nodes)
        self.columns.stopped[own[given_up]] = True
        engine.batch.ended[slots[given_up]] = TERMINATED
        phases = engine.batch.phase[slots]
        engine.step(actions)
        raise_illegal(engine)
        self.columns.reward[own] += engine.rewards[slots]
        self.columns.steps[own] += made
        if self.keep.picks:
            for episode, pick, phase in zip(own[made], picks[made], phases[made], strict=True):
                self.picks[episode].append(int(pick))
                self.phases[episode].append(int(phase))

    # Judging

    def _finish(self, slots: Index) -> None:
        engine, own, out = self.engine, self.seat[slots], self.columns
        out.valid[own] = engine.judge("valid", slots)[slots]
        has_answer = engine.problem.correct is not None
        out.correct[own] = engine.judge("correct", slots)[slots] if has_answer else out.valid[own]
        out.truncated[own] = engine.batch.ended[slots] == TRUNCATED
        if self.objective is not None:
            out.objective[own] = self._values(self.objective, slots)
        for name, values in out.metrics.items():
            values[own] = self._values(Role.METRIC.of(name), slots)
        for slot, episode in zip(slots.tolist(), own.tolist(), strict=True):
            if self.keep.solutions:
                self.solutions[episode] = _digest(engine, slot)
            if self.keep.states:
                self.states[episode] = _end_state(engine, slot)

    def _values(self, kernel: str, slots: Index) -> NDArray[np.float64]:
        out = np.zeros(self.engine.slots)
        self.engine.kernels.run(kernel, slots, out)
        return out[slots]


def objective_kernel(engine: Engine, name: str | None) -> str | None:
    """The kernel of the named objective, or the first; None if there is none to be had."""
    problem: Problem = engine.problem
    known = [entry.name for entry in problem.objectives]
    if name is not None and name not in known:
        has = ", ".join(known) or "none"
        raise ValueError(f"{problem.name} has no objective `{name}`; it has: {has}")
    if not known:
        return None
    kernel = Role.OBJECTIVE.of(name or known[0])
    return kernel if engine.compiled.artifact.abi.has(kernel) else None


def raise_illegal(engine: Engine) -> None:
    """Our mistake, not a user's: a player's pick was not legal."""
    illegal = engine.kernels.illegal()
    if len(illegal):
        raise ValueError(f"an illegal node was picked in slot {illegal[0]}")


def _end_state(engine: Engine, slot: int) -> dict[str, Values]:
    names = [f.name for f in engine.problem.features if f.stage.written]
    state = {name: engine.batch.read_feature(slot, name) for name in names}
    if engine.problem.graph.mutable:
        state["edge"] = engine.batch.read_adjacency(slot)
    return state


def _digest(engine: Engine, slot: int) -> np.uint64:
    digest = hashlib.blake2b(digest_size=8)
    for values in _end_state(engine, slot).values():
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.uint64(int.from_bytes(digest.digest(), "little"))
