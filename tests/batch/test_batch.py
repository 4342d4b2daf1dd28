"""The Batch contract: states go in and come out unchanged, and packs hold exactly what they say."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from batch_cases import OWN, ByHand, joined, loaded, relabelled, visited
from numpy.typing import NDArray
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.emit.abi import TURNS, VIEWS
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_compiler.support.endings import RUNNING, TERMINATED, TRUNCATED
from gnarl_dsl.model import Feature, Problem
from gnarl_runtime.batch.batch import Batch, CapacityError
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.batch.signature import signature_of
from gnarl_runtime.envs.interpreted import load_state
from gnarl_runtime.network.policy import Policy, PolicyConfig, log_chances


@pytest.fixture(params=[*SHIPPED, *OWN])
def problem(request: pytest.FixtureRequest) -> Problem:
    """Each shipped spec in turn, and the two above."""
    name = request.param
    return gnarl.loads(OWN[name]) if name in OWN else shipped(name)


def expected_values(feature: Feature, state: State, values: NDArray[Any]) -> NDArray[Any]:
    """What the interpreter reads cell by cell: nothing off the edges."""
    return np.where(state.adjacency, values, 0) if feature.place.name == "edge" else values


# States in and out


def test_round_trip(problem: Problem) -> None:
    batch = Batch.allocate(layout_of(problem, 2, 8))
    game = Interpreter(problem)
    for state in [*visited(problem, 7, seed=1), *visited(problem, 5, seed=2)]:
        load_state(batch, 1, state)
        for name, values in game.observation(state).items():
            wanted = expected_values(problem.feature(name), state, values)
            np.testing.assert_array_equal(batch.read_feature(1, name), wanted, err_msg=name)
        np.testing.assert_array_equal(batch.read_adjacency(1), state.adjacency)
        np.testing.assert_array_equal(batch.legal[1, : state.n], game.mask(state))
        assert not batch.legal[1, state.n :].any()
        assert batch.n[0] == 0, "another slot was touched"


def test_progress(problem: Problem) -> None:
    batch = Batch.allocate(layout_of(problem, 1, 6))
    codes = {None: RUNNING, "terminated": TERMINATED, "truncated": TRUNCATED}
    for state in visited(problem, 6, seed=3, steps=40):
        load_state(batch, 0, state)
        phase = int(batch.phase[0])
        assert phase == state.phase
        assert tuple(batch.last[0]) == state.last
        assert tuple(batch.last[0, :phase]) == state.picks, "picks of the round are last[:phase]"
        assert batch.rounds[0] == state.rounds
        assert batch.horizon[0] == state.episode.horizon
        assert batch.limit[0] == state.episode.limit
        assert batch.potential[0] == state.potential
        assert batch.ended[0] == codes[state.ended]
        np.testing.assert_array_equal(batch.tags[0], state.episode.instance.tags)


def test_csr_is_sorted_and_agrees_with_the_graph(problem: Problem) -> None:
    for state in visited(problem, 7, seed=4):
        batch = loaded(problem, [state], 9)
        rowptr, n = batch.rowptr[0], state.n
        assert rowptr[0] == 0
        assert (rowptr[n:] == np.count_nonzero(state.adjacency)).all()
        for v in range(n):
            arriving = batch.src[0, rowptr[v] : rowptr[v + 1]]
            np.testing.assert_array_equal(arriving, np.flatnonzero(state.adjacency[:, v]))


def test_edge_ids(problem: Problem) -> None:
    for state in visited(problem, 7, seed=5):
        batch = loaded(problem, [state], 8)
        directed = problem.graph.directed
        assert batch.m[0] == np.count_nonzero(state.adjacency) // (1 if directed else 2)
        if not any(f.place.name == "edge" for f in batch.layout.stored()):
            assert batch.edge_id.size == 0
            continue
        ids = batch.edge_id[0, : state.n, : state.n]
        np.testing.assert_array_equal(ids >= 0, state.adjacency)
        once = ids[state.adjacency if directed else np.triu(state.adjacency)]
        np.testing.assert_array_equal(once, np.arange(batch.m[0]))
        assert directed or (ids == ids.T).all()


def test_a_slot_forgets_what_was_in_it(problem: Problem) -> None:
    large, small = list(visited(problem, 8, seed=6)), list(visited(problem, 4, seed=7))
    used, fresh = loaded(problem, [large[-1]], 8), loaded(problem, [small[-1]], 8)
    load_state(used, 0, small[-1])
    for name in [spec.name for spec in used.layout.core()]:
        np.testing.assert_array_equal(getattr(used, name), getattr(fresh, name), err_msg=name)
    for name, values in used.features.items():
        np.testing.assert_array_equal(values, fresh.features[name], err_msg=name)


def test_arrays_are_those_of_the_layout(problem: Problem) -> None:
    batch = Batch.allocate(layout_of(problem, 3, 70, edges=90))
    named = {f.name for f in fields(batch)} - {"layout", "features", "tables"}
    # Nothing is skipped, and the network reads all.
    others = {name for name in (*TURNS, *VIEWS) if getattr(batch, name).size == 0}
    assert named - others == {spec.name for spec in batch.layout.core()}
    arrays = [(spec, getattr(batch, spec.name)) for spec in batch.layout.core()]
    arrays += [(spec, batch.features[spec.name]) for spec in batch.layout.features()]
    for spec, array in arrays:
        assert (array.shape, array.dtype) == (spec.shape, np.dtype(spec.dtype))
        assert array.flags.c_contiguous
    assert batch.bytes == sum(array.nbytes for _, array in arrays)
    assert batch.adjacency.shape == (3, 70, 2)


def test_memory_of_1024_graphs_of_64_nodes(problem: Problem) -> None:
    megabytes = layout_of(problem, 1024, 64).bytes / 1e6
    assert megabytes < (150 if problem.name in ("zoo", "ways") else 60)


def test_what_does_not_fit_is_refused() -> None:
    problem = shipped("bfs")
    state = next(visited(problem, 6, seed=1))
    with pytest.raises(CapacityError, match="6 nodes"):
        loaded(problem, [state], 5)
    with pytest.raises(CapacityError, match="and 1 edges"):
        load_state(Batch.allocate(layout_of(problem, 1, 6, edges=1)), 0, state)
    with pytest.raises(ValueError, match="no oracle `hop`; it has: hops"):
        layout_of(problem, 1, 6, oracles=["hop"])


def test_oracles_are_stored_on_request_and_never_observed() -> None:
    problem = shipped("bellman_ford")
    state = next(visited(problem, 6, seed=1))
    batch = Batch.allocate(layout_of(problem, 1, 6, oracles=["dist", "work"]))
    load_state(batch, 0, state)
    oracles = state.episode.oracles
    np.testing.assert_array_equal(batch.read_feature(0, "dist"), oracles["dist"])
    assert batch.read_feature(0, "work") == oracles["work"]
    assert "dist" not in loaded(problem, [state], 6).features
    plain = pack(loaded(problem, [state], 6), [0])
    assert_same_pack(pack(batch, [0]), plain)


def test_no_column_reads_an_oracle(problem: Problem) -> None:
    columns = signature_of(problem)
    read = {getattr(c, "feature", None) for c in (*columns.node, *columns.edge, *columns.graph)}
    assert read - {None} == {f.name for f in problem.features if f.observed}


# Packs


def assert_same_pack(one: Packed, other: Packed) -> None:
    for field in fields(Packed):
        left, right = getattr(one, field.name), getattr(other, field.name)
        np.testing.assert_array_equal(left, right, err_msg=field.name)


def test_pack_against_direct_computation(problem: Problem) -> None:
    for state in visited(problem, 6, seed=8):
        packed = pack(loaded(problem, [state], 7), [0])
        hand, n = ByHand(problem, state), state.n
        pairs = [(u, v) for v in range(n) for u in range(n) if hand.speaks(u, v)]
        np.testing.assert_array_equal(np.stack([packed.src, packed.dst], axis=1), pairs)
        rows = np.array([hand.message(u, v) for u, v in pairs], np.float32)
        np.testing.assert_array_equal(packed.edge_raw, rows)
        nodes = np.array([hand.node(v) for v in range(n)], np.float32)
        np.testing.assert_array_equal(packed.x, nodes)
        np.testing.assert_array_equal(packed.graph_raw, np.array([hand.graph()], np.float32))
        names = signature_of(problem).names()
        shapes = (packed.x.shape[1], packed.edge_raw.shape[1], packed.graph_raw.shape[1])
        assert tuple(len(names[place]) for place in ("node", "edge", "graph")) == shapes
        assert all(len(set(names[place])) == len(names[place]) for place in names)


def test_packing_together_equals_packing_apart(problem: Problem) -> None:
    states = [list(visited(problem, n, seed=n))[-1] for n in (7, 4, 6)]
    together = pack(loaded(problem, states, 11), [2, 0, 1, 0])
    apart = [pack(loaded(problem, [states[k]], states[k].n), [0]) for k in (2, 0, 1, 0)]
    assert_same_pack(together, joined(apart))


# The policy on packs


def chances(policy: Policy, packed: Packed) -> torch.Tensor:
    return log_chances(policy(packed), packed)  # (nodes,)


def test_policy_is_equivariant(problem: Problem) -> None:
    torch.manual_seed(0)
    policy = Policy(signature_of(problem), PolicyConfig(width=32))
    rng = np.random.default_rng(0)
    for state in list(visited(problem, 8, seed=9))[:-1]:
        permutation = rng.permutation(8).astype(np.int64)
        other = relabelled(problem, state, permutation)
        with torch.inference_mode():
            one = chances(policy, pack(loaded(problem, [state], 8), [0]))
            two = chances(policy, pack(loaded(problem, [other], 8), [0]))
        torch.testing.assert_close(two[torch.from_numpy(permutation)], one, atol=1e-5, rtol=1e-5)


def test_policy_reads_each_graph_alone(problem: Problem) -> None:
    torch.manual_seed(0)
    policy = Policy(signature_of(problem), PolicyConfig(width=32))
    states = [next(visited(problem, n, seed=n)) for n in (7, 4)]
    batch = loaded(problem, states, 9)
    with torch.inference_mode():
        together = chances(policy, pack(batch, [0, 1]))
        apart = torch.cat([chances(policy, pack(batch, [k])) for k in (0, 1)])
    torch.testing.assert_close(together, apart, atol=1e-5, rtol=1e-5)
    for part, state in zip(together.split([7, 4]), states, strict=True):
        mask = Interpreter(problem).mask(state)
        assert float(part.exp().sum()) == pytest.approx(1.0, abs=1e-5)
        assert torch.isinf(part[torch.from_numpy(~mask)]).all()
