"""Expressions in a state: model expression and bindings in, plain Python value out.

This is the definition of what a formula means. It is written to be read, not to be fast.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import assert_never

import numpy as np

from gnarl_compiler.externs.find import AnyAlgorithm, algorithm_of
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array
from gnarl_compiler.interpret.chase import chase, root_of
from gnarl_compiler.interpret.state import State, Value
from gnarl_compiler.interpret.subgraph import Part, is_acyclic, steps_between, together
from gnarl_dsl import model
from gnarl_dsl.language.called import signature_called
from gnarl_dsl.language.operators import COMPARISONS, OPERATORS, Operator, nearly_equal
from gnarl_dsl.language.signatures import ArgKind
from gnarl_dsl.model import Expr, Problem
from gnarl_dsl.model.kinds import CATEGORICAL, EDGE, INPUT, MASK, MASK_ONE, Place
from gnarl_dsl.model.parts import parts_inside
from gnarl_dsl.report.diagnostics import InternalError

Bindings = Mapping[str, Value]


class Evaluator:
    """Evaluates expressions of one problem in one state, which must not change meanwhile."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.problem: Problem = state.episode.problem
        self.n = state.n
        self._calls: dict[tuple[Value | str, ...], Value] = {}
        self._parts: dict[tuple[Value | str, ...], Part] = {}
        self._free: dict[int, tuple[str, ...]] = {}

    # Entry points with a known type

    def number(self, expr: Expr, bound: Bindings) -> float:
        return float(self.value(expr, bound) or 0.0)

    def truth(self, expr: Expr, bound: Bindings) -> bool:
        return bool(self.value(expr, bound))

    def node(self, expr: Expr, bound: Bindings) -> int:
        value = self.value(expr, bound)
        if value is None:
            raise InternalError("an unset node was used")
        return int(value)

    def value(self, expr: Expr, bound: Bindings) -> Value:
        match expr:
            case model.Number() | model.Boolean() | model.Category():
                return expr.value
            case model.Variable():
                return bound[expr.name]
            case model.Read():
                return self.cell(expr.feature, tuple(self.node(i, bound) for i in expr.index))
            case model.OneNode():
                return self.marked(expr.feature)
            case model.Size():
                return float(self.n if expr.of == "nodes" else self.edge_count())
            case model.HasEdge():
                return self.has_edge(self.node(expr.source, bound), self.node(expr.target, bound))
            case model.Degree():
                return float(len(self.near(self.node(expr.node, bound), expr.direction)))
            case model.Last():
                return self.last(expr.phase)
            case model.Otherwise():
                value = self.value(expr.value, bound)
                return self.value(expr.default, bound) if value is None else value
            case model.Unary():
                return self.unary(expr, bound)
            case model.Arithmetic():
                left, right = self.number(expr.left, bound), self.number(expr.right, bound)
                return self.apply(OPERATORS[expr.op], left, right)
            case model.Compare():
                return self.compare(expr, bound)
            case model.Logic():
                test = all if expr.op == "and" else any
                return test(self.truth(arg, bound) for arg in expr.args)
            case model.IfElse():
                chosen = expr.then if self.truth(expr.condition, bound) else expr.otherwise
                return self.value(chosen, bound)
            case model.Quantifier():
                return self.quantifier(expr, bound)
            case model.LetCall():
                return self.let_call(expr, bound)
            case model.ClauseRef():
                return self.value(self.clause(expr), {})
            case model.Call():
                return self.call(expr, bound)[()].item()  # type: ignore[no-any-return]
            case model.Chase():
                return self.chase(expr, bound)
            case model.Reach():
                return self.reach(expr, bound)
            case model.Choice() | model.FeatureRef():
                raise InternalError("an argument of a function was used as a value")
            case _:
                assert_never(expr)

    # Features

    def stored(self, name: str) -> Array:
        """All values of a feature; a derived one is computed from the current state."""
        feature = self.problem.feature(name)
        episode = self.state.episode
        if feature.stage.computed:
            return self.filled(feature)
        if feature.stage.written:
            return self.state.features[name]
        if feature.stage is INPUT:
            return np.asarray(episode.instance.inputs[name])
        if name not in episode.oracles:
            episode.oracles[name] = self.reset_view().oracle(feature)
        return episode.oracles[name]

    def reset_view(self) -> Evaluator:
        """Oracles see the graph as it was at reset."""
        return Evaluator(start_of(self.state))

    def marked(self, name: str) -> int | None:
        """The node of a mask_one, if there is one."""
        node = int(self.stored(name)[()])
        return None if node < 0 else node

    def oracle(self, feature: model.Feature) -> Array:
        initial = feature.initial
        if initial is None:
            raise LookupError(f"the instance does not supply the oracle `{feature.name}`")
        if isinstance(initial, model.Call):
            return self.call(initial, {})
        return self.filled(feature)

    def filled(self, feature: model.Feature) -> Array:
        """The values of a feature that has a formula, cell by cell; a mark may have none."""
        if feature.unset:
            return np.asarray(-1)
        assert feature.initial is not None
        # Out-of-range categories must survive until they are reported.
        dtype = "float64" if feature.type is CATEGORICAL else feature.type.value.array
        if feature.single:
            return np.asarray(self.value(feature.initial, {}), dtype)
        values: Array = np.zeros(feature.shape(self.n), dtype)
        for cell in self.cells(feature.place):
            place = dict(zip(feature.vars, cell, strict=False))
            values[cell] = self.value(feature.initial, place) or 0
            if feature.place is EDGE and not self.problem.graph.directed:
                values[cell[::-1]] = values[cell]
        return values

    def cells(self, place: Place) -> Iterator[tuple[int, ...]]:
        """Every position of a feature; an undirected edge appears once."""
        yield from self.edges() if place is EDGE else np.ndindex(place.shape(self.n))

    def cell(self, name: str, index: tuple[int, ...]) -> Value:
        """One cell; off the edges an edge feature reads 0 or false, a pointer the first node."""
        feature = self.problem.feature(name)
        if feature.place is EDGE and not self.has_edge(*index):
            if feature.type.names_nodes:
                return index[0]
            return False if feature.type is MASK else 0.0
        if feature.type is MASK_ONE:
            return self.marked(name) == index[0]
        if feature.stage.computed:
            assert feature.initial is not None
            return self.value(feature.initial, dict(zip(feature.vars, index, strict=False)))
        stored = self.stored(name)
        if feature.type.apart:
            return distance(*(complex(stored[node]) for node in index))
        return stored[index].item()  # type: ignore[no-any-return]

    # The graph

    def has_edge(self, u: int, v: int) -> bool:
        return bool(self.state.adjacency[u, v])

    def near(self, x: int, direction: str) -> list[int]:
        row = self.state.adjacency[:, x] if direction == "in" else self.state.adjacency[x]
        return [int(y) for y in np.flatnonzero(row)]

    def edges(self) -> Iterator[tuple[int, int]]:
        """Undirected edges once, directed ones each."""
        for u, v in np.argwhere(self.state.adjacency):
            if self.problem.graph.directed or u < v:
                yield int(u), int(v)

    def edge_count(self) -> int:
        return sum(1 for _ in self.edges())

    def last(self, phase: str) -> int | None:
        position = [p.name for p in self.problem.phases].index(phase)
        node = self.state.last[position]
        return None if node < 0 else node

    # Operators

    def unary(self, expr: model.Unary, bound: Bindings) -> Value:
        if expr.op == "not":
            return not self.truth(expr.operand, bound)
        return self.apply(OPERATORS[expr.op], self.number(expr.operand, bound))

    def apply(self, operator: Operator, *values: float) -> float:
        return operator.evaluate(*values)

    def compare(self, expr: model.Compare, bound: Bindings) -> bool:
        """A comparison with an unset node is false, whatever the sign."""
        left, right = self.value(expr.left, bound), self.value(expr.right, bound)
        if left is None or right is None:
            return False
        return COMPARISONS[expr.op].holds(left, right)

    def let_call(self, expr: model.LetCall, bound: Bindings) -> Value:
        """A let's value; the same call is made once, or chains of lets could double forever."""
        let = self.problem.let(expr.name)
        args = {p.name: self.value(a, bound) for p, a in zip(let.params, expr.args, strict=True)}
        call = (expr.name, *args.values())
        if call not in self._calls:
            self._calls[call] = self.value(let.body, args)
        return self._calls[call]

    def clause(self, expr: model.ClauseRef) -> Expr:
        if expr.clause == "objective":
            return self.problem.objective(expr.name).value
        clause = self.problem.correct if expr.clause == "correct" else self.problem.valid
        assert clause is not None
        return clause

    # Quantifiers

    def combinations(
        self, binders: tuple[model.Binder, ...], bound: Bindings
    ) -> Iterator[Bindings]:
        """Every way to bind the variables, left to right."""
        if not binders:
            yield bound
            return
        first, rest = binders[0], binders[1:]
        for values in self.domain(first.domain, bound):
            inner = {**bound, **dict(zip(first.names, values, strict=True))}
            yield from self.combinations(rest, inner)

    def domain(self, domain: model.Domain, bound: Bindings) -> Iterator[tuple[Value, ...]]:
        match domain:
            case model.NodesDomain():
                yield from ((x,) for x in range(self.n))
            case model.EdgesDomain():
                yield from self.edges()
            case model.NearDomain():
                near = self.near(self.node(domain.node, bound), domain.direction)
                yield from ((x,) for x in near)
            case model.RangeDomain():
                yield from ((float(k),) for k in range(domain.first, domain.last + 1))
            case _:
                assert_never(domain)

    def chosen(self, expr: model.Quantifier, bound: Bindings) -> Iterator[Bindings]:
        for inner in self.combinations(expr.binders, bound):
            if expr.where is None or self.truth(expr.where, inner):
                yield inner

    def quantifier(self, expr: model.Quantifier, bound: Bindings) -> Value:
        chosen = self.chosen(expr, bound)
        if expr.op == "count":
            return float(sum(1 for _ in chosen))
        body = expr.body
        assert body is not None
        match expr.op:
            case "exists":
                return any(self.truth(body, inner) for inner in chosen)
            case "forall":
                return all(self.truth(body, inner) for inner in chosen)
            case "sum":
                total = sum((self.number(body, inner) for inner in chosen), 0.0)
                # inf and -inf among the summands: no value, whatever their order.
                return 0.0 if math.isnan(total) else total
            case "min":
                return min((self.number(body, inner) for inner in chosen), default=math.inf)
            case "max":
                return max((self.number(body, inner) for inner in chosen), default=-math.inf)
            case "argmin" | "argmax":
                return self.best_node(expr, body, chosen)

    def best_node(
        self, expr: model.Quantifier, body: Expr, chosen: Iterator[Bindings]
    ) -> int | None:
        """The node with the best value; among ties, the one with the lowest hidden rank."""
        name = expr.binders[0].names[0]
        sign = 1.0 if expr.op == "argmin" else -1.0
        scored = [(sign * self.number(body, b), int(b[name] or 0)) for b in chosen]
        if not scored:
            return None
        best = min(score for score, _ in scored)
        tied = [node for score, node in scored if nearly_equal(score, best)]
        return min(tied, key=lambda node: int(self.state.episode.instance.tags[node]))

    # Functions

    def call(self, expr: model.Call, bound: Bindings) -> Array:
        """A registered function on the current graph, at the location it declares."""
        algorithm = self.algorithm(expr.function)
        graph = Graph(self.problem.graph.directed, self.state.adjacency)
        kinds = signature_called(self.problem, expr.function).args
        pairs = zip(expr.args, kinds, strict=True)
        args = [self.argument(arg, kind, bound) for arg, kind in pairs]
        tags = self.state.episode.instance.tags
        return np.asarray(algorithm.function(graph, *args, tags=tags))

    def algorithm(self, name: str) -> AnyAlgorithm:
        """What the problem means by a name."""
        known = self.state.episode.algorithms
        if name not in known:
            known[name] = algorithm_of(self.problem, name)
        return known[name]

    def argument(self, expr: Expr, kind: ArgKind, bound: Bindings) -> object:
        if isinstance(expr, model.FeatureRef):
            stored, own = self.stored(expr.feature), self.problem.feature(expr.feature).type
            if not own.apart or kind.type is own:
                return stored
            return distances(stored) * self.state.adjacency
        if isinstance(expr, model.Choice):
            return expr.value
        return self.value(expr, bound)

    def chase(self, expr: model.Chase, bound: Bindings) -> Value:
        pointers = self.stored(expr.pointer)
        weight = expr.weight
        target = None if expr.target is None else self.node(expr.target, bound)

        def step_cost(u: int, v: int) -> float:
            return 1.0 if weight is None else float(self.cell(weight, (u, v)) or 0.0)

        start = self.node(expr.start, bound)
        if expr.op == "root":
            return root_of([int(p) for p in np.ravel(pointers)], start)
        return chase(expr.op, [int(p) for p in np.ravel(pointers)], start, target, step_cost)

    # Reachability

    def reach(self, expr: model.Reach, bound: Bindings) -> Value:
        """What can be reached on the graph, or the part of it that an expression speaks of."""
        free = tuple(bound.get(name) for name in self.free_in(expr))
        call: tuple[Value | str, ...] = (f"reach {id(expr)}", *free)
        if call not in self._parts:
            self._parts[call] = self.part(expr, bound)
        part, nodes = self._parts[call], [self.node(node, bound) for node in expr.nodes]
        match expr.op:
            case "distance":
                return steps_between(part, *nodes)
            case "component":
                tags = self.state.episode.instance.tags
                return min(together(part, *nodes), key=lambda v: int(tags[v]), default=None)
            case "acyclic":
                return is_acyclic(part)

    def free_in(self, expr: model.Reach) -> tuple[str, ...]:
        """The variables that a part of the graph may depend on."""
        if id(expr) not in self._free:
            inside = parts_inside((expr.binders, expr.where))
            names = {part.name for part in inside if isinstance(part, model.Variable)}
            self._free[id(expr)] = tuple(sorted(names - set(expr.variables)))
        return self._free[id(expr)]

    def part(self, expr: model.Reach, bound: Bindings) -> Part:
        """Its nodes and its steps."""
        names, nodes = expr.variables, frozenset(range(self.n))
        both = expr.both_ways and not self.problem.graph.directed
        steps = self.edges()
        if names:
            rounds = self.combinations(expr.binders, bound)
            chosen = [b for b in rounds if expr.where is None or self.truth(expr.where, b)]
            found = [tuple(int(b[name] or 0) for name in names) for b in chosen]
            if len(names) == 2:
                return Part(nodes, frozenset((u, v) for u, v in found), both)
            nodes = frozenset(u for (u,) in found)
        inside = ((u, v) for u, v in steps if u in nodes and v in nodes)
        return Part(nodes, frozenset(inside), both)


def distance(one: complex, other: complex) -> float:
    """How far two points are apart, rounded in the same places as compiled code does it."""
    x, y = one.real - other.real, one.imag - other.imag
    return math.sqrt(x * x + y * y)


def distances(points: Array) -> Array:
    """How far all points (n,) are apart, in a matrix (n, n)."""
    x, y = (part[:, None] - part for part in (points.real, points.imag))
    return np.asarray(np.sqrt(x * x + y * y))


def start_of(state: State) -> State:
    """A view of the same episode on the graph at reset, with no pick made."""
    episode = state.episode
    return State(
        episode=episode,
        features=state.features,
        adjacency=episode.instance.graph.adjacency,
        phase=0,
        last=(-1,) * len(episode.problem.phases),
        picks=(),
        rounds=0,
        potential=0.0,
        ended=None,
    )
