"""What can be reached, what hangs together, cycles and roots: against networkx, and compiled."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from duel import Duel, play
from random_specs.generator import instances_for, random_instance

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import State
from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem

SPEC = """
gnarl 1
problem parts
  "Questions about a graph, the nodes that are on, and the edges that are free."
graph {kind}
features
  s     input  node     mask_one  ~ any_node
  free  input  edge     mask      ~ coin(0.7)
  up    input  node     pointer   ~ given
  on    state  node     mask      = true

let far(x)      = distance(s, x)
let back(x)     = distance(x, s)
let near(x)     = distance(u in nodes where on[u]: s, x)
let freely(x)   = distance((u, v) in edges where free[u, v]: s, x)
let along(x)    = distance(u in nodes, v in nodes where u == up[v]: s, x)
let whole(x)    = component(x)
let part(x)     = component(u in nodes where on[u]: x)
let tied(x)     = component((u, v) in edges where free[u, v]: x)
let forest      = acyclic()
let bare        = acyclic(u in nodes where on[u])
let open        = acyclic((u, v) in edges where free[u, v])
let downhill    = acyclic(u in nodes, v in nodes where u == up[v] and u != v)
let top(x)      = root(up, x)
let some        = any(x in nodes where not on[x])

phase cut(v)
  allow on[v] and (near(v) < inf or part(v) == v or not (v == top(v)))
  update
    on[v] := false

horizon n rounds
terminate when bare and open and forest and downhill and some == s
objective small = -max(x in nodes: count(y in nodes where part(y) == part(x)))
metric hops = sum(x in nodes: min(far(x), n) + min(back(x), n) + min(freely(x), n))
metric ways = sum(x in nodes: min(along(x), n)) + count(x in nodes where whole(x) == tied(x))
"""
KINDS = ("undirected", "directed", "undirected mutable", "directed mutable")


def spec(kind: str) -> Problem:
    text = SPEC.format(kind=kind)
    if "mutable" in kind:
        text = text.replace("free  input  edge ", "free  input  pair ")
        text = text.replace("free[u, v]", "free[u, v] and free[v, u]")
        text = text.replace(
            ":= false\n", ":= false\n    if v != s\n      edge(v, s) := not edge(v, s)\n"
        )
    return gnarl.loads(text)


def drawn(problem: Problem, seed: int, nodes: int = 6) -> tuple[Instance, State]:
    """An instance, and a state in which some nodes are off."""
    rng = np.random.default_rng(seed)
    instance = random_instance(problem, nodes, rng)
    state = Interpreter(problem).reset(instance)
    state.features["on"][:] = rng.random(nodes) < 0.7
    return instance, state


def told(state: State, let: str, **nodes: int) -> object:
    return Evaluator(state).value(state.episode.problem.let(let).body, nodes)


def graphs_of(problem: Problem, instance: Instance, state: State) -> dict[str, nx.Graph]:
    kind = nx.DiGraph if problem.graph.directed else nx.Graph
    whole = nx.from_numpy_array(instance.graph.adjacency, create_using=kind)
    free, up = instance.inputs["free"], instance.inputs["up"]
    steps = nx.DiGraph()
    steps.add_nodes_from(whole)
    steps.add_edges_from((int(u), v) for v, u in enumerate(up))
    return {
        "whole": whole,
        "part": whole.subgraph(np.flatnonzero(state.features["on"]).tolist()),
        "free": nx.edge_subgraph(whole, [e for e in whole.edges if free[e]]).copy(),
        "steps": steps,
    }


def hops(graph: nx.Graph, start: int, end: int) -> float:
    if start == end:
        return 0.0 if start in graph else math.inf
    if start not in graph or end not in graph or not nx.has_path(graph, start, end):
        return math.inf
    return float(nx.shortest_path_length(graph, start, end))


def representative(graph: nx.Graph, node: int, instance: Instance) -> int | None:
    if node not in graph:
        return None
    loose = graph.to_undirected(as_view=True)
    return min(nx.node_connected_component(loose, node), key=lambda v: int(instance.tags[v]))


def has_no_cycle(graph: nx.Graph) -> bool:
    if graph.is_directed():
        return bool(nx.is_directed_acyclic_graph(graph))
    return len(graph) == 0 or bool(nx.is_forest(graph))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", KINDS[:2])
def test_answers_are_those_of_networkx(kind: str, seed: int) -> None:
    problem = spec(kind)
    instance, state = drawn(problem, seed)
    graphs = graphs_of(problem, instance, state)
    graphs["free"].add_nodes_from(graphs["whole"])
    s, up = int(instance.inputs["s"]), instance.inputs["up"]
    for x in range(6):
        assert told(state, "far", x=x) == hops(graphs["whole"], s, x)
        assert told(state, "back", x=x) == hops(graphs["whole"], x, s)
        assert told(state, "near", x=x) == hops(graphs["part"], s, x)
        assert told(state, "freely", x=x) == hops(graphs["free"], s, x)
        assert told(state, "along", x=x) == hops(graphs["steps"], s, x)
        assert told(state, "whole", x=x) == representative(graphs["whole"], x, instance)
        assert told(state, "part", x=x) == representative(graphs["part"], x, instance)
        assert told(state, "tied", x=x) == representative(graphs["free"], x, instance)
        end = x
        for _ in range(6):
            end = int(up[end])
        assert told(state, "top", x=x) == (end if up[end] == end else None)
    graphs["steps"].remove_edges_from([(x, x) for x in range(6)])
    for let, name in (
        ("forest", "whole"),
        ("bare", "part"),
        ("open", "free"),
        ("downhill", "steps"),
    ):
        assert told(state, let) == has_no_cycle(graphs[name])


@pytest.mark.parametrize("kind", [KINDS[0], pytest.param(KINDS[3], marks=pytest.mark.long)])
def test_compiled_kernels_agree(kind: str) -> None:
    problem = spec(kind)
    rng = np.random.default_rng(5)
    duel = Duel(problem, [random_instance(problem, n, rng) for n in (1, 2, 5, 9, 7)], jit=True)
    play(duel, rng, 8)
    duel.reset([random_instance(problem, n, rng) for n in (6, 3, 8, 4, 7)])
    play(duel, rng, 8)
    assert duel.checks > 40


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_agree(kind: str) -> None:
    problem = spec(kind)
    rng = np.random.default_rng(7)
    for _ in range(4):
        play(Duel(problem, instances_for(problem, rng)), rng, 6)


def codes(text: str) -> list[str]:
    return [finding.code for finding in check_text(text).diagnostics]


def test_a_spec_may_have_these_names_for_its_own() -> None:
    text = """
gnarl 1
problem own
  "Names of its own."
param root = 2
graph undirected
features
  component  state  node  scalar  = 0
let distance(x, y) = component[x] - component[y]
let acyclic        = root > 1
phase pick(v)
  allow acyclic and distance(v, v) < root
  update
    component[v] := root
horizon n rounds
objective total = sum(x in nodes: component[x])
"""
    assert codes(text.lstrip()) == []


def test_what_does_not_change_is_paid_for_once() -> None:
    """Components are found once, however many ask; distances once for each start."""
    costs = spec("undirected").costs
    assert {(t.nodes, t.edges, t.degree) for t in costs.reward} == {(2, 0, 0), (0, 1, 0)}
    assert {(t.nodes, t.edges, t.degree) for t in costs.mask} == {(1, 0, 0), (0, 1, 0)}
    text = SPEC.format(kind="undirected")
    pairs = "max(x in nodes: max(y in nodes: min(distance(u in nodes where on[u]: x, y), n)))"
    each = gnarl.loads(text.replace("metric hops", f"objective wide = {pairs}\nmetric hops"))
    assert len(each.objectives) == 2


def test_trees_need_no_head() -> None:
    """Kruskal with components of the edges taken allows what it allows with pointers to heads."""
    heads = gnarl.load("mst_kruskal")
    lines = heads.sources[0].text.splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("  head "))
    for old, new in (
        ("head[x] != head[y]", "tree(x) != tree(y)\nlet tree(x) = component(TAKEN: x)"),
        ("    for x in nodes where head[x] == head[v]\n      head[x] := head[u]\n", ""),
        ("head[x] == head[y]", "tree(x) == tree(y)"),
        ("TAKEN", "(a, b) in edges where taken[a, b]"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    parts = gnarl.loads(text)
    rng = np.random.default_rng(3)
    for instance in instances_for(heads, rng, 3):
        one, two = Interpreter(heads), Interpreter(parts)
        here, there = one.reset(instance), two.reset(instance)
        while here.ended is None:
            assert np.array_equal(one.mask(here), two.mask(there))
            assert np.array_equal(one.expert(here), two.expert(there))
            pick = int(rng.choice(np.flatnonzero(one.mask(here))))
            here, there = one.step(here, pick).state, two.step(there, pick).state
        assert there.ended == here.ended
        assert one.valid(here) == two.valid(there)
