"""Pointers of edges and pairs: what messages tell of them, in windows too; renaming; pictures."""

from __future__ import annotations

import numpy as np
import pytest
from batch_cases import OWN, ByHand, loaded, visited

import gnarl_dsl as gnarl
from gnarl_dsl.model import Problem
from gnarl_runtime.batch import signature as sig
from gnarl_runtime.batch.pack import pack

WAYS = ("ways", "one_ways")


def viewed(name: str, condition: str) -> Problem:
    line = f"observe x in nodes where {condition}\nphase one(u)"
    return gnarl.loads(OWN[name].replace("phase one(u)", line))


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("seed", range(3))
def test_a_window_with_all_nodes_tells_the_same(name: str, seed: int) -> None:
    whole, part = gnarl.loads(OWN[name]), viewed(name, "n > 0")
    for here, there in zip(visited(whole, 6, seed), visited(part, 6, seed), strict=True):
        left, right = (
            pack(loaded(problem, [state], 7), [0])
            for problem, state in ((whole, here), (part, there))
        )
        assert np.array_equal(left.edge_raw, right.edge_raw)
        assert np.array_equal(left.src, right.src)


@pytest.mark.parametrize("name", WAYS)
def test_a_smaller_window_tells_of_its_own_nodes(name: str) -> None:
    """An end, or the row of a mark, is told as it is; shares are those among what is read."""
    problem = viewed(name, "not (x == s) and not (x == last(other))")
    columns = sig.signature_of(problem).edge
    told = [k for k, column in enumerate(columns) if isinstance(column, sig.EndColumn)]
    shares = [k for k, column in enumerate(columns) if isinstance(column, sig.ShareColumn)]
    smaller = 0
    for state in visited(problem, 6, 4):
        packed = pack(loaded(problem, [state], 6), [0])
        assert packed.node is not None
        smaller += len(packed.node) < 6
        hand = ByHand(problem, state)
        for e, (u, v) in enumerate(zip(packed.src, packed.dst, strict=True)):
            row = hand.message(int(packed.node[u]), int(packed.node[v]))
            assert packed.edge_raw[e, told].tolist() == [row[k] for k in told]
        assert (packed.edge_raw[:, shares] <= 1).all()
    assert smaller


def test_columns_are_few_and_grow_with_the_marks_only() -> None:
    names = [column.name for column in sig.signature_of(gnarl.loads(OWN["ways"])).edge]
    mid = [name for name in names if "mid" in name]
    assert len(mid) == 4 + 4 + 4 * 3  # ends, shares, and those of s and of two picks
    assert len(set(names)) == len(names)


def test_off_the_edges_a_pointer_is_the_node_that_is_asked_first() -> None:
    text = OWN["one_ways"].replace("metric via_s  =", "metric apart = count(x in nodes, y in nodes "
        "where not edge(x, y) and via[x, y] == x)\nmetric via_s  =")  # fmt: skip
    problem = gnarl.loads(text)
    game = gnarl.Interpreter(problem)
    for state in visited(problem, 6, 0):
        missing = 36 - state.adjacency.sum()
        assert game.metric(state, "apart") == missing
