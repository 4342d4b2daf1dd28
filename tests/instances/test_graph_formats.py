"""Coordinates, tables with headers, CVRPLIB and METIS; and what is missing is told by example."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from bad_graphs import VRP
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_runtime.readers.read import Imported, InstanceError, instance_from, read_graphs

BODY = """
{features}
  mark  state  node  mask  = false
phase pick(v)
  allow not mark[v]
  update
    mark[v] := true
horizon n rounds
objective marked = count(x in nodes where mark[x])
"""


def spec(*features: str, graph: str = "undirected") -> gnarl.Problem:
    lines = "features\n" + "\n".join(f"  {feature}" for feature in features)
    return gnarl.loads(f"gnarl 1\nproblem p\ngraph {graph}" + BODY.format(features="\n" + lines))


def read(folder: Path, name: str, text: str, problem: gnarl.Problem, **options: bool) -> Imported:
    path = folder / name
    path.write_text(text, "utf-8")
    (instance,) = read_graphs(path, problem, **options)
    return instance


# Coordinates

NAMES = ["a", "b", "c", "d"]
numbers = st.floats(-1e3, 1e3, width=32)


def written(folder: Path, points: list[tuple[float, float]]) -> list[Path]:
    """The same places in every format that has them; three of the files by networkx."""
    graph, texts = nx.Graph(), nx.Graph()
    for name, (x, y) in zip(NAMES, points, strict=True):
        graph.add_node(name, x=x, y=y)
        texts.add_node(name, pos=f"({x!r}, {y!r})")
    nodes = [{"id": name, "pos": list(p)} for name, p in zip(NAMES, points, strict=True)]
    rows = [f"{name};{x!r};{y!r}" for name, (x, y) in zip(NAMES, points, strict=True)]
    nx.write_graphml(graph, folder / "xy.graphml")
    nx.write_graphml(texts, folder / "pos.graphml")
    (folder / "xy.json").write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    (folder / "pos.json").write_text(json.dumps({"nodes": nodes, "edges": []}))
    (folder / "xy.csv").write_text("\n".join(["name;X;Y", *rows]))
    return sorted(folder.iterdir())


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=4, max_size=4))
def test_coordinates_are_points_and_distances_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[float, float]]
) -> None:
    xy = np.array(points) @ [1, 1j]
    apart = np.abs(xy[:, None] - xy)
    for path in written(tmp_path_factory.mktemp("places"), points):
        for name, feature in (("tsp", "A"), ("orienteering", "D"), ("tsp_points", "xy")):
            (found,) = read_graphs(path, shipped(name))
            wanted = xy if feature == "xy" else apart
            assert np.allclose(found.inputs[feature], wanted, rtol=1e-6)
            assert not any("not used" in note for note in found.notes)


def test_coordinates_along_edges_only() -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: (0, 0), 1: (3, 4), 2: (3, 0)}, "pos")
    roads = spec("A input edge scalar ~ euclidean")
    found = instance_from(roads, graph)
    assert found.inputs["A"].tolist() == [[0, 5, 0], [5, 0, 4], [0, 4, 0]]
    assert found.notes == ("`A` is how far nodes are apart by `pos`",)
    del graph.nodes[1]["pos"]
    with pytest.raises(InstanceError, match="node 1 has no `pos`, but other nodes have"):
        instance_from(roads, graph)
    nx.set_edge_attributes(graph, 2.5, "weight")  # what is said of edges comes first
    assert instance_from(roads, graph).inputs["A"][0, 1] == 2.5


def test_what_is_no_distance_is_not_measured() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: (0, 0), 1: (3, 4)}, "pos")
    for features in (
        ["A input edge scalar ~ uniform(0, 1)"],
        ["A input edge scalar ~ euclidean", "B input edge scalar ~ euclidean"],
    ):
        assert "not used by p: node `pos`" in instance_from(spec(*features), graph).notes


# Tables


@pytest.mark.parametrize(
    "text",
    [
        "source,target,A,note\nNew York,Boston,2,\nBoston,Salem,0.5,\n",
        "A;to;FROM;note\n2;Boston;New York;a, b\n0.5;Salem;Boston;\n",
        "u\tv\tA\nNew York\tBoston\t2\nBoston\tSalem\t0.5\n",
        'from, to, weight\n"New York", Boston, 2\nBoston, Salem, 0.5\n',
        "New York,Boston,2\nBoston,Salem,0.5\n",
    ],
)
def test_edge_lists_with_headers_and_separators(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, "cities.csv", text, shipped("bellman_ford"))
    at = [found.labels.index(name) for name in ("New York", "Boston", "Salem")]
    wanted = [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    assert found.inputs["A"][np.ix_(at, at)].tolist() == wanted


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("u v 3\nv w 2\n", ("u", "v", "w")),
        ("u v\nv w\n", ("u", "v", "w")),
        ("u v\na w\n", ("a", "w")),
    ],
)
def test_nodes_may_be_called_like_columns(
    tmp_path: Path, text: str, labels: tuple[str, ...]
) -> None:
    assert read(tmp_path, "uv.edges", text, shipped("bfs")).labels == labels


def test_columns_have_types(tmp_path: Path) -> None:
    problem = spec(
        "kind  input edge categorical(road | ferry) ~ any_category",
        "open  input edge mask                      ~ coin(0.5)",
        "km    input edge scalar                    ~ uniform(0, 1)",
    )
    text = "source target kind open km\na b ferry TRUE 3\nb c road false 1\n"
    found = read(tmp_path, "ways.txt", text, problem)
    assert found.inputs["kind"][0, 1] == 1
    assert found.inputs["open"].tolist()[0] == [False, True, False]
    assert found.inputs["km"][1, 2] == 1
    with pytest.raises(InstanceError, match="found 'maybe'"):
        read(tmp_path, "ways.txt", text.replace("TRUE", "maybe"), problem)


def test_tables_of_points_mark_a_node_and_give_numbers(tmp_path: Path) -> None:
    text = "name\tx\ty\tprize\ts\nHarbour\t0\t0\t1\t0\nOld town\t3\t4\t2\t1\n"
    found = read(tmp_path, "places.tsv", text, shipped("orienteering"))
    assert found.labels == ("Harbour", "Old town")
    assert (found.inputs["s"], found.inputs["prize"].tolist()) == (1, [1, 2])
    assert found.inputs["D"].tolist() == [[0, 5], [5, 0]]


# CVRPLIB

LENGTHS = spec("A input edge scalar ~ euclidean", "depot input node mask_one ~ any_node")


def test_cvrplib(tmp_path: Path) -> None:
    found = read(tmp_path, "three.vrp", VRP, shipped("vehicle_routing"))
    assert found.inputs["demand"].tolist() == [5, 0, 7]
    assert (found.inputs["capacity"], found.inputs["depot"]) == (10, 0)
    assert found.inputs["xy"][1] == pytest.approx(4.4j)
    assert found.notes == ()
    assert read(tmp_path, "three.vrp", VRP, LENGTHS).inputs["A"][1, 2] == 5.5
    assert read(tmp_path, "three.vrp", VRP, LENGTHS, rounded=True).inputs["A"][1, 2] == 6
    windows = VRP.replace(
        "DEPOT_SECTION", "TIME_WINDOW_SECTION\n1 0 9\n2 1 5\n3 2 4\nDEPOT_SECTION"
    )
    more = spec("A input edge scalar ~ euclidean", "closes input node scalar ~ given")
    found = read(tmp_path, "three.vrp", windows, more)
    assert found.inputs["closes"].tolist() == [9, 5, 4]
    assert "node `opens`" in found.notes[-1]


# METIS


def metis(graph: nx.Graph, edge_weights: bool, node_weights: int, sizes: bool) -> str:
    """As the manual of METIS has it: every edge at both of its ends, nodes from 1."""
    form = f"{int(sizes)}{int(node_weights > 0)}{int(edge_weights)}"
    header = f"{len(graph)} {graph.number_of_edges()} {form} {node_weights or ''}"
    lines = ["% made by hand", header]
    for node in graph:
        words = ([7] if sizes else []) + [10 * node + k for k in range(node_weights)]
        for other in graph[node]:
            words += [other + 1] + ([node + other] if edge_weights else [])
        lines.append(" ".join(map(str, words)))
    return "\n".join(lines) + "\n"


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(0, 99), st.booleans(), st.integers(0, 2), st.booleans())
def test_metis(
    tmp_path_factory: pytest.TempPathFactory,
    nodes: int,
    seed: int,
    edge_weights: bool,
    node_weights: int,
    sizes: bool,
) -> None:
    graph = nx.gnp_random_graph(nodes, 0.4, seed=seed)
    problem = spec("A input edge scalar ~ integers(0, 1)", "w input node scalar ~ integers(0, 1)")
    text = metis(graph, edge_weights, node_weights, sizes)
    found = read(tmp_path_factory.getbasetemp(), "g.graph", text, problem)
    assert found.labels == tuple(str(v + 1) for v in graph)
    assert np.array_equal(found.graph.adjacency, nx.to_numpy_array(graph) > 0)
    if edge_weights:
        wanted = {(u, v): u + v for u, v in graph.edges}
        assert {(u, v): found.inputs["A"][u, v] for u, v in graph.edges} == wanted
    if node_weights:
        assert found.inputs["w"].tolist() == [10 * v for v in graph]


# What is missing

LINE = '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]}'
XML = """<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/>
<edge source="a" target="b"/></graph></graphml>"""
MISSING = [
    ("g.json", LINE,
     {"w": '{"id": "a", "w": 0.5}', "A": '"target": "b", "A": 0.5}', "s": '"graph": {"s": "a"}',
      "P": '"graph": {"P": [[0, 0.5], [0.5, 0]]}', "c": '"graph": {"c": 0.5}'}),
    ("g.graphml", XML,
     {"w": 'attr.name="w" attr.type="double"/> and, in each node, <data key="w">0.5</data>',
      "A": '<data key="A">0.5</data>', "s": '<data key="s">a</data>', "P": "instance_from("}),
    ("g.edges", "a b\n", {"A": "`source,target,A` and `a,b,0.5`", "w": "graph, w=[0.5, ...])"}),
    ("g.csv", "name,x,y\na,0,0\nb,1,1\n", {"w": "a column `w` with values such as 0.5"}),
    ("g.col", "p edge 2 1\ne 1 2\n", {"w": "`n 1 0.5`", "A": "`e 1 2 0.5`", "c": "graph, c=0.5)"}),
    ("g.graph", "2 1\n2\n1\n", {"w": "the format 010 in the header", "A": "the format 001"}),
    ("g.vrp", VRP, {"service": "a SERVICE_TIME_SECTION", "vehicles": "`VEHICLES: 5` in the"}),
]  # fmt: skip
KINDS = {"A": "edge scalar", "P": "pair scalar", "c": "graph scalar", "s": "node mask_one",
         "vehicles": "graph scalar"}  # fmt: skip


@pytest.mark.parametrize(("file", "text", "examples"), MISSING, ids=[row[0] for row in MISSING])
def test_what_is_missing_is_told_by_example(
    tmp_path: Path, file: str, text: str, examples: dict[str, str]
) -> None:
    for name, example in examples.items():
        problem = spec(f"{name} input {KINDS.get(name, 'node scalar')} ~ given")
        with pytest.raises(InstanceError, match="is missing, and it cannot be drawn") as caught:
            read(tmp_path, file, text, problem)
        assert example in str(caught.value)


def test_examples_can_be_followed(tmp_path: Path) -> None:
    problem = spec("w input node scalar ~ given", "s input node mask_one ~ given")
    nodes = '<node id="a">{0}</node><node id="b">{0}</node>'.format('<data key="w">0.5</data>')
    keys = (
        '<key id="w" for="node" attr.name="w" attr.type="double"/>'
        '<key id="s" for="graph" attr.name="s" attr.type="string"/>'
    )
    graph = f'<graph edgedefault="undirected"><data key="s">b</data>{nodes}</graph>'
    found = read(tmp_path, "g.graphml", f"<graphml>{keys}{graph}</graphml>", problem)
    assert (found.inputs["s"], found.inputs["w"].tolist()) == (1, [0.5, 0.5])
    linked = {"nodes": [{"id": "a", "w": 1}, {"id": "b", "w": 2}], "edges": [], "graph": {"s": "b"}}
    assert read(tmp_path, "g.json", json.dumps(linked), problem).inputs["w"].tolist() == [1, 2]
    told = read(tmp_path, "g.json", json.dumps({**linked, "graph": {}}), shipped("tsp")).notes
    assert any('to give it: "graph": {"s": "a"}' in note for note in told)
