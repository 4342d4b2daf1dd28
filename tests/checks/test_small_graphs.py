"""Small graphs are all there, once each; small instances are what their problem asks for."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_runtime.checks.explore.census import automorphisms
from gnarl_runtime.checks.explore.small_graphs import plan_instances, small_graphs, small_instances
from gnarl_runtime.checks.explore.small_values import dyadic_range, spread
from gnarl_runtime.instances.instance_checks import verify_instance

# Numbers of non-isomorphic graphs on 1, 2, … nodes, from the On-Line Encyclopedia of Integer
# Sequences: A000088, A001349, A005195 (forests), A000055 (trees), A000273, A003085, A003087.
KNOWN = [
    (False, {}, [1, 2, 4, 11, 34, 156]),
    (False, {"connected": True}, [1, 1, 2, 6, 21, 112]),
    (False, {"acyclic": True}, [1, 2, 3, 6, 10, 20]),
    (False, {"connected": True, "acyclic": True}, [1, 1, 1, 2, 3, 6]),
    (False, {"complete": True}, [1, 1, 1, 1, 1, 1]),
    (True, {}, [1, 3, 16, 218]),
    (True, {"connected": True}, [1, 2, 13, 199]),
    (True, {"acyclic": True}, [1, 2, 6, 31]),
]


@pytest.mark.parametrize(("directed", "kind", "counts"), KNOWN)
def test_the_number_of_graphs_is_the_known_one(
    directed: bool, kind: dict[str, bool], counts: list[int]
) -> None:
    found = [len(small_graphs(n, directed, **kind)) for n in range(1, len(counts) + 1)]
    assert found == counts


def test_five_directed_nodes() -> None:
    assert len(small_graphs(5, True)) == 9608


@pytest.mark.parametrize("directed", [False, True])
def test_no_two_graphs_are_isomorphic_and_none_is_missing(directed: bool) -> None:
    """Against networkx, which knows nothing of codes."""
    import networkx as nx

    kind = nx.DiGraph if directed else nx.Graph
    listed = [
        nx.from_numpy_array(g.adjacency, create_using=kind) for g in small_graphs(3, directed)
    ]
    cells = [(u, v) for u in range(3) for v in range(3) if u < v or (directed and u != v)]
    for chosen in product([False, True], repeat=len(cells)):
        graph = kind([cell for cell, taken in zip(cells, chosen, strict=True) if taken])
        graph.add_nodes_from(range(3))
        assert sum(nx.is_isomorphic(graph, other) for other in listed) == 1


def test_automorphisms_leave_the_graph_alone() -> None:
    star = np.zeros((4, 4), np.bool_)
    star[0, 1:] = star[1:, 0] = True
    assert len(automorphisms(star)) == 6  # the leaves in any order
    assert len(automorphisms(np.zeros((4, 4), np.bool_))) == 24


# Instances

EVERY_INPUT = """
gnarl 1
problem every_input
  "Inputs of every place and type."

graph {kind}

features
  colour  input  node   categorical(red | blue)          ~ given
  near    input  pair   mask                             ~ given
  owner   input  node   pointer                          ~ given
  s       input  node   mask_one                         ~ any_node
  c       input  graph  scalar                           ~ uniform(2, 2)
  w       input  edge   scalar                           ~ clrs_weight
  done    state  node   mask                             = false

phase pick(v)
  allow not done[v] and (colour[v] == red or near[v, owner[v]] or s[v] or true)
  update
    done[v] := true

horizon n rounds
objective total = c * sum((x, y) in edges: w[x, y])
"""


def every_input(kind: str) -> Problem:
    return gnarl.loads(EVERY_INPUT.format(kind=kind))


def key(problem: Problem, instance: Instance) -> tuple[bytes, ...]:
    values = [np.ascontiguousarray(instance.inputs[name]) for name in sorted(instance.inputs)]
    return (instance.graph.adjacency.tobytes(), *(value.tobytes() for value in values))


def canonical(problem: Problem, instance: Instance) -> tuple[bytes, ...]:
    """The smallest of all renamings, hidden ranks aside."""
    orders = permutations(range(instance.graph.n))
    return min(key(problem, instance.relabel(problem, np.array(order))) for order in orders)


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_shipped_instances_differ_and_none_is_left_out(name: str, n: int) -> None:
    problem = shipped(name)
    plan = plan_instances(problem, n)
    for number, instance in enumerate(plan.instances):
        verify_instance(problem, instance, f"instance {number}")
    assert len({canonical(problem, instance) for instance in plan.instances}) == plan.possible
    assert len(plan.instances) == plan.possible


@pytest.mark.parametrize("kind", ["undirected", "directed", "undirected connected acyclic"])
def test_every_kind_of_input_is_counted_up_to_symmetry(kind: str) -> None:
    """The count by fixed points equals the number of classes that a full listing has."""
    problem = every_input(kind)
    plan = plan_instances(problem, 2, per_graph=10**6)
    classes = {canonical(problem, instance) for instance in plan.instances}
    assert len(plan.instances) == len(classes) == plan.possible


def test_many_values_are_thinned_and_told() -> None:
    problem = every_input("undirected")
    plan = plan_instances(problem, 3, per_graph=7)
    assert len(plan.instances) == 7 * plan.graphs
    assert plan.possible > 10**5
    assert len({canonical(problem, instance) for instance in plan.instances}) == 7 * plan.graphs


def test_the_first_instances_are_of_different_graphs() -> None:
    problem = shipped("mvc")
    some = list(small_instances(problem, 4))[:11]
    assert len({instance.graph.adjacency.tobytes() for instance in some}) == 11


def test_instances_are_the_same_every_time() -> None:
    problem = shipped("bellman_ford")
    first, second = (list(small_instances(problem, 3)) for _ in range(2))
    assert [key(problem, a) for a in first] == [key(problem, b) for b in second]


def test_values_tie_and_distances_are_a_metric() -> None:
    for instance in small_instances(shipped("tsp"), 4):
        a = instance.inputs["A"]
        assert (a[:, None, :] <= a[:, :, None] + a[None, :, :]).all()
    weights = [i.inputs["A"] for i in small_instances(shipped("mst_prim"), 3)]
    assert any(len(np.unique(w[w > 0])) == 1 for w in weights)


@given(low=st.integers(-8, 8), width=st.integers(1, 64))
def test_ranges_stay_inside_and_are_dyadic(low: int, width: int) -> None:
    bounds = low / 10, low / 10 + width / 7
    values = dyadic_range(*bounds)
    assert len(values) == 3
    assert all(bounds[0] <= value <= bounds[1] for value in values)
    assert all((value * 2**16).is_integer() for value in values)


@given(count=st.integers(1, 200), most=st.integers(1, 100))
def test_thinning_keeps_both_ends_and_repeats_nothing(count: int, most: int) -> None:
    chosen = spread(count, most)
    assert len(chosen) == len(set(chosen.tolist())) == min(count, most)
    assert chosen.min() == 0
    assert chosen.max() == (count - 1 if most > 1 else 0)


def test_graphs_of_a_problem_are_of_its_kind() -> None:
    problem = every_input("directed acyclic connected")
    for n in (1, 2, 3):
        for instance in small_instances(problem, n, per_graph=2):
            graph: Graph = instance.graph
            assert graph.directed
            assert graph.is_acyclic()
            assert graph.is_connected()
