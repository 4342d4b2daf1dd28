"""Who is first among candidates: as by hand, and of each graph alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from batch_cases import OWN, loaded, visited
from hypothesis import given, settings
from hypothesis import strategies as st
from shipped_specs import shipped
from torch import Tensor

import gnarl_dsl as gnarl
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.batch.signature import signature_of
from gnarl_runtime.network.firsts import hard_flags, line_up, ordered_columns, soft_flags
from gnarl_runtime.network.graphs import Graphs, to_graphs
from gnarl_runtime.network.policy import Policy, PolicyConfig

VALUES = st.sampled_from([-1.5, 0.0, 1.0, float(np.nextafter(np.float32(1), np.float32(2))), 7.0])
NODES = st.tuples(VALUES, st.sampled_from([-3.0, 0.5, 4.0]))  # a value, a gate


def graphs_of(sizes: list[int]) -> Graphs:
    """Nodes without messages."""
    empty, nodes = torch.zeros(0), sum(sizes)
    return Graphs(
        *(empty, empty, empty, empty, empty, empty),
        graph=torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes)),
        offsets=torch.tensor([0, *np.cumsum(sizes)]),
        legal=torch.ones(nodes, dtype=torch.bool),
    )


def chance(own: tuple[float, float], graph: list[tuple[float, float]], sign: int) -> float:
    """That a node is a candidate and none before it is, by the definition."""
    sure = 1 / (1 + np.exp(-own[1]))
    before = [gate for value, gate in graph if sign * value < sign * own[0]]
    return float(sure * np.prod([1 / (1 + np.exp(gate)) for gate in before]))


@settings(max_examples=60)
@given(drawn=st.lists(st.lists(NODES, min_size=1, max_size=6), min_size=1, max_size=3))
def test_flags_against_the_definition(drawn: list[list[tuple[float, float]]]) -> None:
    graphs = graphs_of([len(graph) for graph in drawn])
    nodes = torch.tensor([node for graph in drawn for node in graph])
    line, gates = line_up(nodes[:, 0], graphs), nodes[:, 1:]
    for sign, span in ((1, line.smaller), (-1, line.larger)):
        soft = [[chance(own, graph, sign)] for graph in drawn for own in graph]
        torch.testing.assert_close(soft_flags(gates, line, span), torch.tensor(soft))
        found = hard_flags(gates, line, span).flatten()
        for graph, flags in zip(drawn, found.split([len(g) for g in drawn]), strict=True):
            ranks = [sign * value for value, gate in graph if gate > 0]
            wanted = [float(g > 0 and sign * v == min(ranks)) for v, g in graph]
            assert flags.tolist() == wanted


def test_sure_gates_flag_the_same_either_way() -> None:
    rng = np.random.default_rng(0)
    graphs = graphs_of([700, 1, 300])
    gates = torch.from_numpy(np.where(rng.random((1001, 3)) < 0.1, 40.0, -40.0))
    line = line_up(torch.from_numpy(rng.random(1001, np.float32)), graphs)
    for span in (line.smaller, line.larger):
        soft, hard = soft_flags(gates, line, span), hard_flags(gates, line, span)
        torch.testing.assert_close(soft, hard, rtol=0, atol=1e-6)


def test_gates_learn_who_matters() -> None:
    """From flags alone, although no value or gate is ever labelled."""
    rng, torch_rng = np.random.default_rng(1), torch.Generator().manual_seed(1)
    gate = torch.randn(2, 1, generator=torch_rng).requires_grad_()
    optimizer = torch.optim.Adam([gate], 0.1)
    graphs = graphs_of([8] * 64)
    for _ in range(60):
        values = torch.from_numpy(rng.random(512, np.float32))
        open_ = torch.from_numpy((rng.random(512) < 0.4).astype(np.float32))
        seen = torch.stack([open_, torch.ones(512)], dim=1)
        line = line_up(values, graphs)
        wanted = hard_flags(open_[:, None] - 0.5, line, line.larger)
        found = soft_flags(seen @ gate, line, line.larger)
        loss: Tensor = torch.nn.functional.binary_cross_entropy(found.clamp(1e-6, 1 - 1e-6), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weight = gate.detach().flatten()
    assert weight[1] < 0 < weight[0] + weight[1]


def test_only_numbers_and_steps_are_ordered() -> None:
    def names(problem: gnarl.Problem, chains: bool) -> list[str]:
        signature = signature_of(problem, chains)
        return [signature.node[place].name for place in ordered_columns(signature)]

    assert names(shipped("bfs"), False) == []
    assert names(shipped("bfs"), True) == ["steps(pred)"]
    assert names(shipped("mst_prim"), True) == ["key", "steps(pred)"]
    assert names(gnarl.loads(OWN["zoo"]), True) == ["steps(back)"]


@pytest.mark.parametrize(("name", "has"), [("mvc", True), ("rgc", False)])
def test_a_problem_without_numbers_of_nodes_has_no_gates(name: str, has: bool) -> None:
    policy = Policy(shipped(name), PolicyConfig(width=32, chains=True, firsts=2))
    assert (policy.firsts is not None) == has


def test_a_policy_that_plays_does_not_depend_on_how_far_apart_numbers_are() -> None:
    """Flags compare: an increasing map of the column that is compared leaves them as they are."""
    problem = shipped("mst_prim")
    torch.manual_seed(3)
    policy = Policy(problem, PolicyConfig(width=32, firsts=3)).eval()
    states = list(visited(problem, 9, seed=2, steps=12))[-3:]
    graphs = to_graphs(pack(loaded(problem, states, 9), [0, 1, 2], policy.signature))
    assert policy.firsts is not None
    h = torch.randn(graphs.nodes, 32)
    with torch.inference_mode():
        before = policy.firsts(h, graphs)
        (place,) = policy.firsts.places
        graphs.x[:, place] = graphs.x[:, place].double().exp().float() * 100
        assert torch.equal(policy.firsts(h, graphs), before)
