"""How long a shortest tour takes, proven by branch and bound or HiGHS, or found by local search.

    python -m benchmarks.studies.tours
    python -m benchmarks.studies.tours --sizes 20 40 --graphs 50 --large 100

Random points in the unit square. On the large ones our local search stands beside the solvers of
the packages fast-tsp, elkai and pyvrp, where they are installed (elkai is not free for commercial
use). Writes docs/results/tours.md and .json.
"""

from __future__ import annotations

import argparse
import importlib.util
import shlex
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

Distances = Any  # (n, n); NumPy must not be loaded before this process has its core
Solver = Callable[[Distances], Any]
COLUMNS = "| nodes | tours | ms each | longest, ms | not proven | HiGHS, ms each | HiGHS / ours |"


def main(arguments: list[str] | None = None) -> int:
    """Measure every size, print and write the table."""
    options = parse_options(arguments)
    pin_to_one_core()
    rows = []
    for nodes in options.sizes:
        rows.append(measure(nodes, options.graphs, options.exact, options.seed))
        print(table_row(rows[-1]), file=sys.stderr, flush=True)
    large = [line for nodes in options.large for line in compare(nodes, options.few, options.seed)]
    record = {"rows": rows, "large": large, "written": provenance(load=load_average())}
    publish(options.output, "tours", report(record), record)
    return 0


def measure(nodes: int, graphs: int, exact: int, seed: int) -> dict[str, Any]:
    """One size; HiGHS solves the first `exact` instances only, and not above 40 nodes."""
    from gnarl_compiler.algorithms.tours import tours
    from gnarl_compiler.algorithms.tours.branch import branch_and_bound
    from gnarl_compiler.algorithms.tours.exact import integer_program
    from gnarl_compiler.algorithms.tours.kicks import good_tour

    def ours(distance: Any) -> bool:
        margin = tours.margin_of(distance)
        kicks = max(tours.FEWEST_KICKS, round(tours.PROOF_KICKS * nodes**2))
        start = good_tour(distance, margin, kicks, 0)
        return bool(branch_and_bound(distance, margin, start, tours.BRANCHING_LIMIT)[1])

    distances = random_distances(nodes, graphs, seed)
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


def compare(nodes: int, graphs: int, seed: int) -> list[dict[str, Any]]:
    """One large size: each solver's mean length above the best that any found, and its time."""
    import numpy as np

    distances = random_distances(nodes, graphs, seed)
    solvers = {name: make(nodes) for name, (package, make) in SOLVERS.items() if there(package)}
    found = {name: timed(solve, distances) for name, solve in solvers.items()}
    lengths = {
        name: np.array([length(t, d) for t, d in zip(tours, distances, strict=True)])
        for name, (_, tours) in found.items()
    }
    best = np.min([*lengths.values()], axis=0)
    return [
        {
            "nodes": nodes,
            "tours": graphs,
            "solver": name,
            "gap": float(100 * (own / best - 1).mean()),
            "seconds": sum(found[name][0]) / graphs,
        }
        for name, own in lengths.items()
    ]


def random_distances(nodes: int, graphs: int, seed: int) -> list[Distances]:
    import numpy as np

    places = np.random.default_rng((seed, nodes)).random((graphs, nodes, 2))
    return [np.hypot(*(p[:, None] - p).transpose(2, 0, 1)) for p in places]


def length(tour: Any, distance: Distances) -> float:
    import numpy as np

    return float(distance[tour, np.roll(tour, -1)].sum())


# The solvers, each made for a number of nodes


def there(package: str | None) -> bool:
    return package is None or importlib.util.find_spec(package) is not None


def our_search(nodes: int) -> Solver:
    from gnarl_compiler.algorithms.tours.tours import kicked_tour

    kicked_tour(random_distances(8, 1, 0)[0])  # compiled, or read from the cache
    return kicked_tour


def fast_tsp(seconds_per_node: float) -> Callable[[int], Solver]:
    def made(nodes: int) -> Solver:
        import numpy as np

        package: Any = importlib.import_module("fast_tsp")

        def solve(distance: Distances) -> Any:
            rounded = np.rint(distance / distance.max() * (2**16 - 1)).astype(np.int64)
            return np.array(package.find_tour(rounded, seconds_per_node * nodes, max_threads=1))

        return solve

    return made


def elkai(nodes: int) -> Solver:
    import numpy as np

    package: Any = importlib.import_module("elkai")

    def solve(distance: Distances) -> Any:
        rounded = np.rint(distance / distance.max() * 1e6).astype(int).tolist()
        return np.array(package.DistanceMatrix(rounded).solve_tsp(runs=1)[:-1])

    return solve


def pyvrp(nodes: int) -> Solver:
    import numpy as np

    package: Any = importlib.import_module("pyvrp")
    stop: Any = importlib.import_module("pyvrp.stop")

    def solve(distance: Distances) -> Any:
        rounded = np.rint(distance / distance.max() * 1e6).astype(int)
        model = package.Model()
        places = [model.add_location(0, 0) for _ in range(nodes)]
        model.add_depot(places[0])
        for place in places[1:]:
            model.add_client(place)
        model.add_vehicle_type()
        for i, a in enumerate(places):
            for j, b in enumerate(places):
                model.add_edge(a, b, int(rounded[i, j]))
        result = model.solve(stop=stop.MaxRuntime(nodes / 100), seed=0, display=False)
        (route,) = result.best.routes()
        return np.array([0, *(1 + visit.idx for visit in route if visit.is_client())])

    return solve


# Who needs which package, and what makes it
SOLVERS: dict[str, tuple[str | None, Callable[[int], Solver]]] = {
    "ours": (None, our_search),
    "fast-tsp, 1 ms per node": ("fast_tsp", fast_tsp(0.001)),
    "fast-tsp, 10 ms per node": ("fast_tsp", fast_tsp(0.01)),
    "elkai": ("elkai", elkai),
    "pyvrp, 10 ms per node": ("pyvrp", pyvrp),
}


def timed(solve: Callable[[Any], Any], distances: list[Any]) -> tuple[list[float], list[Any]]:
    """CPU seconds and results, one per instance."""
    seconds, results = [], []
    for distance in distances:
        start = time.process_time()
        results.append(solve(distance))
        seconds.append(time.process_time() - start)
    return seconds, results


def table_row(row: dict[str, Any]) -> str:
    """A size as a line of Markdown."""
    highs = (
        ("–", "–") if row["ratio"] is None else (f"{row['highs_ms']:.0f}", f"{row['ratio']:.0f}")
    )
    figures = (f"{row['ms']:.2f}", f"{row['longest_ms']:.1f}", row["unproven"], *highs)
    return f"| {row['nodes']} | {row['tours']} | " + " | ".join(map(str, figures)) + " |"


def large_row(row: dict[str, Any]) -> str:
    figures = f"{row['gap']:.3f} | {row['seconds']:.3f}"
    return f"| {row['nodes']} | {row['tours']} | {row['solver']} | {figures} |"


def large_table(rows: list[dict[str, Any]]) -> list[str]:
    """What stands above the sizes that are proven."""
    return [
        "## Above the sizes that are proven",
        "",
        "Local search of `optimal_tour` beside the solvers of other packages: per cent above "
        "the best tour that any of them found, CPU seconds per tour. fast-tsp and PyVRP stop by "
        "the clock on the wall, so a busy machine gives them less. Ours is the one whose answer "
        "hangs neither on a clock nor on rounding, and needs no package.",
        "",
        "| nodes | tours | solver | above the best, % | s |",
        "|---|---|---|---|---|",
        *map(large_row, rows),
        "",
    ]


def report(record: dict[str, Any]) -> list[str]:
    """The table with what it was made by."""
    written = record["written"]
    return [
        "# Shortest tours",
        "",
        f"    {shlex.join(written['command'])}",
        "",
        "CPU milliseconds for a shortest tour through random points of the unit square. "
        "`optimal_tour` asks HiGHS only where branch and bound was given up (*not proven*), and "
        "above 40 nodes our local search.",
        "",
        COLUMNS,
        "|---" * (COLUMNS.count("|") - 1) + "|",
        *map(table_row, record["rows"]),
        "",
        *(large_table(record["large"]) if record["large"] else []),
        f"Written at {short(written['commit'])}, {written['cpu']}, load {written['load'][0]}.",
    ]


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    sizes = [12, 16, 20, 30, 40, 50, 60]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, metavar="N", help="nodes")
    parser.add_argument("--graphs", type=int, default=200, help="per size")
    parser.add_argument("--exact", type=int, default=20, help="of these for HiGHS, too")
    parser.add_argument("--large", type=int, nargs="*", default=[100, 200, 1000], metavar="N")
    parser.add_argument("--few", type=int, default=10, help="tours of each large size")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
