"""Trajectories: probes are those of CLRS, an archive comes back as it was, others can read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model.kinds import POINT
from gnarl_runtime.commands.export import main
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.search.players import ExpertPlayer
from gnarl_runtime.trajectories.expert_episodes import record
from gnarl_runtime.trajectories.handing_over import LibraryMissing
from gnarl_runtime.trajectories.probes import (
    Probe,
    hint_probes,
    input_probes,
    one_hot,
    output_probes,
)
from gnarl_runtime.trajectories.trajectory import ProbeFileError, Trajectories, read_trajectories

EVERY_KIND = """
gnarl 1
problem every_kind
  "A feature of every kind."

graph directed

features
  at      input    node        point                    ~ square
  w       input    edge        scalar                   ~ uniform(0, 1)
  s       input    node        mask_one                 ~ any_node
  colour  state    node        categorical(red | blue)  = red
  pred    state    node(x)     pointer                  = x
  near    state    pair(x, y)  mask                     = edge(x, y)
  left    state    graph       scalar                   = n
  deep    derived  node(x)     scalar                   = depth(pred, x)

let right(x) = pred[x] == s and left >= 0

phase pick(v)
  update
    pred[v] := s
    near[s, v] := true
    colour[v] := blue
    left := left - w[s, v]

horizon n rounds
correct forall x in nodes: right(x) and deep[x] < inf
"""


def kinds_of(probes: list[Probe]) -> dict[str, tuple[str, str]]:
    return {probe.name: (probe.location, probe.kind) for probe in probes}


def test_every_kind_of_feature_is_a_probe_of_clrs() -> None:
    problem = gnarl.loads(EVERY_KIND)
    assert kinds_of([shown.probe for shown in input_probes(problem)]) == {
        "at_x": ("node", "scalar"),
        "at_y": ("node", "scalar"),
        "w": ("edge", "scalar"),
        "s": ("node", "mask_one"),
    }
    assert kinds_of([shown.probe for shown in hint_probes(problem)]) == {
        "colour": ("node", "categorical"),
        "pred_h": ("node", "pointer"),
        "near": ("edge", "mask"),
        "left_h": ("graph", "scalar"),
        "deep": ("node", "scalar"),
    }
    # What `correct` judges, through a let and a derived feature; neither inputs nor picks.
    assert set(kinds_of([shown.probe for shown in output_probes(problem)])) == {"pred", "left"}


def test_without_a_right_answer_outputs_are_what_is_optimised() -> None:
    assert {shown.probe.name for shown in output_probes(shipped("mvc"))} == {"in_cover"}


def test_values_are_encoded_as_in_clrs() -> None:
    problem = gnarl.loads(EVERY_KIND)
    shown = {p.probe.name: p for p in (*input_probes(problem), *hint_probes(problem))}
    assert shown["s"].values(np.asarray(1), 3).tolist() == [0, 1, 0]
    assert shown["colour"].values(np.array([0, 1]), 2).tolist() == [[1, 0], [0, 1]]
    assert shown["pred_h"].values(np.array([2, 1, 1]), 3).tolist() == [2, 1, 1]
    assert shown["near"].values(np.array([[True, False]] * 2), 2).tolist() == [[1, 0], [1, 0]]
    assert shown["at_x"].feature.type is POINT
    assert shown["at_y"].values(np.array([0.5 + 0.25j]), 1).tolist() == [0.25]
    assert one_hot(-1, 2).tolist() == [0, 0]


def path_of_three() -> Trajectories:
    """BFS on the path 0 - 1 - 2 from node 0, in which nobody has a choice."""
    problem = shipped("bfs")
    adjacency = np.zeros((3, 3), np.bool_)
    for u, v in ((0, 1), (1, 2)):
        adjacency[u, v] = adjacency[v, u] = True
    inputs = {"s": np.asarray(0)}
    instance = Instance(Graph(False, adjacency), inputs, np.arange(3, dtype=np.uint64))
    compiled = compile_for(problem, None, ("shallowest",))
    return record(
        compiled, pool_of(problem, [instance], compiled.oracles), ExpertPlayer("shallowest")
    )


def test_an_episode_is_told_step_by_step() -> None:
    found = path_of_three()
    given = {probe.name: values[0].tolist() for probe, values in found.inputs.items()}
    assert given == {
        "pos": [0, 1 / 3, 2 / 3],
        "adj": [[1, 1, 0], [1, 1, 1], [0, 1, 1]],  # CLRS joins every node to itself
        "s": [1, 0, 0],
    }
    hints = {probe.name: values[:, 0].tolist() for probe, values in found.hints.items()}
    assert hints == {
        "pred_h": [[0, 1, 2], [0, 1, 2], [0, 0, 2], [0, 0, 2], [0, 0, 1]],
        "reach": [[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1]],
        "last_from": [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]],
        "last_to": [[0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]],
        "phase": [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0]],
    }
    assert {p.name: v[0].tolist() for p, v in found.outputs.items()} == {"pred": [0, 0, 1]}
    assert found.lengths.tolist() == [5]
    assert found.correct.all()


def test_behind_the_end_of_an_episode_hints_are_zero_and_seeds_repeat() -> None:
    found, again = (gnarl.trajectories("dfs", 6, 5, seed=3) for _ in range(2))
    assert len(set(found.lengths.tolist())) > 1
    for probe, values in found.hints.items():
        assert values.shape == (found.lengths.max(), 6, *probe.shape(5))
        for number, length in enumerate(found.lengths):
            assert not values[length:, number].any()
        assert (values == again.hints[probe]).all()


# The archive


def same(one: Trajectories, other: Trajectories) -> bool:
    return one.probes == other.probes and all(
        (values == other.by_stage[stage][probe]).all()
        for stage, group in one.by_stage.items()
        for probe, values in group.items()
    )


def test_an_archive_comes_back_and_numpy_alone_can_read_it(tmp_path: Path) -> None:
    found, path = path_of_three(), tmp_path / "bfs.npz"
    found.save(path)
    back = gnarl.read_trajectories(path)
    assert same(found, back)
    assert (back.problem, back.hash, back.expert, back.nodes) == (
        *("bfs", shipped("bfs").hash, "shallowest"),
        3,
    )
    plain = np.load(path, allow_pickle=False)
    about = json.loads(str(plain["about"]))
    assert {probe["name"] for probe in about["probes"] if probe["stage"] == "hint"} == {
        *("pred_h", "reach", "last_from", "last_to", "phase"),
    }
    assert plain["output/pred"].tolist() == [[0, 0, 1]]


@settings(max_examples=60)
@given(cut=st.integers(0, 4000), flipped=st.integers(1, 255))
def test_a_damaged_archive_is_one_message(cut: int, flipped: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.npz"
        path_of_three_once().save(path)
        content = bytearray(path.read_bytes())
        content[cut % len(content)] ^= flipped
        path.write_bytes(bytes(content))
        assert told_by_reading(path) in (str(path), "")


def told_by_reading(path: Path) -> str:
    """The file that a message is about; nothing if the bit did not matter."""
    try:
        read_trajectories(path)
    except ProbeFileError as error:
        return str(path) if str(path) in str(error) else str(error)
    return ""


_KEPT: list[Trajectories] = []


def path_of_three_once() -> Trajectories:
    if not _KEPT:
        _KEPT.append(path_of_three())
    return _KEPT[0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"about": np.array("{}")}, "`about` says something else"),
        ({"output/pred": np.zeros((1, 4))}, "has shape (1, 4), expected (1, 3)"),
        ({"output/pred": None}, "`output/pred` is missing"),
    ],
)
def test_an_archive_that_does_not_fit_says_where(
    change: dict[str, object], told: str, tmp_path: Path
) -> None:
    path = tmp_path / "changed.npz"
    path_of_three_once().save(path)
    arrays = {**np.load(path), **change}
    np.savez(path, **{name: values for name, values in arrays.items() if values is not None})
    with pytest.raises(ProbeFileError) as error:
        read_trajectories(path)
    assert told in str(error.value)


# The command


def test_the_command_writes_what_python_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "own.npz"
    assert (
        main(["--clrs", "dfs", "--count", "6", "--nodes", "5", "--seed", "3", "-o", str(out)]) == 0
    )
    assert "pred (node pointer)" in capsys.readouterr().out
    assert same(read_trajectories(out), gnarl.trajectories("dfs", 6, 5, seed=3))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bfs"], "expected --clrs"),
        (["--clrs", "bfs", "--count", "0"], "--count 0: expected 1 or more"),
        (["--clrs", "bfs", "--expert", "shalowest"], "shallowest"),
        (["--clrs", "bfs", "--split", "tests"], "expected one of: train, valid, test"),
        (["--clrs", "bfs", "-o", "bfs.json"], "ends in .npz"),
    ],
)
def test_mistakes_are_told_before_anything_is_played(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert main(arguments) == 2
    finally:
        os.chdir(here)
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_without_an_expert_there_is_nothing_to_play() -> None:
    with pytest.raises(gnarl.UsageError, match="declares no expert"):
        gnarl.trajectories(gnarl.loads(EVERY_KIND))


# Other libraries


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clrs._src.samplers", None)
    with pytest.raises(LibraryMissing) as error:
        path_of_three_once().clrs()
    assert "dm-clrs" in str(error.value)


def test_pyg_gets_a_graph_per_episode() -> None:
    pytest.importorskip("torch_geometric")
    [graph] = path_of_three_once().pyg()
    assert graph.num_nodes == 3
    assert graph.edge_index.shape == (2, 7)
    assert graph.output_pred.tolist() == [0, 0, 1]
    assert graph.hint_reach.shape == (5, 3)


CLRS_PYTHON = os.environ.get("GNARL_CLRS_PYTHON", "")
ALIKE = (
    *("activity_selector", "articulation_points", "bellman_ford", "binary_search", "bridges"),
    *("bubble_sort", "find_maximum_subarray_kadane", "floyd_warshall", "graham_scan"),
    *("insertion_sort", "jarvis_march", "kmp_matcher", "minimum", "mst_prim"),
    *("naive_string_matcher", "quickselect", "strongly_connected_components", "task_scheduling"),
)


@pytest.mark.long
@pytest.mark.skipif(not CLRS_PYTHON, reason="GNARL_CLRS_PYTHON names no Python with dm-clrs")
@pytest.mark.parametrize("name", ALIKE)
def test_experts_end_as_the_algorithms_of_clrs_do(name: str, tmp_path: Path) -> None:
    """Their implementation on our inputs, in a Python of its own."""
    path = tmp_path / f"{name}.npz"
    gnarl.trajectories(name, 5, 9, seed=1).save(path)
    script = Path(__file__).with_name("against_clrs.py")
    done = subprocess.run(
        [CLRS_PYTHON, str(script), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_first_of_several_picks_is_that_of_the_smallest_number() -> None:
    found = gnarl.trajectories("bfs", count=4, nodes=8, ties="first", seed=3)
    hints = {probe.name: values for probe, values in found.hints.items()}
    ends = [hints[name][2::2].argmax(axis=2) for name in ("last_from", "last_to")]  # (rounds, B)
    for source, target in zip(*(values.T for values in ends), strict=True):
        same = source[1:] == source[:-1]
        assert (target[1:] > target[:-1])[same].all()


def test_a_mistaken_way_with_ties_is_told() -> None:
    with pytest.raises(gnarl.UsageError, match="ties"):
        gnarl.trajectories("bfs", count=1, ties="last")
