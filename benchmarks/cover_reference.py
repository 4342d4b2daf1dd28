"""What is the MVC ratio measured against? Random graphs in, three ratios per ε out.

    python benchmarks/cover_reference.py [--graphs 300] [--seed 0]

For the 2/(1-ε) approximation with ε = 0.1 and with ε = 0: the weight of a proven optimum
relative to it (no policy can be below), and that of its own nodes taken in random order until
they cover all edges, which the paper publishes in its last table (0.9968 at 16 nodes, 0.9976
at 64).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

if __package__ in (None, ""):  # run as a script: the checkout is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gnarl_dsl as gnarl
from benchmarks.tables import aligned
from gnarl_compiler.algorithms.covers import min_vertex_cover, vertex_cover_primal_dual
from gnarl_compiler.instance import Instance
from gnarl_runtime.pools import draw_pool

SIZES = (16, 64)
EPSILONS = (0.1, 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    rows = [["nodes", "ε", "optimum / approximation", "its nodes in random order"]]
    for nodes in SIZES:
        pool = draw_pool(
            gnarl.load("mvc"), count=options.graphs, nodes=nodes, seed=options.seed, split="test"
        )
        instances = list(pool.instances())
        for eps in EPSILONS:
            shares = np.array([ratios(instance, eps, rng) for instance in instances])
            rows.append([str(nodes), f"{eps:g}", *(f"{share:.4f}" for share in shares.mean(0))])
    print(aligned(rows))
    return 0


def ratios(instance: Instance, eps: float, rng: np.random.Generator) -> tuple[float, float]:
    """Weights relative to that of the approximation."""
    graph, weight, tags = instance.graph, np.asarray(instance.inputs["w"], float), instance.tags
    approximation = vertex_cover_primal_dual(graph, weight, eps, tags=tags)
    best = min_vertex_cover(graph, weight, tags=tags)
    early = until_covered(graph.adjacency, rng.permutation(np.flatnonzero(approximation)))
    whole = weight[approximation].sum()
    return float(weight[best].sum() / whole), float(weight[early].sum() / whole)


def until_covered(adjacency: NDArray[np.bool_], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes of an order up to the one that covers the last edge."""
    open_ = adjacency | adjacency.T
    for taken, node in enumerate(order):
        if not open_.any():
            return order[:taken]
        open_[node] = open_[:, node] = False
    return order


if __name__ == "__main__":
    sys.exit(main())
