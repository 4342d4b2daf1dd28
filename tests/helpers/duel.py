"""One problem played twice at once: by the interpreter, and by its generated kernels.

Everything that can be observed is compared for exact equality after every pick.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gnarl_compiler.build.artifact import Artifact, compile_problem, generate_code
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import STOP, Episode, SpecRunError, State
from gnarl_compiler.support.endings import DEAD_END, ILLEGAL, SpecFault
from gnarl_dsl.model import Feature, Problem
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.kernels import Kernels
from gnarl_runtime.batch.layout import layout_of

T = TypeVar("T")
_ENDED = {None: 0, "terminated": 1, "truncated": 2}
JUNK = 1  # what arrays hold before a reset that must overwrite it


def plain_artifact(problem: Problem, reward: str | None = None) -> Artifact:
    text = generate_code(problem, reward)
    return Artifact(text, Path("plain"), load_plain(text))


def rewards_of(problem: Problem) -> list[str]:
    return [entry.name for entry in (*problem.objectives, *problem.rewards)]


class Duel:
    """Several episodes side by side; `states[b]` is None once slot b has stopped with an error."""

    def __init__(
        self,
        problem: Problem,
        instances: Sequence[Instance],
        reward: str | None = None,
        jit: bool = False,
    ) -> None:
        self.prepare(problem, instances, reward, jit)
        self.reset(instances)

    def prepare(
        self,
        problem: Problem,
        instances: Sequence[Instance],
        reward: str | None = None,
        jit: bool = False,
        edges: int | None = None,
    ) -> None:
        """Everything but the first reset; slots have room for one node more than is needed."""
        self.problem = problem
        self.game = Interpreter(problem, reward)
        self.artifact: Artifact = (compile_problem if jit else plain_artifact)(problem, reward)
        oracles = self.artifact.abi.oracles
        nodes = max(instance.graph.n for instance in instances) + 1
        layout = layout_of(problem, len(instances), nodes, edges, oracles)
        self.batch = Batch.allocate(layout)
        self.kernels = Kernels(self.artifact, self.batch)
        self.slots = np.arange(len(instances))
        self.rewards = np.zeros(len(instances))
        self.states: list[State | None] = []
        self.checks = 0

    # Episodes

    def reset(self, instances: Sequence[Instance]) -> None:
        self.states = []
        lines = []
        for slot, instance in enumerate(instances):
            state, line = attempt(partial(self.game.reset, instance))
            self.states.append(state)
            lines.append(line)
            self.load(slot, instance)
        self.kernels.fault[:] = 0
        self.run("reset", self.slots, self.kernels.fault)
        for slot, line in enumerate(lines):
            self.expect_fault(slot, line)
        self.compare()

    def load(self, slot: int, instance: Instance) -> None:
        """Graph and inputs of an instance, and the labels that the kernels read."""
        batch = self.batch
        batch.load_graph(slot, instance.graph.adjacency)
        batch.tags[slot] = 0
        batch.tags[slot, : instance.graph.n] = instance.tags
        episode = Episode(self.problem, instance, dict(instance.oracles), 0.0, 0.0)
        read = Evaluator(self.game.blank_state(episode))
        for feature in batch.layout.stored():
            values = batch.features[feature.name]
            if not feature.stage.steady:
                values[slot] = JUNK
            else:
                with np.errstate(invalid="ignore"):  # labels may be infinite
                    known = np.asarray(read.stored(feature.name))
                    batch.load_feature(slot, feature, known, instance.graph.adjacency)

    def step(self, rng: np.random.Generator) -> bool:
        """One random pick in every running slot; whether there was one."""
        actions = np.zeros(len(self.states), np.int64)
        wanted = np.zeros(len(self.states))
        lines: list[int | None] = [None] * len(self.states)
        for slot, state in enumerate(self.states):
            if state is None or state.ended is not None:
                continue
            pick = int(rng.choice(self.game.choices(state)))
            actions[slot] = self.batch.layout.nodes if pick == STOP else pick
            moved, lines[slot] = attempt(partial(self.game.step, state, pick))
            self.states[slot] = moved.state if moved else None
            wanted[slot] = moved.reward if moved else 0.0
            if moved and self.game.is_dead_end(moved.state):
                lines[slot] = DEAD_END
        self.run("step", actions, self.rewards, self.kernels.fault)
        for slot, line in enumerate(lines):
            self.expect_fault(slot, line)
            if line is None:
                require(self.rewards[slot], wanted[slot], f"reward of slot {slot}")
        self.compare()
        return any(state is not None and state.ended is None for state in self.states)

    def illegal_pick(self) -> None:
        """A forbidden pick is reported and changes nothing."""
        actions = np.full(len(self.states), self.batch.layout.choices, np.int64)
        for slot, state in enumerate(self.states):
            if state is not None and not self.game.mask(state).all():
                actions[slot] = np.flatnonzero(~self.game.mask(state))[0]
        self.run("step", actions, self.rewards, self.kernels.fault)
        for slot, state in enumerate(self.states):
            if state is not None and state.ended is None:
                require(self.kernels.fault[slot], ILLEGAL, "fault of an illegal pick")
        self.compare()

    def run(self, kernel: str, *first: Any) -> None:
        with np.errstate(all="ignore"):  # uncompiled arithmetic warns of infinities
            self.kernels.run(kernel, *first)

    def expect_fault(self, slot: int, line: int | None) -> None:
        """The kernels report the line that the interpreter named, and the slot is given up."""
        code = int(self.kernels.fault[slot])
        if line == DEAD_END or code <= 0:
            require(code, line or 0, f"fault of slot {slot}")
        else:
            require(self.fault_line(code), line, f"fault of slot {slot}")
        if line is not None:
            self.states[slot] = None
            self.batch.ended[slot] = 1

    def fault_line(self, code: int) -> int:
        return self.problem.line_of(self.artifact.abi.fault(code).span)

    # Comparisons

    def compare(self) -> None:
        self.observe()
        for slot, state in enumerate(self.states):
            if state is not None:
                self.compare_progress(slot, state)
                self.compare_graph(slot, state)
                self.compare_views(slot, state)
                self.checks += 1
        for expert in self.problem.experts:
            self.compare_expert(expert.name)
        self.compare_values()

    def compare_progress(self, slot: int, state: State) -> None:
        batch, n = self.batch, state.n
        require(batch.ended[slot], _ENDED[state.ended], f"end of slot {slot}")
        require(batch.legal[slot, :n], self.game.mask(state), f"mask of slot {slot}")
        require(batch.legal[slot, n : batch.layout.nodes].any(), False, "padding of the mask")
        if self.problem.may_stop:
            require(batch.legal[slot, -1], self.game.may_stop(state), "whether it may be ended")
        require(batch.phase[slot], state.phase, "phase")
        require(batch.last[slot], state.last, "last picks")
        require(batch.opening(np.array([slot])), [state.opening], "whether a round begins")
        require(batch.rounds[slot], state.rounds, "rounds")
        require(batch.horizon[slot], state.episode.horizon, "horizon")
        require(batch.limit[slot], state.episode.limit, "limit")

    def compare_views(self, slot: int, state: State) -> None:
        """What the network reads; rows of nodes that are not shown are not read."""
        abi, here, n = self.artifact.abi, np.array([slot]), state.n
        window = self.game.window(state)
        if abi.has(Role.WINDOW.of()):
            self.batch.window[slot] = JUNK
            self.run(Role.WINDOW.of(), here)
            require(self.batch.window[slot, :n], window, f"window of slot {slot}")
            require(self.batch.window[slot, n:].any(), False, "padding of the window")
        for name in (Role.MESSAGES.of(), Role.MESSAGES.of("reset")):
            if abi.has(name):
                self.batch.heard[slot] = JUNK
                self.run(name, here)
                bits = np.unpackbits(
                    self.batch.heard[slot].view(np.uint8), axis=1, bitorder="little"
                )
                found = bits[:n].astype(np.bool_)[window]
                require(found[:, :n], self.game.heard(state)[window], f"messages of slot {slot}")
                require(found[:, n:].any(), False, "padding of the messages")

    def compare_graph(self, slot: int, state: State) -> None:
        batch, n = self.batch, state.n
        require(batch.read_adjacency(slot), state.adjacency, f"graph of slot {slot}")
        arcs = int(state.adjacency.sum())
        require(batch.m[slot], arcs if self.problem.graph.directed else arcs // 2, "m")
        rows, sources = np.nonzero(state.adjacency.T)
        require(batch.src[slot, :arcs], sources, "sources")
        require(batch.rowptr[slot, : n + 1], np.searchsorted(rows, np.arange(n + 1)), "rows")
        require(batch.rowptr[slot, n:], arcs, "padding of the rows")

    def observe(self) -> None:
        fault = np.zeros(len(self.states), np.int32)
        self.run("observe", self.slots, fault)
        for slot, state in enumerate(self.states):
            if state is None:
                continue
            first = None
            for feature in self.problem.features:
                line = self.compare_feature(slot, state, feature)
                first = line if first is None else first
            found = self.fault_line(int(fault[slot])) if fault[slot] else None
            require(found, first, f"fault of the observation in slot {slot}")

    def compare_feature(self, slot: int, state: State, feature: Feature) -> int | None:
        """The line of the feature if the interpreter says that it cannot be observed."""
        if not feature.observed and not feature.stage.written:
            return None
        game = self.game
        wanted, line = attempt(lambda: game.fitting(feature, Evaluator(state).stored(feature.name)))
        if wanted is not None:
            require(self.batch.read_feature(slot, feature.name), wanted, f"`{feature.name}`")
            require_padding(self.batch, slot, feature)
        return line

    def compare_expert(self, name: str) -> None:
        out = np.full(self.batch.legal.shape, 0.5)
        for slot, state in enumerate(self.states):
            if state is None:
                continue
            wanted, line = attempt(partial(self.game.expert, state, name))
            found = attempt_kernel(partial(self.run, Role.EXPERT.of(name), np.array([slot]), out))
            require(found, line, f"fault of the expert {name}")
            if wanted is not None:
                require(out[slot, : state.n], wanted, f"expert {name} in slot {slot}")
                rest = out[slot, state.n : self.batch.layout.nodes]
                require(rest.any(), False, "padding of an expert")
            if wanted is not None and self.problem.may_stop:
                require(out[slot, -1], self.game.done(state, name), f"end by the expert {name}")

    def compare_values(self) -> None:
        game, problem = self.game, self.problem
        for clause in ("correct", "valid"):
            if getattr(problem, clause) is not None:
                self.compare_kernel(Role.JUDGE.of(clause), getattr(game, clause))
        for goal in problem.objectives:
            wanted = partial(game.objective, name=goal.name)
            self.compare_kernel(Role.OBJECTIVE.of(goal.name), wanted)
        for metric in problem.metrics:
            self.compare_kernel(Role.METRIC.of(metric.name), partial(game.metric, name=metric.name))

    def compare_kernel(self, kernel: str, wanted: Callable[[State], float | bool]) -> None:
        out = np.zeros(len(self.states))
        self.run(kernel, self.slots, out)
        for slot, state in enumerate(self.states):
            if state is not None:
                require(out[slot], float(wanted(state)), f"{kernel} of slot {slot}")


def attempt(action: Callable[[], T]) -> tuple[T | None, int | None]:
    """The result of something in the interpreter, or the line of the spec where it stopped."""
    try:
        return action(), None
    except SpecRunError as error:
        return None, error.line


def attempt_kernel(action: Callable[[], None]) -> int | None:
    try:
        action()
    except SpecFault as fault:
        return int(str(fault).split()[1].rstrip(":"))
    return None


def require(found: Any, wanted: Any, what: str) -> None:
    """Exact equality; arithmetic is total, so nothing is ever NaN."""
    same = np.array_equal(np.asarray(found), np.broadcast_to(wanted, np.shape(found)))
    assert same, f"{what}: the kernels have {found!r}, the interpreter {wanted!r}"


def require_padding(batch: Batch, slot: int, feature: Feature) -> None:
    values, n = batch.features[feature.name], int(batch.n[slot])
    if values.ndim == 1 or feature.stage.name == "input":
        return
    if feature.place.name == "edge":
        rest = values[slot, int(batch.m[slot]) :]
    else:
        rest = values[slot].copy()
        rest[(slice(n),) * rest.ndim] = 0
    require(rest.any(), False, f"padding of `{feature.name}`")


def play(duel: Duel, rng: np.random.Generator, steps: int) -> None:
    duel.illegal_pick()
    for _ in range(steps):
        if not duel.step(rng):
            break
