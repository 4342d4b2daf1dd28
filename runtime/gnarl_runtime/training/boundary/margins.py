"""An instance and the picks made on it in, every margin of the expert's next decision out.

A margin is the left side minus the right side of a comparison of numbers, or the difference of
the scores of two nodes of which one is the best. It knows its slope in every input cell, also
through what the picks wrote on the way, and it comes with the values of the interpreter: the
evaluator here is the interpreter's own, on numbers that carry slopes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.chase import chase
from gnarl_compiler.interpret.episode import Interpreter, best_of
from gnarl_compiler.interpret.evaluate import Bindings, Evaluator
from gnarl_compiler.interpret.execute import Executor, Write
from gnarl_compiler.interpret.state import Episode, State, Value
from gnarl_dsl import model
from gnarl_dsl.language.operators import COMPARISONS, Operator
from gnarl_dsl.model import Expr, Problem
from gnarl_dsl.model.kinds import NUMBER
from gnarl_dsl.report.source import Span
from gnarl_runtime.training.boundary.flow import Flow
from gnarl_runtime.training.boundary.slopes import Cell, Slopes, Traced, slopes_of, traced


class Key(NamedTuple):
    """Which comparison: a place in the spec, and the nodes it is about."""

    span: Span
    kind: str  # "compare", "minimising", "maximising", "argmin", "argmax" or "greedy"
    nodes: tuple[Value, ...]

    def describe(self, problem: Problem) -> str:
        """The spec's own words."""
        words = "" if self.kind == "compare" else f"{self.kind} "
        return f"line {problem.line_of(self.span)}: {words}{problem.text_of(self.span)}"


Margins = dict[Key, Traced]


def margins_after(
    flow: Flow,
    instance: Instance,
    picks: Iterable[int],
    expert: model.RuleExpert | model.GreedyExpert,
) -> Margins:
    """The margins that the expert meets after these picks, those that some input can move."""
    replay = Replay(flow, instance)
    for node in picks:
        replay.pick(int(node))
    return expert_margins(replay, expert)


class Tracer(Evaluator):
    """The interpreter's evaluator on numbers with slopes; notes margins if there is a book."""

    def __init__(
        self, state: State, flow: Flow, written: Mapping[Cell, Slopes], book: Margins | None = None
    ) -> None:
        super().__init__(state)
        self.flow, self.written, self.book = flow, written, book

    def number(self, expr: Expr, bound: Bindings) -> float:
        value = self.value(expr, bound)
        return value if isinstance(value, float) else float(value or 0.0)

    def apply(self, operator: Operator, *values: float) -> float:
        return traced(operator, values)

    def cell(self, name: str, index: tuple[int, ...]) -> Value:
        value = super().cell(name, index)
        if name not in self.flow.carrying or isinstance(value, Traced):
            return value  # a derived feature's formula has traced its own reads
        if name in self.flow.on_edges and not self.has_edge(*index):
            return value
        place = named_cell(self.flow, name, index)
        slopes = {place: 1.0} if name in self.flow.movable else self.written.get(place)
        return Traced(float(value or 0.0), slopes) if slopes else value

    def chase(self, expr: model.Chase, bound: Bindings) -> Value:
        """The interpreter's, with steps whose costs keep their slopes."""
        if expr.op == "root":
            return super().chase(expr, bound)
        weight = expr.weight
        target = None if expr.target is None else self.node(expr.target, bound)

        def step_cost(u: int, v: int) -> float:
            cost = 1.0 if weight is None else self.cell(weight, (u, v))
            return cost if isinstance(cost, float) else float(cost or 0.0)

        pointers = [int(p) for p in np.ravel(self.stored(expr.pointer))]
        return chase(expr.op, pointers, self.node(expr.start, bound), target, step_cost)

    # Margins

    def compare(self, expr: model.Compare, bound: Bindings) -> bool:
        if expr.of != NUMBER or self.book is None:
            return super().compare(expr, bound)
        left, right = self.value(expr.left, bound), self.value(expr.right, bound)
        if left is None or right is None:
            return False
        self.note(Key(expr.span, "compare", known_values(bound)), left - right)
        return COMPARISONS[expr.op].holds(left, right)

    def quantifier(self, expr: model.Quantifier, bound: Bindings) -> Value:
        """All cases are looked at: which one settles the matter would depend on their order."""
        if self.book is None or expr.op not in ("exists", "forall"):
            return super().quantifier(expr, bound)
        assert expr.body is not None
        cases = [self.truth(expr.body, inner) for inner in self.chosen(expr, bound)]
        return any(cases) if expr.op == "exists" else all(cases)

    def best_node(
        self, expr: model.Quantifier, body: Expr, chosen: Iterator[Bindings]
    ) -> int | None:
        cases = list(chosen)
        name, sign = expr.binders[0].names[0], 1.0 if expr.op == "argmin" else -1.0
        scores = {int(case[name] or 0): sign * self.number(body, case) for case in cases}
        self.note_ties(body.span, expr.op, scores, known_values(cases[0])[:-1] if cases else ())
        return super().best_node(expr, body, iter(cases))

    def note_ties(
        self, span: Span, kind: str, scores: Mapping[int, float], around: tuple[Value, ...]
    ) -> None:
        """The margins between the best node and each other one; the lower node comes first."""
        if self.book is None or not scores:
            return
        best = min(scores, key=lambda node: float(scores[node]))
        for node in scores:
            if node != best:
                low, high = min(node, best), max(node, best)
                self.note(Key(span, kind, (*around, low, high)), scores[low] - scores[high])

    def note(self, key: Key, margin: float) -> None:
        """Keep what an input can move: where u leads to v, d[u] + A[u, v] - d[v] is 0 for good."""
        if self.book is None or not isinstance(margin, Traced):
            return
        if math.isfinite(margin) and any(margin.slopes.values()):
            self.book.setdefault(key, margin)


def known_values(bound: Bindings) -> tuple[Value, ...]:
    """What tells one evaluation of a formula from another, whatever the inputs are."""
    return tuple(None if isinstance(value, Traced) else value for value in bound.values())


def named_cell(flow: Flow, name: str, index: tuple[int, ...]) -> Cell:
    """The one name of a cell: both directions of an undirected edge share it."""
    if name in flow.on_edges and not flow.problem.graph.directed:
        return name, (min(index), max(index))
    return name, index


# Replaying


class Replay:
    """An episode that is led by given picks; nobody asks whether it has ended."""

    def __init__(self, flow: Flow, instance: Instance) -> None:
        problem = flow.problem
        episode = Episode(problem, instance, dict(instance.oracles), math.inf, math.inf)
        blank = Interpreter(problem).blank_state(episode)
        features = Interpreter(problem).initial_features(blank)
        self.flow, self.problem = flow, problem
        first = Interpreter(problem).opened(replace(blank, features=features))
        self.work = _Update(first, flow, _initial_slopes(flow, blank))

    @property
    def state(self) -> State:
        return self.work.state

    def legal(self) -> list[int]:
        return [int(v) for v in np.flatnonzero(Interpreter(self.problem).legal(self.state))]

    def pick(self, node: int) -> None:
        """What the interpreter's `apply` does to the features and the standing of an episode."""
        state, phases = self.state, self.problem.phases
        self.work.run(phases[state.phase].update, self.bindings(node))
        last = (*state.last[: state.phase], node, *state.last[state.phase + 1 :])
        game = Interpreter(self.problem)
        moved = replace(self.state, last=last, picks=(*state.picks, node))
        following = game.turned(moved)
        self.work.state = following or game.opened(replace(moved, rounds=state.rounds + 1))

    def bindings(self, node: int) -> Bindings:
        return Interpreter(self.problem).bindings(self.state, node)

    def reader(self, book: Margins | None = None) -> Tracer:
        return Tracer(self.state, self.flow, self.work.written, book)

    def after(self, node: int) -> Replay:
        """The episode one pick on; this one stays where it is."""
        copy = object.__new__(Replay)
        copy.flow, copy.problem = self.flow, self.problem
        copy.work = _Update(self.state, self.flow, dict(self.work.written))
        copy.pick(node)
        return copy


class _Update(Executor):
    """The interpreter's updates, which remember the slopes of what they write."""

    def __init__(self, state: State, flow: Flow, written: dict[Cell, Slopes]) -> None:
        super().__init__(state)
        self.flow, self.written = flow, written

    def now(self) -> Evaluator:
        return Tracer(self.state, self.flow, self.written)

    def apply(self, write: Write) -> None:
        super().apply(write)
        if write.target in self.flow.carrying:
            cell = named_cell(self.flow, write.target, write.index)
            self.written[cell] = slopes_of(float_of(write.value))


def float_of(value: Value) -> float:
    return value if isinstance(value, float) else float(value or 0.0)


def _initial_slopes(flow: Flow, blank: State) -> dict[Cell, Slopes]:
    """Slopes of the state features that start as formulas of movable inputs."""
    read, slopes = Tracer(blank, flow, {}), dict[Cell, Slopes]()
    for feature in flow.problem.features:
        if not feature.stage.written or feature.name not in flow.carrying:
            continue
        assert feature.initial is not None
        cells = [()] if feature.single else list(read.cells(feature.place))
        for index in cells:
            place = dict(zip(feature.vars, index, strict=False))
            found = slopes_of(read.number(feature.initial, place))
            if found:
                slopes[named_cell(flow, feature.name, index)] = found
    return slopes


# The expert


def expert_margins(replay: Replay, expert: model.RuleExpert | model.GreedyExpert) -> Margins:
    """What the interpreter's expert compares in this state, until an alternative is found."""
    book: Margins = {}
    if isinstance(expert, model.GreedyExpert):
        rounds = replay.state.rounds
        after = {v: replay.after(v) for v in replay.legal()}
        scores = {v: -_reachable(later, expert.objective, rounds) for v, later in after.items()}
        replay.reader(book).note_ties(expert.span, "greedy", scores, ())
        return book
    phase = replay.problem.phases[replay.state.phase].name
    rule = next(rule for rule in expert.phases if rule.phase == phase)
    read, legal = replay.reader(book), replay.legal()
    for alternative in rule.alternatives:
        if _chosen(replay, read, legal, alternative):
            break
    return book


def _chosen(
    replay: Replay, read: Tracer, legal: Sequence[int], alternative: model.Alternative
) -> list[int]:
    where, bindings = alternative.where, {v: replay.bindings(v) for v in legal}
    chosen = [v for v in legal if where is None or read.truth(where, bindings[v])]
    for key in alternative.keys:
        sign = 1.0 if key.direction == "minimising" else -1.0
        scores = {v: sign * read.number(key.value, bindings[v]) for v in chosen}
        read.note_ties(key.value.span, key.direction, scores, replay.state.picks)
        chosen = best_of(scores)
    return chosen


def _reachable(replay: Replay, objective: str, rounds: int) -> float:
    """The best objective at the end of the round that began after so many."""
    if replay.state.rounds > rounds:
        value = replay.problem.objective(objective).value
        return replay.reader().number(value, {})
    values = [_reachable(replay.after(v), objective, rounds) for v in replay.legal()]
    return max(values, default=-math.inf)
