"""One episode in the interpreter: a problem and an instance in, a table of its steps out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.explain import why_illegal
from gnarl_compiler.interpret.state import STOP, Change, State, Value
from gnarl_dsl.model import Feature, Problem

_AT_ONCE = 4  # cells of a feature, written by one line, that a summary shows
Policy = Callable[[State], NDArray[np.float64]]  # (nodes,), and to end it if that may be


@dataclass(frozen=True)
class Step:
    """One pick with everything a reader may ask about it."""

    number: int
    round: int
    phase: str
    legal: tuple[int, ...]
    pick: int
    changes: tuple[Change, ...]
    reward: float
    why: tuple[tuple[int, str], ...]
    may_stop: bool = False  # it could have been ended instead


@dataclass
class Trace:
    """Plays an episode step by step; `state` is where it stands, `labels` are nodes' names.

    `chosen` says whether the policy has ended it, which is no step.
    """

    game: Interpreter
    state: State
    policy: Policy
    rng: np.random.Generator
    stopped: str = ""
    total: float = 0.0
    labels: Sequence[str] = ()
    chosen: bool = False

    def steps(self, explain: bool) -> Iterator[Step]:
        """Steps until the episode ends, or until the policy has nothing to pick from."""
        number = 0
        while self.state.ended is None:
            if self.game.is_dead_end(self.state):
                self.stopped = "dead end: no node can be picked in the middle of a round"
                return
            choice = self.policy(self.state)
            if not choice.any():
                self.stopped = "the policy has nothing to pick here"
                return
            pick = int(self.rng.choice(len(choice), p=choice))
            if pick == self.state.n:
                self.stop()
                return
            number += 1
            yield self.play(number, pick, explain)

    def stop(self) -> None:
        """The policy ends the episode."""
        moved = self.game.step(self.state, STOP)
        self.state, self.chosen = moved.state, True
        self.total += moved.reward

    def play(self, number: int, pick: int, explain: bool) -> Step:
        before = self.state
        legal = self.game.mask(before)
        illegal = [int(v) for v in np.flatnonzero(~legal)] if explain else []
        why = tuple((v, reason) for v in illegal for reason in self.reasons(before, v))
        moved = self.game.step(before, pick)
        self.state = moved.state
        self.total += moved.reward
        return Step(
            number=number,
            round=before.rounds + 1,
            phase=self.game.problem.phases[before.phase].name,
            legal=tuple(int(v) for v in np.flatnonzero(legal)),
            pick=pick,
            changes=moved.changes,
            reward=moved.reward,
            why=why,
            may_stop=self.game.may_stop(before),
        )

    def reasons(self, state: State, node: int) -> list[str]:
        reasons = why_illegal(self.game, state, node)
        return [reason.describe(self.game.problem, self.labels) for reason in reasons]


def expert_policy(game: Interpreter, name: str | None) -> Policy:
    def choose(state: State) -> NDArray[np.float64]:
        return _with_end(game, game.expert(state, name), game.done(state, name))

    return choose


def random_policy(game: Interpreter) -> Policy:
    """Every legal pick equally likely."""

    def choose(state: State) -> NDArray[np.float64]:
        mask = _with_end(game, game.mask(state).astype(np.float64), game.may_stop(state))
        return mask / max(1, int(mask.sum()))

    return choose


def _with_end(game: Interpreter, chances: NDArray[np.float64], end: bool) -> NDArray[np.float64]:
    """Where episodes may be ended, that is one more thing to pick, behind the nodes."""
    return np.append(chances, float(end)) if game.problem.may_stop else chances


def describe_changes(
    problem: Problem, changes: tuple[Change, ...], labels: Sequence[str] = ()
) -> list[str]:
    """What a step changed, a cell at a time; writes of the same value are left out.

    Nodes are called by their labels, or by number without any.
    """
    return [
        f"{_change_text(problem, change, labels)} (line {problem.line_of(change.span)})"
        for change in changes
        if change.before != change.after
    ]


def summarise_changes(problem: Problem, changes: tuple[Change, ...]) -> str:
    """The same on one line: of a feature that a line of the spec has much to do with, the first."""
    written: dict[tuple[str, int], list[Change]] = {}
    for change in changes:
        if change.before != change.after:
            place = change.target, problem.line_of(change.span)
            written.setdefault(place, []).append(change)
    if all(len(group) <= _AT_ONCE + 1 for group in written.values()):
        return "; ".join(describe_changes(problem, changes))
    texts: list[str] = []
    for (target, line), group in written.items():
        shown = [_change_text(problem, change, ()) for change in group[:_AT_ONCE]]
        more = len(group) - len(shown)
        if more > 1:
            texts.append(f"{', '.join(shown)} and {more} more of {target} (line {line})")
        else:
            texts += describe_changes(problem, tuple(group))
    return "; ".join(texts)


def _change_text(problem: Problem, change: Change, labels: Sequence[str]) -> str:
    feature = None if change.target == "edge" else problem.feature(change.target)
    values = change.before, change.after
    before, after = (_value_text(feature, value, labels) for value in values)
    return f"{_cell_text(change, labels)} {before} → {after}"


def _cell_text(change: Change, labels: Sequence[str]) -> str:
    index = ", ".join(labels[node] if labels else str(node) for node in change.index)
    if change.target == "edge":
        return f"edge({index})"
    return f"{change.target}[{index}]" if change.index else change.target


def _value_text(feature: Feature | None, value: Value | complex, labels: Sequence[str] = ()) -> str:
    if isinstance(value, complex):
        return f"({value.real:.6g}, {value.imag:.6g})"
    if isinstance(value, bool):
        return "true" if value else "false"
    if feature is not None and feature.type.names_nodes and int(value or 0) < 0:
        return "unset"
    if labels and feature is not None and feature.type.names_nodes:
        return labels[int(value or 0)]
    if feature is not None and feature.choices:
        return feature.choices[int(value or 0)]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def describe_instance(problem: Problem, instance: Instance) -> list[str]:
    """The graph and its inputs in a few lines."""
    graph = instance.graph
    joint = "→" if graph.directed else "-"
    edges = [(int(u), int(v)) for u, v in graph.edges()]
    shown = " ".join(f"{u}{joint}{v}" for u, v in edges[:40])
    more = f" … ({len(edges) - 40} more)" if len(edges) > 40 else ""
    nodes = f"{graph.n} node{'s' * (graph.n != 1)}"
    lines = [f"{nodes}, {graph.m} edge{'s' * (graph.m != 1)}: {shown}{more}"]
    for name, values in instance.inputs.items():
        lines.append(f"{name} = {_input_text(problem.feature(name), values, edges, joint)}")
    return lines


def _input_text(
    feature: Feature, values: NDArray[np.generic], edges: list[tuple[int, int]], joint: str
) -> str:
    if feature.single:
        return str(values[()].item())
    if feature.width == 1:
        return " ".join(_value_text(feature, value.item()) for value in values[:40])
    cells = [f"{u}{joint}{v}: {_value_text(feature, values[u, v].item())}" for u, v in edges[:20]]
    return ", ".join(cells) + (" …" if len(edges) > 20 else "")
