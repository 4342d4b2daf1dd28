"""Random cases for the tests of the reference algorithms."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from gnarl_compiler.algorithms import ALGORITHMS
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.instances.generators import draw_graph

SEEDS = st.integers(0, 2**32)
few = settings(max_examples=25, deadline=None)


def tags_for(n: int, seed: int = 0) -> np.ndarray:
    return stream(seed, "tags", n).integers(0, 2**64, size=n, dtype=np.uint64)


def run(name: str, graph: Graph, *args: Any, seed: int = 0) -> Any:
    return ALGORITHMS[name].function(graph, *args, tags=tags_for(graph.n, seed))


def random_graph(seed: int, n: int, p: float, *, directed: bool = False) -> Graph:
    return draw_graph("er", n, {"p": p}, directed=directed, rng=stream(seed, "graph"))


def dyadic(rng: np.random.Generator, graph: Graph) -> np.ndarray:
    """Edge weights k / 16 with many ties and zeros: sums are exact in any order."""
    weight = rng.integers(0, 12, size=(graph.n, graph.n)) / 16
    weight = weight if graph.directed else np.maximum(weight, weight.T)
    return np.where(graph.adjacency, weight, 0.0)


def to_networkx(graph: Graph, weight: np.ndarray | None = None) -> nx.Graph:
    twin = nx.DiGraph() if graph.directed else nx.Graph()
    twin.add_nodes_from(range(graph.n))
    for u, v in graph.edges().tolist():
        twin.add_edge(u, v, weight=1.0 if weight is None else float(weight[u, v]))
    return twin


def random_dfs(graph: Graph, rng: np.random.Generator) -> np.ndarray:
    """Predecessors of one depth-first search, and now and then a slip."""
    pred = np.full(graph.n, -1)
    for root in rng.permutation(graph.n):
        stack = [(root, root)] if pred[root] < 0 else []
        while stack:
            parent, node = stack.pop()
            if pred[node] < 0:
                pred[node] = parent
                stack += [(node, v) for v in rng.permutation(np.flatnonzero(graph.adjacency[node]))]
    slips = rng.random() < 0.3
    into = np.flatnonzero(graph.adjacency[:, 0])
    if slips and into.size:
        pred[0] = rng.choice(into)
    return pred
