"""How fast are instances made? Pools with proven tours, and graphs of every family, per second.

    python -m benchmarks.speed_page.instances --seconds 5

A second is one of CPU time. Tours of `optimal_tour`, which proves them at these sizes.
"""

from __future__ import annotations

import argparse
import sys
from time import process_time
from typing import Any

from benchmarks.frame import aligned, heading, say, show, speed_parser
from benchmarks.machine import load_average, pin_to_one_core, provenance

POOLS = ((20, 400, 5_000), (50, 30, 100))  # nodes, instances of a pool, goal per second
FAMILY_NODES, FAMILY_GOAL = 16, 100_000  # goal per minute
# Of families with arguments, what they are drawn with.
ARGUMENTS: dict[str, dict[str, float]] = {
    "er": {"p": 0.5},
    "gnm": {"p": 0.5},
    "ba": {"m": 4},
    "ws": {"k": 4, "p": 0.1},
    "regular": {"k": 4},
    "powerlaw": {"exponent": 2.5, "degree": 4},
    "bipartite": {"degree": 3},
    "geometric": {"radius": 0.4},
}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, write the JSON."""
    options = parse_options(arguments)
    core, before = pin_to_one_core(), load_average()
    pools = [pool_rate(*pool, options.seconds) for pool in POOLS]
    families = family_rates(options.seconds / 5)
    source = provenance(core=core, load=[before, load_average()])
    record = {"provenance": source, "pools": pools, "families": families}
    show(options.output, record, report_text(record))
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "instances")
    parser.add_argument("--seconds", type=float, default=5.0, help="of CPU time per figure (5)")
    return parser.parse_args(arguments)


def pool_rate(nodes: int, count: int, goal: int, seconds: float) -> dict[str, Any]:
    """Instances of the TSP drawn and solved."""
    import gnarl_dsl as gnarl
    from gnarl_runtime.instances.pools import draw_pool

    problem = gnarl.load("tsp")
    draw_pool(problem, count=count, nodes=nodes, seed=0, oracles=["on_best"])  # compiled
    seed, start = 1, process_time()
    while process_time() - start < seconds:
        draw_pool(problem, count=count, nodes=nodes, seed=seed, oracles=["on_best"])
        seed += 1
    rate = (seed - 1) * count / (process_time() - start)
    say(f"  pools of TSP-{nodes} with proven tours: {rate:,.0f} a second")
    return {"nodes": nodes, "rate": rate, "goal": goal}


def family_rates(seconds: float) -> list[dict[str, Any]]:
    """Graphs of each family, or why there are none."""
    from gnarl_compiler.graphs.streams import stream
    from gnarl_compiler.instances.generators import FAMILIES, draw_graph

    rows = []
    for name, family in FAMILIES.items():
        forms = family.signature.forms
        given = ARGUMENTS.get(name, {})
        if not any(given.keys() == set(form) for form in forms):
            given = dict.fromkeys(forms[0], 2.0)
        random, count = stream(0, "families"), 0
        draw_graph(name, FAMILY_NODES, given, directed=False, rng=random)
        start = process_time()
        while process_time() - start < seconds:
            for _ in range(50):
                draw_graph(name, FAMILY_NODES, given, directed=False, rng=random)
            count += 50
        rate = 60 * count / (process_time() - start)
        say(f"  {name}: {rate:,.0f} a minute")
        rows.append({"family": name, "arguments": given, "rate": rate})
    return rows


def report_text(record: dict[str, Any]) -> str:
    """The tables of a run."""
    pools = [
        [f"TSP-{row['nodes']}", f"{row['rate']:,.0f}", f"{row['goal']:,}"]
        for row in record["pools"]
    ]
    families = [
        [row["family"], f"{row['rate']:,.0f}"]
        for row in sorted(record["families"], key=lambda row: float(row["rate"]))
    ]
    head = f"{heading(record['provenance'])}per CPU second and per CPU minute"
    return "\n\n".join(
        [
            head,
            aligned([["pools with proven tours", "a second", "goal"], *pools]),
            aligned(
                [[f"graphs, {FAMILY_NODES} nodes (goal {FAMILY_GOAL:,})", "a minute"], *families]
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
