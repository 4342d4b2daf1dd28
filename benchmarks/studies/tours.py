"""How long a proven shortest tour takes: branch and bound, HiGHS, and what is left of it.

    python -m benchmarks.studies.tours
    python -m benchmarks.studies.tours --sizes 20 40 --graphs 50

Random points in the unit square. Writes docs/results/tours.md and .json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.frame import publish, results_parser
from benchmarks.machine import (
    load_average,
    pin_to_one_core,
    provenance,
    short,
)

COLUMNS = "| nodes | tours | ms each | longest, ms | not proven | HiGHS, ms each | HiGHS / ours |"


def main(arguments: list[str] | None = None) -> int:
    """Measure every size, print and write the table."""
    options = parse_options(arguments)
    pin_to_one_core()
    rows = []
    for nodes in options.sizes:
        rows.append(measure(nodes, options.graphs, options.exact, options.seed))
        print(table_row(rows[-1]), file=sys.stderr, flush=True)
    record = {"rows": rows, "written": provenance(load=load_average())}
    publish(options.output, "tours", report(record), record)
    return 0


def measure(nodes: int, graphs: int, exact: int, seed: int) -> dict[str, Any]:
    """One size; HiGHS solves the first `exact` instances only, and not above 40 nodes."""
    import numpy as np

    from gnarl_compiler.algorithms.tours import tours
    from gnarl_compiler.algorithms.tours.branch import branch_and_bound, good_tour
    from gnarl_compiler.algorithms.tours.exact import integer_program

    def ours(distance: Any) -> bool:
        margin = tours.ROUNDING * nodes
        start = good_tour(distance, margin, tours.KICKS_PER_NODE * nodes)
        return bool(branch_and_bound(distance, margin, start, tours.BRANCHING_LIMIT)[1])

    places = np.random.default_rng((seed, nodes)).random((graphs, nodes, 2))
    distances = [np.hypot(*(p[:, None] - p).transpose(2, 0, 1)) for p in places]
    ours(distances[0])  # compiled, or read from the cache
    seconds, proven = timed(ours, distances)
    slow = exact if nodes <= tours.INTEGER_PROGRAM_NODES else 0
    highs, _ = timed(integer_program, distances[:slow])
    return {
        "nodes": nodes,
        "tours": graphs,
        "ms": 1e3 * sum(seconds) / graphs,
        "longest_ms": 1e3 * max(seconds),
        "unproven": graphs - sum(proven),
        "highs_tours": slow,
        "highs_ms": 1e3 * sum(highs) / slow if slow else None,
        # On the same instances, one after the other
        "ratio": sum(highs) / sum(seconds[:slow]) if slow else None,
    }


def timed(solve: Callable[[Any], Any], distances: list[Any]) -> tuple[list[float], list[Any]]:
    """Seconds and results, one per instance."""
    seconds, results = [], []
    for distance in distances:
        start = time.perf_counter()
        results.append(solve(distance))
        seconds.append(time.perf_counter() - start)
    return seconds, results


def table_row(row: dict[str, Any]) -> str:
    """A size as a line of Markdown."""
    highs = (
        ("–", "–") if row["ratio"] is None else (f"{row['highs_ms']:.0f}", f"{row['ratio']:.0f}")
    )
    figures = (f"{row['ms']:.2f}", f"{row['longest_ms']:.1f}", row["unproven"], *highs)
    return f"| {row['nodes']} | {row['tours']} | " + " | ".join(map(str, figures)) + " |"


def report(record: dict[str, Any]) -> list[str]:
    """The table with what it was made by."""
    written = record["written"]
    return [
        "# Shortest tours",
        "",
        "    python -m benchmarks.studies.tours",
        "",
        "Milliseconds for a shortest tour through random points of the unit square, on one core. "
        "`optimal_tour` asks HiGHS only where branch and bound was given up (*not proven*), and "
        "above 40 nodes a heuristic solver.",
        "",
        COLUMNS,
        "|---" * (COLUMNS.count("|") - 1) + "|",
        *map(table_row, record["rows"]),
        "",
        f"Written at {short(written['commit'])}, {written['cpu']}, load {written['load'][0]}.",
    ]


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    sizes = [12, 16, 20, 30, 40, 50, 60]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, metavar="N", help="nodes")
    parser.add_argument("--graphs", type=int, default=200, help="per size")
    parser.add_argument("--exact", type=int, default=20, help="of these for HiGHS, too")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
