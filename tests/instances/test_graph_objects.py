"""Graphs of networkx, PyG and NumPy: instances by the names of their attributes."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from shipped_specs import shipped
from small_instances import EVERY_TYPE

import gnarl_dsl as gnarl
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.readers.read import InstanceError, instance_from


def test_networkx_graphs() -> None:
    graph = nx.Graph()
    graph.add_edge("p", "q", weight=0.1)
    graph.add_edge("q", "r", weight=2)
    instance = instance_from(shipped("bellman_ford"), graph, s="q")
    assert instance.labels == ("p", "q", "r")
    assert instance.inputs["s"] == 1
    assert instance.inputs["A"][0, 1] == float(np.float32(0.1))  # the language's rule
    assert instance.inputs["A"].dtype == np.float64
    assert instance.notes == ()
    pool_of(shipped("bellman_ford"), [instance], ["dist"])
    cover = instance_from(shipped("mvc"), graph, w={"r": 3, "q": 2, "p": 1})
    assert cover.inputs["w"].tolist() == [1, 2, 3]
    with pytest.raises(InstanceError, match="`w` has no value for node 'p'"):
        instance_from(shipped("mvc"), graph, w={"r": 3})
    with pytest.raises(InstanceError, match="goes one way only"):
        instance_from(shipped("mvc"), nx.DiGraph([(0, 1)]))
    with pytest.raises(InstanceError, match="given before"):
        instance_from(shipped("mvc"), nx.MultiGraph([(0, 1), (1, 0)]))


def test_pyg_data() -> None:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    ends = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weight = torch.tensor([[0.5], [0.5], [2.0], [2.0]], requires_grad=True)
    graph = data(edge_index=ends, edge_attr=weight, num_nodes=3, s=2)
    instance = instance_from(shipped("bellman_ford"), graph)
    assert instance.inputs["A"].tolist() == [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]]
    assert instance.inputs["s"] == 2
    assert instance.notes == ()
    cover = instance_from(shipped("mvc"), data(edge_index=ends, x=torch.ones(3, 1)))
    assert cover.inputs["w"].tolist() == [1, 1, 1]
    two = torch.arange(8.0).reshape(4, 2)
    with pytest.raises(InstanceError, match=r"A=data.edge_attr\[:, 0\]"):
        instance_from(shipped("bellman_ford"), data(edge_index=ends, edge_attr=two, num_nodes=3))
    by_name = data(edge_index=ends, num_nodes=3, A=two[[0, 0, 1, 1], 1], s=0)
    assert instance_from(shipped("mst_prim"), by_name).inputs["A"][1, 2] == 3
    with pytest.raises(InstanceError, match="goes one way only"):
        instance_from(shipped("bfs"), data(edge_index=ends[:, :3], num_nodes=3))
    with pytest.raises(InstanceError, match="names node 2, but there are 2"):
        instance_from(shipped("bfs"), data(edge_index=ends, num_nodes=2))


def test_matrices() -> None:
    matrix = np.array([[0, 1.5, 0], [1.5, 0, 2], [0, 2, 0]])
    instance = instance_from(shipped("bellman_ford"), matrix, s=0)
    assert np.array_equal(instance.inputs["A"], matrix)
    drawn = instance_from(shipped("bellman_ford"), matrix > 0, s=0)
    assert drawn.notes == (
        "`A` was drawn from clrs_weight with seed 0; to give it: "
        "gnarl.instance_from(problem, graph, A=[0.5, ...])",
    )
    near = instance_from(shipped("tsp"), np.zeros((3, 3)), s=1)  # all at one place
    assert near.graph.m == 3
    twice = instance_from(shipped("bellman_ford"), instance)
    assert np.array_equal(twice.inputs["A"], matrix)
    assert instance_from(shipped("bfs"), instance.graph).graph.m == 2
    assert instance_from(shipped("bellman_ford"), instance.graph, A=[3, 4]).inputs["A"][2, 1] == 4
    for wrong, message in (
        (np.zeros((2, 3)), "square matrix"),
        (np.array([["a"]]), "square matrix"),
        (np.triu(matrix), r"is 1.5 at \[0, 1\] but 0.0 at \[1, 0\]"),
        (np.where(matrix > 0, np.inf, 0), "is inf at"),
        (matrix * 1e300, "is inf at"),
        ("a graph", "cannot read a graph from str"),
    ):
        with pytest.raises(InstanceError, match=message):
            instance_from(shipped("bellman_ford"), wrong)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [({"B": [1]}, "has no input `B`; it has: A, s"), ({"s": 9}, "is 9, which is no node"),
     ({"A": [1]}, "`A` has 1 values for 2 edges"), ({"A": np.ones((2, 2))}, r"shape \(2, 2\)"),
     ({"A": np.ones((3, 3))}, "where there is no edge"), ({"A": [True, False]}, "must hold num"),
     ({"A": ["x", "y"]}, "must hold numbers, found 'x'"), ({"s": [True, True, False]}, "marks 2")],
)  # fmt: skip
def test_given_inputs_are_checked(inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        instance_from(shipped("bellman_ford"), nx.path_graph(3), **inputs)


def test_every_type_of_input() -> None:
    problem = gnarl.loads(EVERY_TYPE)
    graph = nx.DiGraph(name="x", c=1.5, home="v")
    graph.add_node("u", colour="red", owner="v")
    graph.add_node("v", colour="blue", owner="v")
    graph.add_edge("v", "u", level=2, hint=True)
    instance = instance_from(problem, graph, near=[[1, 0], [1, 1]], s="u")
    assert instance.inputs["colour"].tolist() == [0, 2]
    assert instance.inputs["owner"].tolist() == [1, 1]
    assert instance.inputs["near"].tolist() == [[True, False], [True, True]]
    assert (instance.inputs["home"], instance.inputs["c"], instance.inputs["s"]) == (1, 1.5, 0)
    assert instance.inputs["level"].tolist() == [[0, 0], [2, 0]]
    assert instance.oracles["hint"].tolist() == [[False, False], [True, False]]
    assert instance.notes == ("not used by every_type: graph `name`",)
    graph.nodes["u"]["colour"] = "pink"
    with pytest.raises(InstanceError, match="holds 'pink', expected one of: red, green, blue"):
        instance_from(problem, graph, near=[[1, 0], [1, 1]], s="u")
    with pytest.raises(InstanceError, match=r"`near` \(pair mask\) of every_type is missing"):
        instance_from(problem, graph, colour=[0, 1])
