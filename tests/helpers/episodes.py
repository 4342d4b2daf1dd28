"""Instances and play for tests: small graphs of a problem, and episodes on them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Feature, Problem


def make_graph(n: int, edges: list[tuple[int, int]], directed: bool = False) -> Graph:
    adjacency = np.zeros((n, n), np.bool_)
    for u, v in edges:
        adjacency[u, v] = True
        if not directed:
            adjacency[v, u] = True
    return Graph(directed, adjacency)


def weights_of(graph: Graph, values: Mapping[tuple[int, int], float]) -> NDArray[np.float64]:
    weights = np.zeros((graph.n, graph.n))
    for (u, v), value in values.items():
        weights[u, v] = value
        if not graph.directed:
            weights[v, u] = value
    return weights


def make_instance(graph: Graph, seed: int = 0, **inputs: object) -> Instance:
    tags = np.random.default_rng(seed).permutation(graph.n).astype(np.uint64)
    return Instance(graph, {name: np.asarray(value) for name, value in inputs.items()}, tags)


def random_instance(problem: Problem, seed: int, number: int, nodes: int) -> Instance:
    """A training instance of a given size."""
    family = families(choose_split(problem, "train"))[0]
    return draw_instance(problem, family, seed, number, nodes=nodes)


def dyadic(problem: Problem, instance: Instance, seed: int) -> Instance:
    """The same graph with inputs on a coarse binary grid: sums are exact and ties abound."""
    rng = np.random.default_rng(seed)
    inputs = {
        feature.name: _dyadic_values(feature, instance, rng)
        for feature in problem.features
        if feature.stage.name == "input"
    }
    return Instance(instance.graph, inputs, instance.tags)


def _dyadic_values(feature: Feature, instance: Instance, rng: np.random.Generator) -> Array:
    old = instance.inputs[feature.name]
    if feature.type.name != "scalar":
        return np.asarray(old)
    values = rng.integers(1, 9, np.shape(old)) / 8.0
    if feature.place.name == "edge":
        if not instance.graph.directed:
            values = np.triu(values, 1) + np.triu(values, 1).T
        values = values * instance.graph.adjacency
    return np.asarray(values)


def choose(distribution: NDArray[np.float64], rng: np.random.Generator) -> int:
    return int(rng.choice(len(distribution), p=distribution))


def random_pick(game: Interpreter, state: State, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(game.mask(state))))


def play_expert(
    game: Interpreter, instance: Instance, rng: np.random.Generator, expert: str | None = None
) -> tuple[State, float]:
    """Follow an expert to the end; every pick must be legal and every state labelled."""
    state, total = game.reset(instance), 0.0
    while state.ended is None:
        distribution = game.expert(state, expert)
        assert distribution.sum() > 0, "the expert has nothing to say in a live state"
        assert not (distribution > 0)[~game.mask(state)].any(), "the expert left the mask"
        moved = game.step(state, choose(distribution, rng))
        state, total = moved.state, total + moved.reward
    return state, total
