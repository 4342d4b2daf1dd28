"""Graphs from elsewhere: read as they are, or refused with file, line and a fix."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from bad_graphs import BAD, GRAPHML, LINKED, MATRIX, TSP
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import shipped

from gnarl_runtime.readers.read import Imported, InstanceError, read_graphs


def save(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, name: str, text: str | bytes, problem: str, **options: Any) -> Imported:
    (instance,) = read_graphs(save(folder, name, text), shipped(problem), **options)
    return instance


SQUARE = "# a square\n% with a tail\na b 0.5\nb c 1\n\nc d 2.5e-1\nd a 3\nd e 1\n"

# Good files


def test_edge_lists(tmp_path: Path) -> None:
    instance = read(tmp_path, "square.edges", SQUARE, "bellman_ford", seed=4)
    assert instance.labels == ("a", "b", "c", "d", "e")
    assert instance.graph.m == 5
    assert instance.inputs["A"][0, 1] == instance.inputs["A"][1, 0] == 0.5
    assert instance.inputs["A"][3, 2] == 0.25
    (note,) = instance.notes
    assert note.startswith("`s` was drawn from any_node with seed 4; to give it: ")
    again = read(tmp_path, "square.txt", SQUARE.replace(" ", ", "), "bellman_ford", seed=4)
    assert np.array_equal(instance.tags, again.tags)
    assert instance.inputs["s"] == again.inputs["s"]
    assert "not used by bfs: edge `weight`" in read(tmp_path, "s.edges", SQUARE, "bfs").notes


def test_edge_lists_have_the_problems_direction(tmp_path: Path) -> None:
    instance = read(tmp_path, "two.edges", "a b\nb a\n", "dfs")
    assert instance.graph.directed
    assert instance.graph.m == 2


def test_tsplib(tmp_path: Path) -> None:
    exact = read(tmp_path, "three.tsp", TSP, "tsp").inputs["A"]
    assert exact[0, 1] == np.float32(4.4)
    assert exact[1, 2] == exact[2, 1] == np.float32(5.5)
    rounded = read(tmp_path, "three.tsp", TSP, "tsp", rounded=True).inputs["A"]
    assert rounded.tolist() == [[0, 4, 3], [4, 0, 6], [3, 6, 0]]
    up = read(tmp_path, "three.tsp", TSP.replace("EUC_2D", "CEIL_2D"), "tsp").inputs["A"]
    assert up.tolist() == [[0, 5, 4], [5, 0, 6], [4, 6, 0]]


@pytest.mark.parametrize(
    ("form", "numbers"),
    [("FULL_MATRIX", "0 1 2 1 0\n3 2 3 0"), ("UPPER_ROW", "1 2\n3"), ("LOWER_ROW", "1\n2 3"),
     ("UPPER_DIAG_ROW", "0 1 2 0 3 0"), ("LOWER_DIAG_ROW", "0 1 0 2 3 0")],
)  # fmt: skip
def test_tsplib_matrices(tmp_path: Path, form: str, numbers: str) -> None:
    text = MATRIX.format(form=form, numbers=numbers)
    assert read(tmp_path, "m.tsp", text, "tsp").inputs["A"].tolist() == [
        [0, 1, 2],
        [1, 0, 3],
        [2, 3, 0],
    ]


def test_dimacs(tmp_path: Path) -> None:
    tree = read(tmp_path, "t.gr", "c hello\np tw 4 2\n1 2\n3 2\n", "mvc")
    assert tree.labels == ("1", "2", "3", "4")
    assert tree.graph.edges().tolist() == [[0, 1], [1, 2]]
    col = read(tmp_path, "t.col", "p edge 2 1\nn 1 0.5\nn 2 0.25\ne 1 2\n", "mvc")
    assert col.inputs["w"].tolist() == [0.5, 0.25]
    assert col.notes == ()
    both = read(tmp_path, "t.gr", "p sp 2 2\na 1 2 0.5\na 2 1 0.5\n", "bellman_ford")
    assert both.inputs["A"].tolist() == [[0, 0.5], [0.5, 0]]
    assert read(tmp_path, "t.gr", "p sp 3 1\na 1 2 0.5\n", "dfs").graph.directed


def test_graphml(tmp_path: Path) -> None:
    instance = read(tmp_path, "g.graphml", GRAPHML, "bellman_ford")
    assert instance.labels == ("x", "y", "z")
    assert instance.inputs["A"].tolist() == [[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]]
    assert instance.inputs["s"] == 1
    assert instance.notes == ()
    wide = GRAPHML.replace("UTF-8", "UTF-16").encode("utf-16")
    assert read(tmp_path, "g.graphml", wide, "bellman_ford").inputs["s"] == 1


def test_graphml_of_networkx(tmp_path: Path) -> None:
    graph = nx.gnp_random_graph(9, 0.5, seed=1)
    nx.set_edge_attributes(graph, {e: float(k) for k, e in enumerate(graph.edges)}, "weight")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    instance = read_graphs(tmp_path / "g.graphml", shipped("mst_prim"))[0]
    assert np.array_equal(instance.inputs["A"], nx.to_numpy_array(graph))


def test_node_link_json(tmp_path: Path) -> None:
    instance = read(tmp_path, "g.json", json.dumps(LINKED), "bellman_ford")
    assert instance.labels == ("a", "b", 7)
    assert instance.inputs["s"] == 1
    assert instance.inputs["A"][2, 1] == 1
    old = {**LINKED, "links": LINKED["edges"]}
    del old["edges"]
    path = save(tmp_path, "g.json", json.dumps([LINKED, old]))
    first, second = read_graphs(path, shipped("bellman_ford"))
    assert np.array_equal(first.inputs["A"], second.inputs["A"])
    graph = nx.grid_2d_graph(2, 3)
    path = save(tmp_path, "g.json", json.dumps(nx.node_link_data(graph, edges="edges")))
    assert read_graphs(path, shipped("bfs"))[0].labels == tuple(graph.nodes)


def test_repair(tmp_path: Path) -> None:
    text = "a b 1\nb a 2\nc c 3\nb d 4\nx y 5\n"
    instance = read(tmp_path, "r.edges", text, "bellman_ford", repair=True)
    assert instance.labels == ("a", "b", "d")
    assert instance.inputs["A"].tolist() == [[0, 1, 0], [1, 0, 4], [0, 4, 0]]
    assert [note.split(": ", 1)[1] for note in instance.notes[:3]] == [
        "self-loops removed: 1", "repeated edges removed: 1",
        "nodes outside the largest part removed: 3",
    ]  # fmt: skip
    one_way = read(tmp_path, "r.gr", "p sp 2 1\na 1 2 0.5\n", "bellman_ford", repair=True)
    assert one_way.inputs["A"].tolist() == [[0, 0.5], [0.5, 0]]
    assert "one-way edges taken as undirected: 1" in one_way.notes[0]


# Malformed files


@pytest.mark.parametrize("case", range(len(BAD)))
def test_malformed_files_are_located(tmp_path: Path, case: int) -> None:
    name, text, message = BAD[case]
    problem = shipped("tsp" if name.endswith((".tsp", ".vrp")) else "bellman_ford")
    path = save(tmp_path, name, text)
    with pytest.raises(InstanceError) as caught:
        read_graphs(path, problem)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 600


def test_undirected_files_do_not_fit_directed_problems(tmp_path: Path) -> None:
    path = save(tmp_path, "x.gr", "p tw 2 1\n1 2\n")
    with pytest.raises(
        InstanceError, match="found an undirected graph, but dfs is about a directed"
    ):
        read_graphs(path, shipped("dfs"))


WORDS = st.sampled_from(
    ["a", "b", "1", "2", "x,y", "u;v;w", "DEPOT_SECTION", "p", "tw", "sp", "e", "0.5", "-1", "nan",
     "c", "#", ":", "EOF", "DIMENSION:", "NODE_COORD_SECTION", "EDGE_WEIGHT_TYPE:", "EUC_2D",
     "<graph>", "<node id='a'/>", '{"nodes":', "[]", "}", "\n", "\n", "\x00", "é"]
)  # fmt: skip


@given(
    st.lists(WORDS, max_size=25),
    st.sampled_from(["edges", "csv", "gr", "tsp", "vrp", "graph", "graphml", "json", "npz"]),
)
def test_nonsense_is_an_instance_error(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], ending: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"fuzz.{ending}"
    path.write_text(" ".join(words), "utf-8")
    try:
        read_graphs(path, shipped("mvc"))
    except InstanceError as error:
        assert str(path) in str(error)  # noqa: PT017 (a graph is fine, too)
