"""Oracle columns: solved once, kept on disk; instances that do not fit are named."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from shipped_specs import shipped
from small_instances import ANY_GRAPH, few, oracles_of

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_runtime.instances import pool_oracles
from gnarl_runtime.instances.instance_checks import InstanceError
from gnarl_runtime.instances.instance_files import read_instance_file
from gnarl_runtime.instances.pools import Pool, draw_pool, pool_of


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of one's own."""
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path))
    return tmp_path / "oracles"


def test_columns_are_kept_and_not_solved_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = shipped("mst_prim")
    first = pool_of(problem, few(problem), ["best"])
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(pool_oracles._Group, "_solve", None)
    again = pool_of(problem, few(problem), ["best"])
    assert np.array_equal(first.batch.features["best"], again.batch.features["best"])


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other"])
def test_a_damaged_column_is_solved_again(cache: Path, damage: str) -> None:
    problem = shipped("mst_prim")
    first = pool_of(problem, few(problem), ["best"])
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    flipped = bytes([whole[0] ^ 1]) + whole[1:]
    path.write_bytes(
        {"cut": whole[:-9], "flip": flipped, "empty": b"", "other": b"x" * 999}[damage]
    )
    again = pool_of(problem, few(problem), ["best"])
    assert np.array_equal(first.batch.features["best"], again.batch.features["best"])
    assert path.read_bytes() == whole
    assert list(cache.iterdir()) == [path]


def test_keys_cover_problem_oracle_and_content(cache: Path) -> None:
    problem, instances = shipped("mvc"), few(shipped("mvc"))
    pool_of(problem, instances, ["approx"])
    pool_of(shipped("mvc", eps="0.3"), instances, ["approx"])  # another problem
    pool_of(problem, instances, ["best"])  # another oracle
    pool_of(problem, instances[:3], ["best"])  # other instances
    moved = Instance(instances[0].graph, instances[0].inputs, instances[0].tags ^ np.uint64(1))
    pool_of(problem, [moved, *instances[1:]], ["best"])  # other tags
    assert len(list(cache.iterdir())) == 5


def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GNARL_CACHE", str(tmp_path / "file"))
    problem = shipped("mst_prim")
    assert pool_of(problem, few(problem), ["best"]).batch.features["best"].all()


def _solve_in_child(_: int) -> list[float]:
    problem = shipped("mst_prim")
    return [float(x) for x in pool_of(problem, few(problem), ["best"]).batch.features["best"]]


def test_processes_may_share_a_cache(cache: Path) -> None:
    with multiprocessing.get_context("fork").Pool(4) as workers:
        results = workers.map(_solve_in_child, range(8))
    assert all(result == results[0] for result in results)
    assert len(list(cache.iterdir())) == 1


def test_oracles_that_come_with_an_instance_are_not_solved() -> None:
    problem = shipped("mst_prim")
    own = [Instance(i.graph, i.inputs, i.tags, {"best": np.asarray(7.0)}) for i in few(problem)]
    assert (pool_of(problem, own, ["best"]).batch.features["best"] == 7.0).all()


def test_progress_is_reported_to_the_end(cache: Path) -> None:
    heard: list[tuple[int, int]] = []
    pool_of(shipped("bfs"), few(shipped("bfs")), progress=lambda *at: heard.append(at))
    assert heard[-1] == (4, 4)
    assert heard == sorted(heard)


# Instances that do not fit


def change(instance: Instance, **parts: object) -> Instance:
    """The same instance with other inputs, or with another graph, tags or oracles."""
    special = {key: parts.pop(key) for key in ("graph", "tags", "oracles") if key in parts}
    inputs = {k: v for k, v in {**instance.inputs, **parts}.items() if v is not None}
    fields = {"graph": instance.graph, "tags": instance.tags, "oracles": {}, **special}
    return Instance(inputs=inputs, **fields)  # type: ignore[arg-type]


def misfits() -> Iterator[tuple[str, Instance, str]]:
    problem = shipped("bellman_ford")
    good = few(problem)[0]
    a, n = good.inputs["A"], good.graph.n
    u, v = good.graph.edges()[0]
    path = np.eye(n, k=1, dtype=bool)
    uneven, infinite = a.copy(), a.copy()
    uneven[u, v] += 1
    infinite[u, v] = infinite[v, u] = np.inf
    stray = np.where(good.graph.adjacency, a, 1.0) - np.eye(n)
    cut = Graph(False, np.zeros((n, n), bool))
    yield "bellman_ford", change(good, A=None), "input `A` is missing"
    yield "bellman_ford", change(good, B=a), "has no input `B`; has: A, s"
    yield "bellman_ford", change(good, A=a[:2]), r"shape \(2, 4\), expected \(4, 4\)"
    yield "bellman_ford", change(good, A=a > 0), "must hold numbers, found bool"
    yield "bellman_ford", change(good, A=a * np.nan), "is nan at .*expected a finite"
    yield "bellman_ford", change(good, A=infinite), "is inf at .*expected a finite"
    yield "bellman_ford", change(good, A=uneven), "expected the same both ways"
    if (stray[~good.graph.adjacency] != 0).any():
        yield "bellman_ford", change(good, A=stray), "where there is no edge"
    yield "bellman_ford", change(good, s=np.asarray(n)), "is 4, expected a whole number from 0 to 3"
    yield "bellman_ford", change(good, s=np.asarray(0.5)), "must hold whole numbers"
    yield "bellman_ford", change(good, graph=Graph(True, path)), "found a directed graph"
    yield "bellman_ford", change(good, graph=cut, A=a * 0), "falls into 4 parts"
    yield "bellman_ford", change(good, tags=good.tags[:2]), r"tags must be uint64 of shape \(4,\)"
    yield "bellman_ford", change(good, tags=good.tags * np.uint64(0)), "the same tag"
    yield "bellman_ford", change(good, oracles={"best": a}), "has no oracle `best`"
    yield "bellman_ford", change(good, oracles={"dist": a}), "oracle `dist` has shape"
    negative = change(good, A=-a)
    yield "bellman_ford", negative, "oracle `dist` cannot be computed: .*negative cycle"
    sparse = few(shipped("bfs"))[3]
    tour = {"A": np.where(sparse.graph.adjacency, 1.0, 0.0), "s": np.asarray(0)}
    if sparse.graph.m < 21:
        yield "tsp", Instance(sparse.graph, tour, sparse.tags), "expected all of them"


@pytest.mark.parametrize("case", range(18))
def test_misfits_are_named(case: int, cache: Path) -> None:
    cases = list(misfits())
    if case >= len(cases):
        pytest.skip("fewer cases")
    name, instance, message = cases[case]
    problem = shipped(name)
    with pytest.raises(InstanceError, match=f"instance 1: .*{message}"):
        pool_of(problem, [few(problem)[0], instance], oracles_of(problem)[:1])


def test_labels_without_formula_must_come_with_the_instance(cache: Path) -> None:
    text = ANY_GRAPH.format(kind="undirected acyclic", generator="tree(n = 4)")
    problem = gnarl.loads(text.replace("  done ", "  hint  oracle  node  mask\n  done "))
    with pytest.raises(InstanceError, match="instance 0: the oracle `hint` has no formula"):
        draw_pool(problem, count=2, seed=0, oracles=["hint"])
    with pytest.raises(InstanceError, match="no instances"):
        pool_of(problem, [])
    ring = Graph(False, np.ones((3, 3), bool) & ~np.eye(3, dtype=bool))
    inputs = draw_pool(problem, count=1, nodes=3, seed=0).instance(0)
    edges = ring.adjacency * 0.5
    cyclic = Instance(ring, {**inputs.inputs, "a": edges}, inputs.tags)
    with pytest.raises(InstanceError, match="has a cycle"):
        pool_of(problem, [cyclic])


def test_a_pool_can_be_written_and_read(tmp_path: Path, cache: Path) -> None:
    problem = shipped("bellman_ford")
    pool = draw_pool(problem, count=5, nodes=6, seed=8, oracles=["dist"])
    pool.write(tmp_path / "five.gnarl.npz")
    file = read_instance_file(tmp_path / "five.gnarl.npz", problem)
    assert file.provenance.seed == 8
    assert "er(" in file.provenance.recipe
    same: Pool = pool_of(problem, file.instances, ["dist"])
    for name in ("A", "s", "dist"):
        assert np.array_equal(same.batch.features[name], pool.batch.features[name])


@pytest.mark.parametrize("first", [0, 300])
def test_progress_is_of_the_pool_whatever_its_first_instance(
    first: int, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnarl_runtime.instances.pools._PAUSE", 0.0)
    told: list[tuple[float, int]] = []
    draw_pool(
        shipped("mvc"), count=300, first=first, nodes=8, seed=0, split="test", oracles=("best",),
        progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip
    assert {total for _, total in told} == {300}
    assert max(done for done, _ in told) == 300
    assert min(done for done, _ in told) < 300
