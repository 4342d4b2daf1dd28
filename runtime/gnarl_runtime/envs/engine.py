"""A problem and a pool of instances in, many episodes stepped at once in compiled kernels.

This is what trainers and evaluation use; the Gymnasium environments are adapters on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact, compile_problem
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.passes.pruning import Mode
from gnarl_compiler.support.edges import fill_ends
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl.externs import with_installed
from gnarl_dsl.model import (
    BestExpert,
    GreedyExpert,
    PlannedExpert,
    Problem,
    RuleExpert,
    SearchExpert,
)
from gnarl_dsl.model.kinds import DERIVED
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.batch.layout import BatchLayout, layout_of
from gnarl_runtime.envs.following import Following
from gnarl_runtime.instances.pools import Pool


@dataclass(frozen=True)
class Compiled:
    """A problem with its kernels, and the oracles that these read."""

    problem: Problem
    artifact: Artifact
    reward: str | None
    experts: tuple[str, ...]
    metrics: bool

    def __reduce__(self) -> tuple[Any, ...]:
        """Machine code does not travel: whoever receives it compiles, or finds it in the cache."""
        return compile_for, (self.problem, self.reward, self.experts, self.metrics)

    @property
    def oracles(self) -> tuple[str, ...]:
        return self.artifact.abi.oracles


def compile_for(
    problem: Problem,
    reward: str | None = None,
    experts: tuple[str, ...] = (),
    metrics: bool = False,
) -> Compiled:
    """The kernels that some use needs: oracles that only others read are never solved."""
    known = [expert.name for expert in problem.experts]
    for name in experts:
        if name not in known:
            has = ", ".join(known) or "none"
            raise UsageError(f"{problem.name} has no expert `{name}`; it has: {has}")
    # An expert that is made for each instance has no kernel; those that it follows have.
    asked = [problem.expert(name) for name in experts]
    kernels = [e.members if isinstance(e, BestExpert) else (e.name,) for e in asked]
    own = tuple(dict.fromkeys(name for names in kernels for name in names))
    mode = Mode(experts=own, metrics=metrics)
    problem = with_installed(problem)
    return Compiled(problem, compile_problem(problem, reward, mode), reward, experts, metrics)


class Engine:
    """`slots` episodes side by side; finished ones start again on another instance of the pool."""

    def __init__(
        self, compiled: Compiled, pool: Pool, slots: int, seed: int = 0, first: int = 0
    ) -> None:
        """`first`: the number of the first slot, where other engines have those before it."""
        self.compiled = compiled
        self.problem = compiled.problem
        self.pool = pool
        room = pool.batch.layout
        self.batch = Batch.allocate(
            layout_of(self.problem, slots, room.nodes, spare_edges(room), compiled.oracles)
        )
        self.kernels = Kernels(compiled.artifact, self.batch)
        self.rewards = np.zeros(slots)  # (slots,)
        self.ends = np.full((slots, self.batch.layout.edges, 2), -1, np.int32)
        self.environments = np.arange(slots)
        self.numbers = first + self.environments  # (slots,) what is drawn for a slot hangs on it
        self._has_derived = any(f.stage is DERIVED for f in self.problem.features)
        self._mutable = self.problem.graph.mutable
        # What the network reads: found at reset where inputs decide it, else in every state.
        known = compiled.artifact.abi.has
        views = (Role.WINDOW.of(), Role.MESSAGES.of())
        self._views = [name for name in views if known(name)]
        self._early_views = [name for name in (Role.MESSAGES.of("reset"),) if known(name)]
        self.episodes = np.zeros(slots, np.int64)
        self.instance = np.zeros(slots, np.int64)  # (slots,) its number in the pool
        self.following = {  # how far each slot follows what was found, by expert
            name: Following(pool.plans[name], slots)
            for name in compiled.experts
            if name in pool.plans and isinstance(self.problem.expert(name), SearchExpert)
        }
        self.seed(seed)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "kernels": self.kernels.kept()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Kernels are bound to arrays, so they are bound anew to the arrays that arrived."""
        self.__dict__.update(state)
        self.kernels = Kernels(self.compiled.artifact, self.batch, state["kernels"])

    def seed(self, seed: int) -> None:
        """Which instance each slot gets in which of its episodes; counts from the first again."""
        self.sampler = self.pool.sampler(seed)
        self.episodes[:] = 0

    @property
    def slots(self) -> int:
        return len(self.environments)

    def reset(self, slots: NDArray[np.int64] | None = None) -> None:
        """Start new episodes in some slots, or in all."""
        slots = self.environments if slots is None else slots
        if len(slots) == 0:
            return
        if len(slots) == 1:
            slot = int(slots[0])
            pick = self.sampler.pick(int(self.numbers[slot]), int(self.episodes[slot]))
            picks = np.array([pick], np.int64)
            self.episodes[slot] += 1
        else:
            picks = self.sampler.picks(self.numbers[slots], self.episodes[slots])
            self.episodes[slots] += 1
        self._start(slots, picks, self.pool.copier(self.batch).copy(picks, slots))

    def load(self, slots: NDArray[np.int64], picks: NDArray[np.int64]) -> None:
        """Start episodes on given instances of the pool."""
        self._start(slots, picks, self.pool.copy_into(self.batch, slots, picks))

    def _start(
        self, slots: NDArray[np.int64], picks: NDArray[np.int64], others: NDArray[np.int64]
    ) -> None:
        """Episodes whose instances have been copied; `others` got another graph than they had."""
        self.instance[slots] = picks
        for found in self.following.values():
            found.start(slots)
        self.kernels.reset(slots)
        if len(others):
            self._fill_ends(others)
        for name in self._early_views:
            self.kernels.run(name, slots)
        self._observe(slots)

    def step(self, actions: NDArray[np.int64]) -> bool:
        """One pick per running slot; `rewards`, `batch.ended` and `batch.legal` tell the rest.

        Whether any pick was illegal comes out; `kernels.illegal` says which.

        With `may stop` the pick behind the last node ends the episode, as in `batch.legal`.
        """
        for found in self.following.values():
            found.note(actions, self.batch.ended == RUNNING, self.instance)
        illegal = self.kernels.step(actions, self.rewards)
        if self._mutable:
            self._fill_ends(self.environments)
        if self._has_derived or self._views:
            self._observe(self.environments)
        return illegal

    def stepper(self, actions: NDArray[np.int64], verdict: NDArray[np.bool_]) -> Callable[[], bool]:
        """A call that steps with what stands in `actions`, and leaves faults as they are.

        It is as cheap as can be, and so are then resets of all slots and `kernels.judge` into
        `verdict`: for one small graph, calls cost more than what is done.
        """
        held = self.kernels.hold(self.environments, actions, self.rewards, verdict)
        alone = not (self.following or self._mutable or self._has_derived or self._views)
        return held if held is not None and alone else partial(self.step, actions)

    def finished(self) -> NDArray[np.int64]:
        """The slots whose episode has ended."""
        return np.flatnonzero(self.batch.ended != RUNNING)

    def _fill_ends(self, slots: NDArray[np.int64]) -> None:
        directed = self.problem.graph.directed
        batch = self.batch
        graph = (batch.n, batch.rowptr, batch.src, batch.adjacency)
        fill_ends(slots, self.ends, directed, *graph)

    def _observe(self, slots: NDArray[np.int64]) -> None:
        if self._has_derived:
            self.kernels.run("observe", slots, self.kernels.fault)
            self.kernels.raise_faults()
        for name in self._views:
            self.kernels.run(name, slots)

    def expert(
        self,
        name: str | None = None,
        out: NDArray[np.float64] | None = None,
        slots: NDArray[np.int64] | None = None,
    ) -> NDArray[np.float64]:
        """The expert's distribution for every slot; zeros where it has nothing to say.

        With `may stop` the last column is to end the episode: where the expert is done.
        `out` (slots, choices) is filled instead of a new array; with `slots` only these are asked.
        """
        chosen = name or (self.compiled.experts[0] if self.compiled.experts else None)
        if chosen not in self.compiled.experts:
            has = ", ".join(self.compiled.experts) or "none"
            raise ValueError(f"this engine was compiled with experts: {has}; not `{chosen}`")
        out = np.zeros(self.batch.legal.shape) if out is None else out
        asked = self.environments if slots is None else slots
        match self.problem.expert(chosen):
            case BestExpert(members=members):
                member = self._plan(str(chosen))[self.instance[asked], 0]
                for number, name in enumerate(members):
                    self.kernels.run(Role.EXPERT.of(name), asked[member == number], out)
            case SearchExpert():
                self._plan(str(chosen))
                running = self.batch.ended == RUNNING
                stops = self.batch.legal[:, -1] if self.problem.may_stop else None
                self.following[str(chosen)].fill(out, asked, self.instance, running, stops)
            case RuleExpert() | GreedyExpert():
                self.kernels.run(Role.EXPERT.of(str(chosen)), asked, out)
            case expert:
                assert_never(expert)
        return out

    def _plan(self, name: str) -> NDArray[np.int64]:
        """What was found for an expert that is made for each instance of the pool."""
        if name not in self.pool.plans:
            raise UsageError(
                f"the expert `{name}` is made for each instance, and nobody has done so for "
                "these; expected a pool from gnarl_runtime.search.planned.planning.plan_experts"
            )
        return self.pool.plans[name]

    @property
    def planned(self) -> bool:
        """Whether some expert depends on which instance is in a slot."""
        experts = map(self.problem.expert, self.compiled.experts)
        return any(isinstance(expert, PlannedExpert) for expert in experts)

    def judge(self, clause: str, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """`correct` or `valid` in some slots, false elsewhere; true if there is no such clause."""
        out = np.zeros(self.slots, np.bool_)
        out[slots] = True
        kernel = Role.JUDGE.of(clause)
        if self.compiled.artifact.abi.has(kernel):
            self.kernels.run(kernel, slots, out)
        return out


def spare_edges(layout: BatchLayout) -> int:
    """Room for the edges that updates may add."""
    if not layout.problem.graph.mutable:
        return layout.edges
    most = layout.nodes * (layout.nodes - 1)
    return most if layout.problem.graph.directed else most // 2
