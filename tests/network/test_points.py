"""Points: what formulas read of them, how they come in, and that only distances reach a policy."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from duel import Duel
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.levels.levels import Use, levels_of
from gnarl_dsl.model.kinds import ABSOLUTE, RATIO
from gnarl_dsl.report.diagnostics import SpecError
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.batch.reading import reading_of
from gnarl_runtime.batch.signature import signature_of
from gnarl_runtime.envs.interpreted import load_state
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.instances.instance_files import read_instances, write_instances
from gnarl_runtime.instances.instance_json import case_of
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.network.policy import Policy, PolicyConfig, log_chances
from gnarl_runtime.readers.read import instance_from, read_graphs
from gnarl_runtime.viewing.places import ASPECT, places_of

POINTS = shipped("tsp_points")
PAIRS = shipped("tsp")

SPEC = """gnarl 1
problem near
graph undirected
features
  xy  input  node  point  ~ square
  on  state  node  mask   = false
{more}
phase pick(v)
  allow not on[v]
  update
    on[v] := true
horizon n rounds
objective spread = {value}
"""


def near(
    value: str = "sum(x in nodes where on[x]: distance(xy, x, last(pick) otherwise x))", more=""
):
    return gnarl.loads(SPEC.format(value=value, more=more))


def complete(n: int) -> Graph:
    return Graph(False, ~np.eye(n, dtype=bool))


def on_points(points: np.ndarray, start: int = 0) -> Instance:
    n = len(points)
    inputs = {"xy": points, "s": np.asarray(start)}
    return Instance(complete(n), inputs, np.arange(n, dtype=np.uint64))


def on_pairs(points: np.ndarray, start: int = 0) -> Instance:
    """The same problem with the distances written down."""
    n, points = len(points), points.astype(np.complex64).astype(np.complex128)
    inputs = {"A": np.abs(points[:, None] - points), "s": np.asarray(start)}
    return Instance(complete(n), inputs, np.arange(n, dtype=np.uint64))


def random_points(n: int, seed: int) -> np.ndarray:
    x, y = np.random.default_rng(seed).random((2, n))
    return x + 1j * y


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 999), n=st.integers(3, 7), expert=st.sampled_from(["nearest", "optimal"])
)
def test_tours_on_points_are_those_on_distances(seed: int, n: int, expert: str) -> None:
    points = random_points(n, seed)
    ends = []
    for problem, instance in ((POINTS, on_points(points)), (PAIRS, on_pairs(points))):
        game = Interpreter(problem)
        state, picks = game.reset(instance), []
        while state.ended is None:
            picks.append(int(np.argmax(game.expert(state, expert))))
            state = game.step(state, picks[-1]).state
        ends.append((picks, game.objective(state)))
    assert ends[0][0] == ends[1][0]
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-6)


def test_kernels_equal_the_interpreter_on_points() -> None:
    cases = [on_points(random_points(n, n), n // 2) for n in (2, 3, 6, 9)]
    duel = Duel(POINTS, cases)
    rng = np.random.default_rng(1)
    for _ in range(9):
        duel.step(rng)
    assert duel.checks > 20


def test_a_complete_graph_of_points_has_no_table_of_pairs() -> None:
    layout = layout_of(POINTS, 1, 1000)
    sizes = {spec.name: spec.bytes for spec in (*layout.core(), *layout.features())}
    assert sizes["edge_id"] == 0
    assert sizes["xy"] == 8000
    assert max(sizes, key=sizes.__getitem__) == "src"  # two bytes per arc
    assert layout.bytes < 3 * 1000**2
    assert layout_of(PAIRS, 1, 1000).bytes > 2 * layout.bytes


# What a policy reads


def packed(points: np.ndarray, start: int = 0, signature=None):
    pool = pool_of(POINTS, [on_points(points, start)])
    batch = Batch.allocate(layout_of(POINTS, 1, len(points)))
    pool.copy_into(batch, [0], [0])
    return pack(batch, [0], signature)


def test_a_message_reads_its_length_and_nothing_else() -> None:
    points = random_points(7, 3)
    own = packed(points)
    columns = layout_of(POINTS, 1, 7).signature.names()
    assert not any("xy" in name for name in (*columns["node"], *columns["graph"]))
    where = columns["edge"].index("distance(xy, src, dst)")
    assert np.allclose(own.edge_raw[:, where], np.abs(points[own.src] - points[own.dst]), atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 999),
    angle=st.floats(0, 6.3),
    mirrored=st.booleans(),
    x=st.floats(-2, 2),
    y=st.floats(-2, 2),
)
def test_policies_cannot_tell_which_way_is_up(
    seed: int, angle: float, mirrored: bool, x: float, y: float
) -> None:
    points = random_points(8, seed)
    moved = (points.conj() if mirrored else points) * np.exp(1j * angle) + (x + 1j * y)
    one, other = packed(points), packed(moved)
    assert np.array_equal(one.x, other.x)
    assert np.allclose(one.edge_raw, other.edge_raw, atol=1e-5)
    torch.manual_seed(0)
    policy = Policy(POINTS, PolicyConfig(width=16, rounds=2))
    with torch.no_grad():
        mine, theirs = (log_chances(policy(each), each).exp() for each in (one, other))
    assert torch.allclose(mine, theirs, atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999), turns=st.integers(0, 3), mirrored=st.booleans())
def test_quarter_turns_change_no_bit(seed: int, turns: int, mirrored: bool) -> None:
    points = random_points(8, seed)
    moved = (points.conj() if mirrored else points) * 1j**turns
    one, other = packed(points), packed(moved)
    assert np.array_equal(one.edge_raw, other.edge_raw)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 999), power=st.integers(-8, 8), x=st.floats(-2, 2))
def test_policies_cannot_tell_how_large_the_plane_is(seed: int, power: int, x: float) -> None:
    """Distances only meet distances, so they are read as multiples of the instance's own."""
    signature = signature_of(POINTS, reading=reading_of(POINTS, Use(experts=("optimal",))))
    points = random_points(8, seed)
    one, scaled, moved = (
        packed(p, signature=signature) for p in (points, points * 2.0**power, points * 7 + x)
    )
    assert np.array_equal(one.edge_raw, scaled.edge_raw)
    assert np.allclose(one.edge_raw, moved.edge_raw, atol=1e-5)


def test_a_distance_is_not_only_compared() -> None:
    """No bending of the plane bends distances, so points are no ordinal numbers."""
    measures = levels_of(near("0"), Use())
    assert {name: each.level for name, each in measures.items()} == {"xy": RATIO}
    far = near("count(x in nodes where distance(xy, x, last(pick) otherwise x) < 0.5)")
    assert levels_of(far, Use(goals=("spread",)))["xy"].level is ABSOLUTE
    mixed = "  d  state  node  scalar  = 0\n  A  input  edge  scalar  ~ uniform(0, 1)"
    text = SPEC.format(value="sum(x in nodes: d[x])", more=mixed)
    step = "    d[v] := max(y in neighbors(v): A[v, y] + distance(xy, v, y))\n"
    problem = gnarl.loads(text.replace("    on[v] := true\n", "    on[v] := true\n" + step))
    measures = levels_of(problem, Use(goals=("spread",)))
    assert {each.powers for each in measures.values()} == {(("xy", 1),)}  # one unit for all


def test_windows_show_the_same_distances() -> None:
    text = POINTS.sources[0].text.replace("problem tsp_points", "problem tsp_seen")
    observe = "observe x in nodes where not in_tour[x] or x == here or s[x]\n"
    seen = gnarl.loads(text + observe)
    points = random_points(7, 1)
    whole, part = (playing(problem, points, [0, 3, 5]) for problem in (POINTS, seen))
    where = layout_of(POINTS, 1, 7).signature.names()["edge"].index("distance(xy, src, dst)")
    lengths = {
        (int(u), int(v)): value
        for u, v, value in zip(whole.src, whole.dst, whole.edge_raw[:, where], strict=True)
    }
    assert len(part.x) == 6  # all but the one that is done
    for u, v, value in zip(part.src, part.dst, part.edge_raw[:, where], strict=True):
        assert lengths[int(part.node[u]), int(part.node[v])] == value


def playing(problem, points: np.ndarray, picks: list[int]):
    """What a policy reads after some picks."""
    game = Interpreter(problem)
    state = game.reset(on_points(points))
    for pick in picks:
        state = game.step(state, pick).state
    batch = Batch.allocate(layout_of(problem, 1, len(points)))
    load_state(batch, 0, state)
    return pack(batch, [0])


# Words


def test_names_of_ones_own_come_first() -> None:
    text = SPEC.format(value="sum(x in nodes: distance(x, x))", more="")
    text = text.replace(
        "phase pick", "let distance(x, y) = if on[x] and on[y] then 2 else 1\nphase pick"
    )
    problem = gnarl.loads(text)
    game = Interpreter(problem)
    instance = Instance(complete(3), {"xy": np.zeros(3, complex)}, np.arange(3, dtype=np.uint64))
    assert game.objective(game.reset(instance)) == 3
    own = SPEC.format(
        value="sum(x in nodes: distance[x])",
        more="  distance  input  node  scalar  ~ uniform(0, 1)",
    )
    assert gnarl.loads(own).feature("distance").is_number
    own = SPEC.format(
        value="count(x in nodes where point[x] and square[x])",
        more="  point  state  node  mask  = false\n  square  state  node  mask  = true",
    )
    assert gnarl.loads(own).feature("point").is_truth


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("distance(xy, 1, 2)", "GN205"),
        ("sum(x in nodes: distance(on, x, x))", "GN221"),
        ("sum(x in nodes: distance(x))", "GN203"),
        ("sum(x in nodes: xy[x])", "GN236"),
        ("count(x in nodes where xy[x] == xy[x])", "GN236"),
        ("xy", "GN236"),
    ],
)
def test_what_cannot_be_said(value: str, code: str) -> None:
    with pytest.raises(SpecError) as found:
        near(value)
    assert {finding.code for finding in found.value.diagnostics} == {code}


def test_distances_are_symmetric_to_the_checker() -> None:
    more = "  d  derived  edge(x, y)  scalar  = distance(xy, y, x) * 2"
    assert near("sum((x, y) in edges: distance(xy, x, y) + d[x, y])", more)


def test_registered_functions_take_points_for_weights() -> None:
    points = random_points(6, 5)
    more = "  tree  oracle  graph  scalar  = mst_weight(xy)\n  s  input  node  mask_one  ~ any_node"
    more += "\n  t2  oracle  node  scalar  = shortest_path_length(xy, s)"
    problem = near("0 * n", more)
    graph = Graph(False, nx.to_numpy_array(nx.cycle_graph(6)).astype(bool))
    single = points.astype(np.complex64).astype(complex)
    instance = Instance(graph, {"xy": points, "s": np.asarray(0)}, np.arange(6, dtype=np.uint64))
    weighted = nx.Graph()
    weighted.add_weighted_edges_from((u, v, abs(single[u] - single[v])) for u, v in graph.edges())
    pool = pool_of(problem, [instance], ["tree", "t2"])
    wanted = nx.minimum_spanning_tree(weighted).size("weight")
    assert pool.instance(0).oracles["tree"] == pytest.approx(wanted)
    lengths = nx.single_source_dijkstra_path_length(weighted, 0)
    assert pool.instance(0).oracles["t2"] == pytest.approx([lengths[v] for v in range(6)])


# Coming in and going out


def test_points_go_to_a_file_and_back(tmp_path: Path) -> None:
    pool = gnarl.draw(POINTS, count=3, nodes=5)
    write_instances(tmp_path / "a.gnarl.npz", POINTS, pool)
    for ours, theirs in zip(read_instances(tmp_path / "a.gnarl.npz", POINTS), pool, strict=True):
        assert np.array_equal(ours.inputs["xy"], theirs.inputs["xy"])


GRAPH = nx.complete_graph(3)
PLACES = [(0.0, 0.5), (1.0, 2.0), (-3.0, 0.25)]
WANTED = [0.5j, 1 + 2j, -3 + 0.25j]


@pytest.mark.parametrize(
    "given",
    [
        {"xy": PLACES},
        {"xy": np.array(PLACES)},
        {"xy": np.array(WANTED)},
        {"xy": dict(enumerate(PLACES))},
    ],
)
def test_points_from_python(given: dict) -> None:
    assert instance_from(POINTS, GRAPH, **given, s=0).inputs["xy"].tolist() == WANTED


@pytest.mark.parametrize("form", ["xy", "pos", "x and y"])
@pytest.mark.parametrize("joined", [True, False])
def test_points_of_node_link_files(tmp_path: Path, form: str, joined: bool) -> None:
    nodes = [
        {"id": k, **({"x": x, "y": y} if form == "x and y" else {form: [x, y]})}
        for k, (x, y) in enumerate(PLACES)
    ]
    edges = [{"source": u, "target": v} for u, v in GRAPH.edges] if joined else []
    file = tmp_path / "three.json"
    file.write_text(json.dumps({"nodes": nodes, "edges": edges}))
    (found,) = read_graphs(file, POINTS)
    assert found.inputs["xy"].tolist() == WANTED
    assert found.graph.m == 3
    assert any("joined" in note for note in found.notes) != joined


def test_a_table_of_points(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("name,x,y\nA,0,0.5\nB,1,2\nC,-3,0.25\n")
    (found,) = read_graphs(file, POINTS)
    assert (found.labels, found.inputs["xy"].tolist()) == (("A", "B", "C"), WANTED)
    file.write_text("x,y\n0,0.5\n1\n")
    with pytest.raises(InstanceError, match=r"places\.csv:3: found 1 words, expected 2: x, y"):
        read_graphs(file, POINTS)
    file.write_text("x,y\n0,0.5\n1,two\n")
    with pytest.raises(InstanceError, match=r"places\.csv:3: `two` is not a number"):
        read_graphs(file, POINTS)


TSPLIB = """TYPE: TSP
DIMENSION: 3
EDGE_WEIGHT_TYPE: EUC_2D
NODE_COORD_SECTION
2 1 2
1 0 0.5
3 -3 0.25
EOF
"""


def test_tsplib_gives_points_and_distances(tmp_path: Path) -> None:
    file = tmp_path / "three.tsp"
    file.write_text(TSPLIB)
    (found,) = read_graphs(file, POINTS)
    assert found.inputs["xy"].tolist() == WANTED
    assert not any("not used" in note for note in found.notes)
    (pairs,) = read_graphs(file, PAIRS)
    assert not any("not used" in note for note in pairs.notes)
    assert pairs.inputs["A"][0, 1] == np.float32(abs(WANTED[0] - WANTED[1]))
    with pytest.raises(InstanceError, match="cannot be rounded"):
        read_graphs(file, POINTS, rounded=True)
    file.write_text(TSPLIB.replace("EUC_2D", "MAN_2D"))
    (found,) = read_graphs(file, POINTS)  # points whose distances are others: not these
    assert any("`xy` was drawn from square" in note for note in found.notes)


def test_points_that_do_not_fit() -> None:
    with pytest.raises(InstanceError, match="two coordinates for each node"):
        instance_from(POINTS, GRAPH, xy=[1.0, 2.0, 3.0], s=0)
    with pytest.raises(InstanceError, match="expected a finite number"):
        instance_from(POINTS, GRAPH, xy=[(0, np.inf), (1, 2), (3, 4)], s=0)


def test_nodes_stand_where_their_points_are() -> None:
    places = places_of(POINTS, on_points(np.array([0, 4 + 0j, 4 + 2j, 0.1 + 2j])), 0)
    stretched = places * (ASPECT, 1.0)
    wanted = np.array([[0, 0], [4, 0], [4, -2], [0.1, -2]])
    centred = [p - p.mean(axis=0) for p in (stretched, wanted)]
    scale = np.linalg.norm(centred[0]) / np.linalg.norm(centred[1])
    assert np.allclose(centred[0], centred[1] * scale, atol=1e-6)


def test_witnesses_keep_points() -> None:
    instance = on_points(np.array(WANTED))
    cells = case_of(POINTS, instance).inputs["xy"]
    assert [complex(cell) for cell in json.loads(json.dumps(cells))] == WANTED
