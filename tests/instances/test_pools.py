"""Pools: the same instances as the reference draws, in the same arrays as the interpreter's."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from shipped_specs import SHIPPED, shipped
from small_instances import ANY_GRAPH, assert_same, few, oracles_of

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances import draw as reference
from gnarl_compiler.instances.draw import choose_split, draw_instance, draw_split, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.batch import Batch, CapacityError
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.envs.interpreted import load_state
from gnarl_runtime.instances.pool_draws import Streams, Wish, draw_instances
from gnarl_runtime.instances.pools import draw_pool, pool_of
from gnarl_runtime.instances.sampler import Sampler, uniform_below

FIXED = ("n", "m", "rowptr", "src", "adjacency", "edge_id", "tags")


# Drawing


@pytest.mark.parametrize("seed", [0, -7, 2**70])
def test_streams_are_the_reference_streams(seed: int) -> None:
    streams = Streams()
    for number, attempt, part in product((0, 3, 10**9), (0, 17), (0, 2)):
        ours = streams.open(seed, number, attempt, part)
        theirs = stream(seed, "instance", number, attempt, part)
        assert np.array_equal(ours.integers(0, 2**63, 5), theirs.integers(0, 2**63, 5))
        assert np.array_equal(ours.random(3), theirs.random(3))
        assert ours.integers(7) == theirs.integers(7)


KINDS = ("undirected", "undirected connected", "undirected acyclic", "directed", "directed acyclic")
GENERATORS = ("er(n = [2, 7], p = [0.1, 0.4])", "ba(n = {4, 9}, m = {1..3})", "grid(n = 7)",
              "ws(n = 8, k = 4, p = 0.3)", "tree(n = 6)", "complete(n = 2)")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("generator", GENERATORS)
def test_fast_draws_equal_the_reference(kind: str, generator: str) -> None:
    if kind == "undirected acyclic" and generator[:2] not in ("er", "tr"):
        pytest.skip("hardly ever a forest")
    problem = gnarl.loads(ANY_GRAPH.format(kind=kind, generator=generator))
    family = families(choose_split(problem, "train"))[0]
    wishes = [Wish(k, family, None if k % 2 else 2 + k % 3) for k in range(12)]
    for attempt in (0, 1):
        drawn = draw_instances(problem, wishes, 5, Streams(), attempt)
        for wish, ours in zip(wishes, drawn, strict=True):
            theirs = reference._draw(problem, family, 5, (wish.number, attempt), wish.nodes)
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert_same(ours, theirs)


SPARSE = """
gnarl 1
problem sparse_mvc extends mvc
  "Graphs so sparse that many have no edge: over at their start, so drawn again."

instances sparse
  train 9  er(n = {2, 3, 4}, p = [0.1, 0.5])
  valid 9  er(n = {2, 3}, p = {0.3, 0.4})
  test  9  er(n = 3, p = 0.3)
"""


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    path = tmp_path_factory.mktemp("specs") / "sparse_mvc.gnarl"
    path.write_text(SPARSE.lstrip(), "utf-8")
    return gnarl.load(path)


@pytest.mark.parametrize("split", ["train", "valid"])
def test_a_pool_is_what_draw_split_draws(sparse: Problem, split: str) -> None:
    pool = draw_pool(sparse, count=200, seed=11, split=split)
    for ours, theirs in zip(pool.instances(), draw_split(sparse, split, 200, 11), strict=True):
        assert_same(ours, theirs)


def test_size_ranges_and_oracles_read_at_reset() -> None:
    problem = shipped("bellman_ford")
    pool = draw_pool(problem, count=60, nodes=(4, 12), seed=2, oracles=["work"])
    family = families(choose_split(problem, "train"))[0]
    assert set(pool.batch.n.tolist()) == set(range(4, 13))
    assert pool.batch.layout.nodes == 12
    assert pool.oracles == ("work",)
    for k in range(0, 60, 7):
        instance = draw_instance(problem, family, 2, k, int(pool.batch.n[k]))
        assert_same(pool.instance(k), instance)
        work = Evaluator(Interpreter(problem).reset(instance)).stored("work")
        assert pool.instance(k).oracles["work"] == work


def test_large_sparse_graphs_keep_their_numbers() -> None:
    """In a complete graph of 258 nodes an edge has no number of 16 bits, in a tree it has."""
    problem = gnarl.loads(
        "gnarl 1\nproblem sparse_prim extends mst_prim\n\ninstances trees\n"
        + "".join(f"  {split} 1  tree(n = 258)\n" for split in ("train", "valid", "test"))
    )
    pool = draw_pool(problem, count=2, seed=4, instances="trees")
    family = families(choose_split(problem, "train", "trees"))[0]
    for k in range(2):
        assert_same(pool.instance(k), draw_instance(problem, family, 4, k, 258))


def test_a_small_pool_is_the_start_of_a_large_one(sparse: Problem) -> None:
    small, large = (draw_pool(sparse, count=count, seed=4) for count in (10, 300))
    for k in range(10):
        assert_same(small.instance(k), large.instance(k))


def test_what_cannot_be_drawn_fails_as_in_the_reference(sparse: Problem) -> None:
    with pytest.raises(ValueError, match="not over at its start"):
        draw_pool(sparse, count=600, nodes=1, seed=0)
    with pytest.raises(ValueError, match="at least one"):
        draw_pool(sparse, count=0, seed=0)
    with pytest.raises(ValueError, match="low <= high"):
        draw_pool(sparse, count=2, nodes=(5, 3), seed=0)
    with pytest.raises(LookupError, match="sparse"):
        draw_pool(sparse, count=2, seed=0, instances="dense")
    with pytest.raises(ValueError, match="no oracle `bst`"):
        draw_pool(sparse, count=2, seed=0, oracles=["bst"])


# Arrays


def assert_arrays(batch: Batch, slot: int, expected: Batch, names: tuple[str, ...]) -> None:
    for name in FIXED:
        assert np.array_equal(getattr(batch, name)[slot], getattr(expected, name)[0]), name
    for name in names:
        assert np.array_equal(batch.features[name][slot], expected.features[name][0]), name


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("room", [0, 60])
def test_slots_equal_what_the_interpreter_loads(name: str, room: int) -> None:
    """In the pool itself, and copied to a batch with more room (60 more nodes: two words)."""
    problem = shipped(name)
    oracles, instances = oracles_of(problem), few(problem)
    pool = pool_of(problem, instances, oracles)
    size = pool.batch.layout
    edges = size.edges if room == 0 else None
    batch = Batch.allocate(layout_of(problem, 3, size.nodes + room, edges, oracles))
    batch.src[:], batch.rowptr[:], batch.tags[:], batch.adjacency[:] = 9, 9, 9, 9
    kept = [f.name for f in problem.features if f.stage.name in ("input", "oracle")]
    expected = Batch.allocate(layout_of(problem, 1, size.nodes + room, edges, oracles))
    for k, instance in enumerate(instances):
        pool.copy_into(batch, [1], [k])
        load_state(expected, 0, Interpreter(problem).reset(instance))
        assert_arrays(batch, 1, expected, tuple(kept))
        assert_same(pool.instance(k), instance)
    assert (batch.tags[[0, 2]] == 9).all()  # neighbours are left alone


def test_a_pool_fills_only_what_it_fits() -> None:
    problem = shipped("mvc")
    pool = pool_of(problem, few(problem), ["best"])
    batch = Batch.allocate(layout_of(problem, 2, 8, oracles=["best"]))
    with pytest.raises(IndexError, match="no instance 4, expected 0 to 3"):
        pool.copy_into(batch, [0], [4])
    with pytest.raises(IndexError, match="no instance -1"):
        pool.copy_into(batch, [0], [-1])
    with pytest.raises(IndexError, match="no instance 9"):
        pool.instance(9)
    with pytest.raises(IndexError, match="no slot 2"):
        pool.copy_into(batch, [2], [0])
    with pytest.raises(ValueError, match="a pick per slot, found 1 for 2"):
        pool.copy_into(batch, [0, 1], [0])
    with pytest.raises(CapacityError, match="7 nodes"):
        pool.copy_into(Batch.allocate(layout_of(problem, 2, 5)), [0], [0])
    with pytest.raises(ValueError, match=r"`approx`.*oracles="):
        pool.copy_into(Batch.allocate(layout_of(problem, 2, 8, oracles=["approx"])), [0], [0])
    with pytest.raises(ValueError, match="different problems"):
        pool.copy_into(Batch.allocate(layout_of(shipped("bfs"), 2, 8)), [0], [0])


# Sampling


def test_picks_depend_on_their_keys_only() -> None:
    sampler = Sampler(seed=5, size=37)
    whole = sampler.picks(np.arange(100)[:, None], np.arange(50))
    assert whole.shape == (100, 50)
    assert whole.dtype == np.int64
    assert sampler.picks(63, 21) == whole[63, 21]
    assert [sampler.pick(k, 21) for k in range(100)] == whole[:, 21].tolist()
    assert np.array_equal(sampler.picks([7, 99], [3, 49]), [whole[7, 3], whole[99, 49]])
    assert not np.array_equal(Sampler(6, 37).picks(np.arange(100), 0), whole[:, 0])


def test_picks_are_uniform_and_unrelated() -> None:
    picks = Sampler(-1, 20).picks(np.arange(400)[:, None], np.arange(200))
    counts = np.bincount(picks.ravel(), minlength=20)
    assert ((counts - 4000) ** 2 / 4000).sum() < 45  # chi-square, 19 degrees: p = 0.001
    shifted = [
        picks[1:] == picks[:-1],
        picks[:, 1:] == picks[:, :-1],
        picks[1:, :-1] == picks[:-1, 1:],
    ]
    for same in shifted:
        assert abs(same.mean() - 0.05) < 0.005
    with pytest.raises(ValueError, match="size from 1"):
        uniform_below(0, 0, "x", [1])


def test_a_pool_survives_pickling() -> None:
    """A copy fills the batch it is asked to, not the one that the original filled last."""
    problem = shipped("bfs")
    pool, batch = pool_of(problem, few(problem)), Batch.allocate(layout_of(problem, 2, 7))
    pool.copy_into(batch, [0], [0])
    pool, batch = pickle.loads(pickle.dumps((pool, batch)))
    pool.copy_into(batch, [0], [3])
    assert batch.n[0] == 7


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(LookupError, match=r"no split `exam`; they have: train, valid, test"):
        draw_pool(shipped("bfs"), count=1, seed=0, split="exam")
