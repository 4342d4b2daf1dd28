"""What is the MVC ratio measured against? Random graphs in, ratios per number of nodes and ε out.

    python -m benchmarks.studies.cover_reference [--graphs 300] [--seed 0] [--most-nodes 1024]

For the 2/(1-ε) approximation with ε = 0.1 and with ε = 0: the weight of a proven optimum
relative to it (no policy can be below), and that of its own nodes taken in random order until
they cover all edges, which the paper publishes in its last table. The table and its JSON go to
docs/results/paper_termination.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gnarl_dsl as gnarl
from benchmarks.frame import publish, results_parser
from benchmarks.machine import load_average, provenance, short
from gnarl_compiler.algorithms.covers import min_vertex_cover, vertex_cover_primal_dual
from gnarl_compiler.graphs.instance import Instance
from gnarl_runtime.instances.pools import draw_pool

PUBLISHED = {
    16: "0.9968", 32: "0.9938", 64: "0.9976", 128: "0.9991", 256: "0.9994", 512: "0.9996",
    1024: "0.9999",
}  # fmt: skip
EPSILONS = (0.0, 0.1)
PROVEN = 128  # nodes; proofs of optimality take too long above


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write both files."""
    options = parse_options(arguments)
    rng = np.random.default_rng(options.seed)
    rows: list[dict[str, Any]] = []
    for nodes in (size for size in PUBLISHED if size <= options.most_nodes):
        count = options.graphs if nodes <= 64 else max(1, options.graphs // 3)
        print(f"{count} graphs of {nodes} nodes", file=sys.stderr, flush=True)
        rows += rows_of(nodes, count, options.seed, rng)
    record = {"rows": rows, "written": provenance(load=load_average())}
    publish(options.output, "paper_termination", lines_of(record), record)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("--graphs", type=int, default=300, help="a third of it above 64 nodes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most-nodes", type=int, default=1024)
    return parser.parse_args(arguments)


def rows_of(
    nodes: int, count: int, seed: int, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Mean ratios and their standard errors on graphs of one size."""
    pool = draw_pool(gnarl.load("mvc"), count=count, nodes=nodes, seed=seed, split="test")
    instances = list(pool.instances())
    best = [best_weight(instance) for instance in instances] if nodes <= PROVEN else None
    for eps in EPSILONS:
        whole, early = np.array([weights(instance, eps, rng) for instance in instances]).T
        found = {"nodes": nodes, "graphs": count, "eps": eps, "early": mean_error(early / whole)}
        yield {**found, "optimum": mean_error(np.array(best) / whole) if best else None}


def mean_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and its standard error."""
    return float(values.mean()), float(values.std() / len(values) ** 0.5)


def best_weight(instance: Instance) -> float:
    """The weight of a proven optimum."""
    weight = np.asarray(instance.inputs["w"], float)
    return float(weight[min_vertex_cover(instance.graph, weight, tags=instance.tags)].sum())


def weights(instance: Instance, eps: float, rng: np.random.Generator) -> tuple[float, float]:
    """Of the approximation's cover, and of its nodes in random order until all is covered."""
    graph, weight = instance.graph, np.asarray(instance.inputs["w"], float)
    cover = vertex_cover_primal_dual(graph, weight, eps, tags=instance.tags)
    early = until_covered(graph.adjacency, rng.permutation(np.flatnonzero(cover)))
    return float(weight[cover].sum()), float(weight[early].sum())


def until_covered(adjacency: NDArray[np.bool_], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes of an order up to the one that covers the last edge."""
    open_ = adjacency | adjacency.T
    for taken, node in enumerate(order):
        if not open_.any():
            return order[:taken]
        open_[node] = open_[:, node] = False
    return order


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    written = record["written"]
    yield "# Effect of episode termination on MVC, and how good the approximation is"
    yield ""
    yield "    python -m benchmarks.studies.cover_reference"
    yield ""
    yield (
        "Weights relative to the cover of the 2/(1-ε) approximation, mean ± standard error. "
        "*Early end*: its nodes are taken in random order, and the episode ends as soon as they "
        "cover every edge; published are the paper's figures for it. *Optimum*: a cover that "
        f"HiGHS proves optimal, up to {PROVEN} nodes; no policy can be below. At "
        f"{short(written['commit'])}, load {written['load'][0]}."
    )
    yield ""
    yield "| nodes | graphs | ε | early end | published | optimum |"
    yield "|---:|---:|---:|---|---|---|"
    for row in record["rows"]:
        yield (
            f"| {row['nodes']} | {row['graphs']} | {row['eps']:g} | {shown(row['early'])} | "
            f"{PUBLISHED[row['nodes']]} | {shown(row['optimum'])} |"
        )


def shown(found: tuple[float, float] | None) -> str:
    return f"{found[0]:.4f} ± {found[1]:.4f}" if found else "–"


if __name__ == "__main__":
    sys.exit(main())
