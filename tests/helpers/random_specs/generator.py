"""Random small specs that the checker accepts, and instances to play them on.

`specs()` is a Hypothesis strategy that shrinks; `write_spec(pick)` builds one text from any
source of choices, such as a seeded generator. Formulas are written by `formulas`.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_dsl.model import Feature, Problem
from random_specs.formulas import Pick
from random_specs.scope import Declared, Known, Let, Scope
from random_specs.updates import Updates

_INPUT = Scope(state=False, budget=1)
_COSTS = {"node": 2, "edge": 1, "pair": 1, "graph": 2}


@st.composite
def specs(draw: st.DrawFn) -> str:
    """Texts of valid specs."""
    return write_spec(lambda count: draw(st.integers(0, count - 1)))


def seeded_spec(seed: int) -> str:
    return write_spec(random.Random(seed).randrange)


def write_spec(pick: Pick) -> str:
    return SpecWriter(pick).spec()


class SpecWriter(Updates):
    """Writes one spec, each part over those declared before it."""

    def __init__(self, pick: Pick) -> None:
        kind = pick(6)
        directed, mutable = kind in (3, 4, 5), kind in (2, 5)
        super().__init__(pick, Declared(directed, mutable))
        self.complete = not mutable and pick(6) == 5
        self.sometimes: set[str] = set()  # phases that may be skipped
        self.lines: dict[str, list[str]] = {"param": [], "feature": [], "let": [], "end": []}

    def times(self, most: int) -> range:
        return range(self.pick(most + 1))

    def spec(self) -> str:
        names = self.names
        words = ["directed" if names.directed else "undirected"]
        words += ["mutable"] * names.mutable + ["complete"] * self.complete
        names.phases = [self.name("phase") for _ in range(self.one_of((1, 1, 2, 2, 3)))]
        self.params()
        for _ in range(1 + self.pick(4)):
            self.input_feature()
        for _ in self.times(1):
            self.let(_INPUT)
        for _ in self.times(2):
            self.oracle()
        for _ in range(1 + self.pick(4)):
            self.state_feature()
        for _ in self.times(5):
            self.one_of((self.derived, self.let, self.objective, self.derived))(Scope())
        self.clauses()
        phases = self.phases()
        self.goals()
        self.views()
        features = "".join(f"  {line}\n" for line in self.lines["feature"])
        parts = [*self.lines["param"], f"graph {' '.join(words)}", f"features\n{features}"]
        blocks = [*parts, *self.lines["let"], *phases, *self.lines["end"]]
        return "gnarl 1\nproblem random_spec\n" + "\n".join(blocks) + "\n"

    def params(self) -> None:
        for _ in self.times(2):
            name = self.name("k")
            self.lines["param"].append(f"param {name} = {self.one_of(('2', '0.3', '-1', '0'))}")
            self.names.params.append(name)
        for _ in self.times(1):
            name, words = self.name("style"), ("plain", "fancy")
            self.lines["param"].append(f"param {name} : plain | fancy = {self.one_of(words)}")
            self.names.enums.append((name, words))

    # Features

    def declare(self, known: Known, place: str, ending: str) -> None:
        named = f"categorical({' | '.join(known.choices)})"
        form = {"named": named, "numbered": "", "unset_one": "mask_one"}
        kind = form.get(known.type, known.type) or f"categorical({known.categories})"
        self.lines["feature"].append(f"{known.name}  {known.stage}  {place}  {kind}  {ending}")
        self.names.features.append(known)

    def shape(self, stage: str, stem: str) -> Known:
        """A new feature of some place and type that go together."""
        types = ["scalar", "mask", "scalar", "pointer", "pointer", "numbered", "named", "mask_one"]
        kind = self.one_of(types)
        places = ["node", "graph", "edge", "pair"]
        if self.names.mutable and stage != "derived":
            places.remove("edge")
        if kind == "pointer":
            places += ["node", "graph"]
        place = "node" if kind == "mask_one" else self.one_of(places)
        count = 2 + self.pick(2) if kind in ("named", "numbered") else 0
        choices = ("red", "green", "blue")[:count] if kind == "named" else ()
        return Known(self.name(stem), stage, place, kind, count, choices)

    def input_feature(self) -> None:
        if self.chance(5):
            points = Known(self.name("xy"), "input", "node", "point")
            self.declare(points, "node", f"~ {self.one_of(('square', 'given'))}")
            return
        known = self.shape("input", "w")
        source = "given"
        if known.type == "scalar":
            sources = ["uniform(0, 1)", "uniform(-1, 1)", "given"]
            sources += ["clrs_weight"] * (known.place == "edge")
            source = self.one_of(sources)
            known = replace(known, positive=source in ("uniform(0, 1)", "clrs_weight"))
        elif known.type == "mask_one":
            source = "any_node"
        self.declare(known, known.place, f"~ {source}")

    def state_feature(self) -> None:
        known = self.shape("hidden" if self.chance(5) else "state", "d")
        if known.type == "mask_one" and not self.chance(2):
            self.declare(replace(known, type="unset_one"), "node", "")
            return
        place, value = self.formula(known, replace(_INPUT, infinite=False))
        if value:
            self.declare(known, place, f"= {value}")

    def derived(self, _: Scope) -> None:
        known = self.shape("derived", "f")
        cost = self.pick(_COSTS[known.place] + 1)
        scope = Scope(budget=cost, depth=2, infinite=False)
        place, value = self.formula(known, scope)
        if value:
            self.declare(replace(known, cost=cost), place, f"= {value}")

    def oracle(self) -> None:
        known = self.shape("oracle", "o")
        place, value = self.formula(known, replace(_INPUT, oracle=True))
        if known.type in ("numbered", "mask_one"):
            value = value and f"(if true then {value} else {value})"
        calls = self.solver_calls(known)
        if calls and not self.chance(3):
            place, value = known.place, self.one_of(calls)
        if value:
            self.declare(known, place, f"= {value}")

    def solver_calls(self, known: Known) -> list[str]:
        """Registered functions that fill an oracle of this kind."""
        inputs = [f for f in self.names.features if f.stage == "input"]
        starts = [f.name for f in inputs if f.type == "mask_one"]
        weights = [f.name for f in inputs if f.positive and f.place == "edge"]
        loads = [f.name for f in inputs if f.positive and f.place == "node"]
        calls: list[str] = []
        match known.place, known.type:
            case "node", "scalar":
                calls += [f"bfs_depth({s})" for s in starts]
                calls += [f"shortest_path_length({a}, {s})" for a in weights for s in starts]
            case "graph", "scalar":
                calls += [f"relaxation_count({a}, {s})" for a in weights for s in starts]
                calls += [f"mst_weight({a})" for a in weights if not self.names.directed]
                points = [f.name for f in inputs if f.type == "point"]
                calls += [f"relaxation_count({p}, {s})" for p in points for s in starts]
                calls += [f"mst_weight({p})" for p in points if not self.names.directed]
            case "node", "mask" if not self.names.directed:
                calls += [f"min_vertex_cover({w})" for w in loads]
                calls += [f"vertex_cover_primal_dual({w}, 0.1)" for w in loads]
        return calls

    def formula(self, known: Known, s: Scope) -> tuple[str, str]:
        """The location of a feature with its variables, and a formula for it, if there is one."""
        count = {"node": 1, "edge": 2, "pair": 2}.get(known.place, 0)
        if known.type == "mask_one" or self.chance(4):
            count = 0
        names = [self.fresh("c") for _ in range(count)]
        place = f"{known.place}({', '.join(names)})" if names else known.place
        scope = s.bind("nodes", *names)
        if known.type in ("mask_one", "pointer") and not self.has_node(scope):
            return place, ""
        if known.place == "edge" and names:
            scope = replace(scope, edges=((names[0], names[1]),))
            if not self.names.directed:
                if known.type == "pointer" and not self.apart(scope):
                    return place, ""
                return place, self.mirrored_value(known, scope)
        return place, self.value(known, scope)

    # Lets and clauses

    def let(self, s: Scope) -> None:
        kinds = ("scalar", "node", "mask")
        params = {self.fresh("r"): self.one_of(kinds) for _ in self.times(3)}
        oracle = s.state and self.chance(3)
        scope = replace(s, oracle=oracle, hidden=oracle, budget=self.pick(2), depth=2)
        scope = replace(scope, infinite=self.chance(2))
        groups = {"scalar": "numbers", "node": "nodes", "mask": "masks"}
        for name, kind in params.items():
            scope = scope.bind(groups[kind], name)
        writers = {"number": self.number, "truth": self.truth}
        if self.has_node(scope):
            writers |= {"node": self.node, "optional": self.optional}
        kind = self.one_of(list(writers))
        body = writers[kind](scope)
        name = self.name("let_")
        head = ", ".join(p if kind == "node" else f"{p} : {kind}" for p, kind in params.items())
        self.lines["let"].append(f"let {name}{f'({head})' if head else ''} = {body}")
        known = Let(
            name, kind, tuple(params.values()), s.state, oracle, scope.infinite, scope.budget
        )
        self.names.lets.append(known)

    def objective(self, s: Scope) -> None:
        name = self.name("goal")
        cost = 1 + self.pick(3)
        value = self.number(replace(s, budget=cost, hidden=True))
        self.lines["end"].append(f"objective {name} = {value}")
        self.names.objectives[name] = cost

    def clauses(self) -> None:
        if not self.names.objectives:
            self.objective(Scope())
        if self.chance(4):
            self.objective(Scope())
        self.lines["end"].append(f"horizon {self.one_of(('n', '2 * n', 'm + 2', '4.5'))} rounds")
        if self.chance(4):
            self.lines["end"].append(f"limit 1 + {self.number(_INPUT)} rounds")
        if self.chance(2):
            self.lines["end"].append(f"valid {self.truth(Scope(budget=3, hidden=True))}")
        if self.chance(5):
            when = f" when {self.truth(Scope(budget=3))}" if self.chance(2) else ""
            self.lines["end"].append(f"may stop{when}")
        label = Scope(oracle=True, hidden=True, budget=3)
        correct = self.chance(2)
        if correct:
            self.lines["end"].append(f"correct {self.truth(label)}")
        if self.chance(3):
            test = "correct" if correct and self.chance(2) else self.truth(label)
            self.lines["end"].append(f"terminate when ({test} and {self.truth(label)})")

    def goals(self) -> None:
        label = Scope(oracle=True, hidden=True, budget=3)
        for _ in self.times(2):
            kind = self.one_of(("potential", "terminal", "step"))
            self.lines["end"].append(f"reward {self.name('pay')} {kind} {self.number(label)}")
        for _ in self.times(1):
            self.lines["end"].append(f"metric {self.name('seen')} = {self.number(label)}")
        for _ in self.times(2):
            name = self.name("guide")
            if self.chance(3):
                goal = self.one_of(list(self.names.objectives))
                self.lines["end"].append(f"expert {name} = greedy {goal}")
            else:
                self.rules(name)

    def rules(self, name: str) -> None:
        lines, bound = [f"expert {name}"], Scope(oracle=True, hidden=True)
        for number, phase in enumerate(self.names.phases):
            own = bound.bind("nodes", f"v{number}")
            choices = [self.rule(f"v{number}", own) for _ in range(1 + self.pick(3))]
            lines.append(f"  {phase}: {' else '.join(choices)}")
            bound = self.after(phase, number, bound)
        self.lines["end"].append("\n".join(lines))

    def rule(self, variable: str, s: Scope) -> str:
        keys = [
            f" {self.one_of(('minimising', 'maximising'))} {self.number(s)}" for _ in self.times(2)
        ]
        return f"uniform {variable}{self.where(s)}{''.join(keys)}"

    # What a network reads

    def views(self) -> None:
        for _ in self.times(2):
            x = self.fresh("x")
            line = f"observe {x} in nodes{self.chosen(Scope(budget=1).bind('nodes', x))}"
            self.lines["end"].append(line)
        for _ in self.times(1):
            x, y = self.fresh("x"), self.fresh("y")
            scope = replace(Scope(budget=1).bind("nodes", x, y), edges=((x, y),))
            self.lines["end"].append(f"messages ({x}, {y}) in edges{self.chosen(scope)}")

    def chosen(self, s: Scope) -> str:
        """A condition or none, a criterion or none."""
        where = self.where(s)
        if self.chance(2):
            return where
        way = self.one_of(("minimising", "maximising"))
        return f"{where} {way} {self.number(s)} first {1 + self.pick(3)}"

    # Phases

    def phases(self) -> list[str]:
        blocks, bound = [], Scope()
        for number, phase in enumerate(self.names.phases):
            own = bound.bind("nodes", f"v{number}")
            lines = [f"phase {phase}(v{number})"]
            if self.chance(4):
                lines[0] += f" when {self.truth(bound)}"
                self.sometimes.add(phase)
            if self.chance(2):
                lines.append(f"  allow ({self.truth(own)} or {self.truth(own)})")
            if not self.chance(5):
                lines += ["  update", *self.block(own, "    ", 2)]
            blocks.append("\n".join(lines))
            bound = self.after(phase, number, bound)
        return blocks

    def after(self, phase: str, number: int, s: Scope) -> Scope:
        """What later phases see of a pick: one that is not made in every round may be unset."""
        return s.bind("optionals" if phase in self.sometimes else "nodes", f"v{number}")


# Instances


def instances_for(problem: Problem, rng: np.random.Generator, count: int = 4) -> list[Instance]:
    """Graphs of 1 to 6 nodes with inputs that tie, and inputs that only nearly do."""
    return [random_instance(problem, int(rng.integers(1, 7)), rng) for _ in range(count)]


def random_instance(problem: Problem, nodes: int, rng: np.random.Generator) -> Instance:
    graph = random_graph(problem, nodes, rng)
    inputs = {
        f.name: random_input(f, graph, rng) for f in problem.features if f.stage.name == "input"
    }
    tags = rng.integers(0, 2**64, nodes, dtype=np.uint64)
    return Instance(graph, inputs, tags)


def random_graph(problem: Problem, nodes: int, rng: np.random.Generator) -> Graph:
    kind = problem.graph
    density = 1.0 if kind.complete else rng.choice([0.0, 0.3, 0.6, 1.0])
    arcs = rng.random((nodes, nodes)) < density
    np.fill_diagonal(arcs, False)
    upper = np.triu(arcs)
    return Graph(True, arcs) if kind.directed else Graph(False, upper | upper.T)


def random_input(feature: Feature, graph: Graph, rng: np.random.Generator) -> Array:
    shape = {"node": (graph.n,), "graph": ()}.get(feature.place.name, (graph.n, graph.n))
    values: NDArray[np.generic]
    match feature.type.name:
        case "mask_one":
            return np.asarray(rng.integers(graph.n))
        case "pointer":
            values = np.asarray(rng.integers(graph.n, size=shape))
        case "mask":
            values = np.asarray(rng.random(shape) < 0.5)
        case "point":
            x, y = random_numbers(feature, (2, graph.n), rng)
            values = np.asarray(x + 1j * y)
        case "categorical":
            values = np.asarray(rng.integers(feature.categories, size=shape))
        case _:
            values = random_numbers(feature, shape, rng)
    if feature.place.name == "edge":
        if not graph.directed:
            values = np.where(np.tri(graph.n, dtype=bool), values.T, values)
        values = np.where(graph.adjacency, values, np.zeros_like(values))
    return values


def random_numbers(
    feature: Feature, shape: tuple[int, ...], rng: np.random.Generator
) -> NDArray[np.float64]:
    """From a coarse binary grid, from anywhere, or from a few values that `~=` cares about."""
    source = feature.source
    low, high = source.args if source and source.name == "uniform" else (0.0, 1.0)
    if source and source.name == "given":
        low, high = -3.0, 3.0
    unit = {
        0: lambda: rng.integers(0, 9, shape) / 8.0,
        1: lambda: rng.random(shape),
        2: lambda: rng.choice([0.0, 1e-13, 1e-7, 0.1, 0.1 + 2e-8, 0.3, 1.0 - 1e-7, 1.0], shape),
    }[int(rng.integers(3))]()
    return np.asarray(low + (high - low) * unit, np.float64)
