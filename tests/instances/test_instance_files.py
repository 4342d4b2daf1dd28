"""Instance files: what is written is read again, and nothing else ever is."""

from __future__ import annotations

import doctest
import io
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from house import ROOT
from random_specs.generator import instances_for, random_instance, seeded_spec
from shipped_specs import SHIPPED, shipped
from small_instances import EVERY_TYPE, assert_same, every_type, few, oracles_of

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.loading import check_text
from gnarl_runtime.instances.instance_checks import verify_graph, verify_instance
from gnarl_runtime.instances.instance_files import (
    InstanceError,
    Provenance,
    read_instance_file,
    read_instances,
    write_instances,
)
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.readers.read import read_graphs

DOCS = ROOT / "docs" / "instances.md"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A file of four Bellman-Ford instances."""
    path = tmp_path / "four.gnarl.npz"
    write_instances(path, shipped("bellman_ford"), few(shipped("bellman_ford")))
    return path


# Round trips


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_written_is_read(name: str, tmp_path: Path) -> None:
    problem, path = shipped(name), tmp_path / "set.gnarl.npz"
    instances = pool_of(problem, few(problem), oracles_of(problem)).instances()
    source = Provenance(seed=2**70, split="train", recipe="by hand")
    content = write_instances(path, problem, instances, source)
    file = read_instance_file(path, problem)
    for ours, theirs in zip(file.instances, instances, strict=True):
        assert_same(ours, theirs, oracles=True)
    assert (file.problem, file.problem_hash) == (name, problem.hash)
    assert (file.content, file.provenance, file.notes) == (content, source, ())
    assert file.spec[0].text == problem.sources[0].text
    assert file.versions["gnarl"] == gnarl.__version__
    assert [i.graph.n for i in read_graphs(path, problem)] == [4, 5, 6, 7]


def test_every_place_and_type(tmp_path: Path) -> None:
    problem, path = gnarl.loads(EVERY_TYPE), tmp_path / "set.gnarl.npz"
    instances = [every_type(n) for n in (1, 2, 5)]
    write_instances(path, problem, instances)
    for ours, theirs in zip(read_instances(path, problem), instances, strict=True):
        assert_same(ours, theirs, oracles=True)


@pytest.mark.parametrize("kind", ["undirected", "directed"])
def test_pointers_of_edges_and_pairs(kind: str, tmp_path: Path) -> None:
    """As they are in an instance: off the edges 0, which is no node and stays 0 in renaming."""
    given = (BETWEEN.format(kind=kind), tmp_path / "set.gnarl.npz")
    problem, path = gnarl.loads(given[0]), given[1]
    instances = [random_instance(problem, n, np.random.default_rng(n)) for n in (1, 2, 6)]
    write_instances(path, problem, instances)
    for ours, theirs in zip(read_instances(path, problem), instances, strict=True):
        assert_same(ours, theirs, oracles=True)
    for instance in instances:
        n = instance.graph.n
        moved = instance.relabel(problem, np.roll(np.arange(n), 1))
        verify_instance(problem, moved, "renamed")
        assert_same(moved.relabel(problem, np.roll(np.arange(n), -1)), instance)


BETWEEN = """
gnarl 1
problem between
graph {kind}
features
  via   input  edge  pointer  ~ given
  mid   input  pair  pointer  ~ given
  on    state  node  mask     = false
phase pick(v)
  allow not on[v]
  update
    on[mid[v, v]] := true
    on[v] := true
horizon n rounds
objective few = -count(x in nodes where on[x]) + count((x, y) in edges where on[via[x, y]])
"""


def test_an_empty_set_is_a_set(tmp_path: Path) -> None:
    write_instances(tmp_path / "none.gnarl.npz", shipped("bfs"), [])
    assert read_instances(tmp_path / "none.gnarl.npz", shipped("bfs")) == []


def test_same_instances_same_bytes(tmp_path: Path) -> None:
    problem = shipped("tsp")
    for name in ("a", "b"):
        write_instances(tmp_path / name, problem, few(problem))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_arrays_can_be_read_with_numpy_alone(written: Path) -> None:
    with np.load(written, allow_pickle=False) as arrays:
        assert arrays["nodes"].tolist() == [4, 5, 6, 7]
        assert len(arrays["input.A"]) == len(arrays["ends"]) == arrays["edges"].sum()
        assert json.loads(arrays["meta.json"])["problem"] == "bellman_ford"


def test_a_failed_write_leaves_the_old_file(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, problem = written.read_bytes(), shipped("bellman_ford")
    bad = few(problem)
    bad[2] = Instance(
        bad[2].graph, {**bad[2].inputs, "A": bad[2].inputs["A"] * np.nan}, bad[2].tags
    )
    with pytest.raises(InstanceError, match="instance 2: the input `A` is nan"):
        write_instances(written, problem, bad)

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="disk full"):
        write_instances(written, problem, few(problem, 2))
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


def test_oracles_are_all_or_none(tmp_path: Path) -> None:
    problem = shipped("mst_prim")
    mixed = [*pool_of(problem, few(problem), ["best"]).instances(), *few(problem)]
    with pytest.raises(InstanceError, match="instance 4 has no oracle `best`, but others do"):
        write_instances(tmp_path / "x", problem, mixed)


# Other problems


def test_another_version_of_the_problem_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "set.gnarl.npz"
    write_instances(path, shipped("mvc"), few(shipped("mvc")))
    assert "another version of mvc" in read_instance_file(path, shipped("mvc", eps="0.2")).notes[0]
    assert "written for mvc" in read_instance_file(path, shipped("mvc_rich")).notes[0]
    assert read_graphs(path, shipped("mvc_rich"))[0].notes


@pytest.mark.parametrize(
    ("name", "message"),
    [("mvc", "holds `A` as input edge scalar, but mvc has no such feature"),
     ("bfs", "holds `A` as input"), ("dfs", "holds undirected graphs, but dfs is about directed")],
)  # fmt: skip
def test_inputs_must_be_the_same(written: Path, name: str, message: str) -> None:
    with pytest.raises(InstanceError, match=f"meta.json: {message}"):
        read_instances(written, shipped(name))


def test_missing_inputs_are_named(tmp_path: Path) -> None:
    write_instances(tmp_path / "x.npz", shipped("bfs"), few(shipped("bfs")))
    with pytest.raises(InstanceError, match="the input `A` of bellman_ford is missing"):
        read_instances(tmp_path / "x.npz", shipped("bellman_ford"))


# The manual


def test_the_examples_in_the_manual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path / "cache"))
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "instances.md", None, None)
    report = io.StringIO()
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    doctest.DocTestRunner(optionflags=flags).run(test, out=report.write)
    assert not report.getvalue(), report.getvalue()
    assert len(test.examples) > 15


@pytest.mark.parametrize("seed", range(25))
def test_random_specs_get_graphs_that_they_take(seed: int) -> None:
    problem = check_text(seeded_spec(seed)).problem
    if problem is None:
        pytest.skip("a spec with a mistake")
    for instance in instances_for(problem, np.random.default_rng(seed)):
        verify_graph(problem, instance.graph, "here")
