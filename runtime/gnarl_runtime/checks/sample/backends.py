"""Plays go in, where kernels and interpreter disagree comes out: after the reset and every pick.

The interpreter defines the language, so a difference is a mistake of GNARL, not of a spec.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.abi import Kernel, Role
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import STOP, SpecRunError, State
from gnarl_compiler.support.endings import DEAD_END, RUNNING, TERMINATED, TRUNCATED, SpecFault
from gnarl_dsl.model import CostTerm, Problem
from gnarl_runtime.batch.batch import pack_bits
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.checks.explore.artifacts import batch_for, instance_pool
from gnarl_runtime.checks.findings.findings import Failure

Play = tuple[Instance, tuple[int, ...]]

# In the unit of the spec's own costs; the interpreter does about 50,000 of them per second.
_STEPS = 60_000
_MOST_PICKS = 24  # of one play: its start and many others show more than its end
_SLOT = np.zeros(1, np.int64)
_ENDED = {None: RUNNING, "terminated": TERMINATED, "truncated": TRUNCATED}


@dataclass(frozen=True)
class Difference:
    """After how many picks the two differ, and in what."""

    picks: int
    text: str


def backend_failures(
    problem: Problem, artifact: Artifact, plays: Sequence[Play], share: float = 1.0
) -> Iterator[Failure]:
    """The first play of which kernels and interpreter disagree, of as many as time allows."""
    for instance, picks in affordable(problem, plays, _STEPS * share):
        found = first_difference(problem, artifact, instance, picks)
        if found is not None:
            yield Failure("backend", found.text, instance, picks[: found.picks], None)
            return


def affordable(problem: Problem, plays: Sequence[Play], steps: float) -> Iterator[Play]:
    """Plays of all kinds and sizes, cut short, until so many steps are spent."""
    order = np.random.default_rng(len(plays)).permutation(len(plays))
    for number in order:
        instance, picks = plays[number]
        cost = state_cost(problem, instance)
        picks = picks[: min(_MOST_PICKS, int(steps / 4 / cost))]
        steps -= cost * (len(picks) + 1)
        if steps < 0:
            return
        yield instance, picks


def state_cost(problem: Problem, instance: Instance) -> float:
    """About what one state costs with everything that can be asked about it."""
    n, m = instance.graph.n, instance.graph.m
    parts = [problem.costs.step, problem.costs.observation, *dict(problem.costs.experts).values()]
    return 10 + sum(evaluate_cost(terms, n, m) for terms in parts)


def evaluate_cost(terms: tuple[CostTerm, ...], n: int, m: int) -> float:
    """A polynomial of the spec's costs at one size; a degree is taken for the mean one."""
    degree = 2 * m / max(n, 1)
    return float(sum(n**t.nodes * m**t.edges * degree**t.degree for t in terms) + n)


def first_difference(
    problem: Problem, artifact: Artifact, instance: Instance, picks: Sequence[int]
) -> Difference | None:
    """Where kernels and interpreter part on one play; None if they never do."""
    pair = _Pair(problem, artifact, instance)
    for done in range(len(picks) + 1):
        text = next(pair.differences(), None)
        if text is not None:
            return Difference(done, text)
        if pair.state is None or done == len(picks):
            return None
        text = pair.step(picks[done])
        if text is not None:
            return Difference(done + 1, text)
    return None


class _Pair:
    """One episode played twice; `state` is None once both have stopped with the same error."""

    def __init__(self, problem: Problem, artifact: Artifact, instance: Instance) -> None:
        self.problem, self.artifact = problem, artifact
        self.game = Interpreter(problem)
        self.kernels = Kernels(
            artifact, batch_for(instance_pool(problem, artifact, [instance]), [0])
        )
        self.rewards = np.zeros(1)
        self.early: str | None = None
        self.state: State | None = None
        self.run("reset", _SLOT, self.kernels.fault)
        try:
            self.state = self.game.reset(instance)
        except SpecRunError as error:
            self.early = self.stopped(error)
        else:
            self.early = self.unexpected_fault()

    def run(self, kernel: str, *first: NDArray[Any]) -> None:
        with np.errstate(all="ignore"):
            self.kernels.run(kernel, *first)

    def stopped(self, error: SpecRunError) -> str | None:
        """The interpreter stopped: the kernels must name the same line."""
        self.state, code = None, int(self.kernels.fault[0])
        line = self._line(code) if code > 0 else None
        return None if line == error.line else f"only the interpreter stops: {error}"

    def _line(self, code: int) -> int:
        return self.problem.line_of(self.artifact.abi.fault(code).span)

    def unexpected_fault(self) -> str | None:
        code = int(self.kernels.fault[0])
        if code > 0:
            fault = self.artifact.abi.fault(code)
            return f"only compiled code stops: {fault.told(self.problem)}"
        dead = self.state is not None and self.game.is_dead_end(self.state)
        if (code == DEAD_END) != dead:
            return f"a dead end in {'compiled code' if code else 'the interpreter'} only"
        return None

    def step(self, pick: int) -> str | None:
        """The same pick in both; a difference in what it pays or whether it works."""
        assert self.state is not None
        action = self.kernels.batch.layout.nodes if pick == STOP else pick
        self.run("step", np.array([action]), self.rewards, self.kernels.fault)
        try:
            moved = self.game.step(self.state, pick)
        except SpecRunError as error:
            return self.stopped(error)
        self.state = moved.state
        paid = float(self.rewards[0])
        return self.unexpected_fault() or unequal("the reward", paid, moved.reward)

    # Comparisons

    def differences(self) -> Iterator[str]:
        """Everything that differs now, in words."""
        if self.early is not None:
            yield self.early
        if self.state is None:
            return
        for what, found, wanted in self.facts(self.state):
            text = unequal(what, found, wanted)
            if text is not None:
                yield text

    def facts(self, state: State) -> Iterator[tuple[str, Any, Any]]:
        """What there is to compare: its name, the kernels' value, the interpreter's."""
        batch, game, n = self.kernels.batch, self.game, state.n
        yield "the end", batch.ended[0], _ENDED[state.ended]
        yield "the mask", batch.legal[0, :n], game.mask(state)
        if self.problem.may_stop:
            yield "whether it may be ended", batch.legal[0, -1], game.may_stop(state)
        yield "the phase", batch.phase[0], state.phase
        yield "the last picks", batch.last[0], state.last
        yield "the rounds", batch.rounds[0], state.rounds
        yield "the horizon", batch.horizon[0], state.episode.horizon
        yield "the limit", batch.limit[0], state.episode.limit
        yield "the graph", batch.read_adjacency(0), state.adjacency
        yield from self.features(state)
        yield from self.values(state)
        yield from self.views(state)
        for expert in self.problem.experts:
            out = np.zeros(batch.legal.shape)
            found = attempt(lambda: self.run(Role.EXPERT.of(expert.name), _SLOT, out))  # noqa: B023
            wanted = attempt(lambda: game.expert(state, expert.name))  # noqa: B023
            seen = out[0, :n] if found is None else None
            yield f"the expert `{expert.name}`", seen, wanted

    def features(self, state: State) -> Iterator[tuple[str, Any, Any]]:
        fault = np.zeros(1, np.int32)
        self.run("observe", _SLOT, fault)
        try:
            seen = self.game.observation(state)
        except SpecRunError as error:
            line = self._line(int(fault[0])) if fault[0] > 0 else 0
            yield "the line that observing stops at", line, error.line
            return
        for name, values in seen.items():
            yield f"`{name}`", self.kernels.batch.read_feature(0, name), values

    def values(self, state: State) -> Iterator[tuple[str, Any, Any]]:
        for kernel in self.artifact.abi.kernels:
            wanted = self.wanted(kernel, state)
            if wanted is not None:
                out = np.zeros(1)
                self.run(kernel.name, _SLOT, out)
                yield f"{kernel.role.value} {kernel.subject}", out[0], wanted

    def views(self, state: State) -> Iterator[tuple[str, Any, Any]]:
        """What the network reads; rows of nodes that are not shown are not read."""
        batch, window = self.kernels.batch, self.game.window(state)
        for kernel in self.artifact.abi.kernels:
            if kernel.role is Role.WINDOW:
                self.run(kernel.name, _SLOT)
                yield "the window", batch.window[0, : state.n], window
            elif kernel.role is Role.MESSAGES:
                self.run(kernel.name, _SLOT)
                told = pack_bits(self.game.heard(state), batch.layout.nodes)[: state.n]
                yield "the messages", batch.heard[0, : state.n][window], told[window]

    def wanted(self, kernel: Kernel, state: State) -> float | None:
        """The interpreter's value of a judgement; None for kernels that fill none."""
        match kernel.role:
            case Role.JUDGE:
                judge = self.game.correct if kernel.subject == "correct" else self.game.valid
                return float(judge(state))
            case Role.OBJECTIVE:
                return self.game.objective(state, kernel.subject)
            case Role.METRIC:
                return self.game.metric(state, kernel.subject)
            case Role.RESET | Role.STEP | Role.RECOUNT | Role.OBSERVE | Role.EXPERT:
                return None
            case Role.WINDOW | Role.MESSAGES:
                return None  # compared as a whole
            case _:
                assert_never(kernel.role)


def attempt(action: Callable[[], Any]) -> Any:
    """What an action gives; None if it stops because of the spec, or gives nothing."""
    try:
        return action()
    except (SpecRunError, SpecFault):
        return None


def unequal(what: str, found: Any, wanted: Any) -> str | None:
    """A sentence if two values are not exactly the same."""
    if (found is None) != (wanted is None):
        return f"{what}: only {'the interpreter' if found is None else 'compiled code'} has one"
    if found is None or _same(found, wanted):
        return None
    return f"{what} is {_text(found)} in compiled code, {_text(wanted)} in the interpreter"


def _same(found: Any, wanted: Any) -> bool:
    left, right = np.asarray(found), np.asarray(wanted)
    return left.shape == right.shape and bool(np.array_equal(left, right))


def _text(value: Any) -> str:
    array = np.asarray(value)
    if array.size > 64 or (array.dtype.kind == "f" and not math.isfinite(float(array.sum()))):
        return np.array2string(array, threshold=8)
    return str(array.tolist())
