"""How fast do the trainers learn? Recipes in, a table and build/bench/training.json out.

    python -m benchmarks.speed.training                    about five minutes of a free core
    python -m benchmarks.speed.training --cases ppo_mvc    one of them
    python -m benchmarks.speed.training --no-pyg           ours alone

Decisions learned from per second of CPU time, on one core, playing included. The same trainer
runs with our policy and, by turns in one run, with the network as a torch_geometric user would
write it; that one is batched like ours, so it is faster than one that reads a graph at a time.
Whole greedy episodes on one graph: episode.py.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from benchmarks.frame import aligned, heading, say, show, speed_parser
from benchmarks.machine import load_average, pin_to_one_core, provenance


@dataclass(frozen=True)
class Case:
    """A recipe, changed so that a figure takes seconds, and what is wanted of it."""

    name: str
    title: str
    spec: str
    recipe: str | None  # None: all defaults
    changes: tuple[str, ...]
    updates: int  # per figure
    peer: float  # decisions per second of the hand-written peer: see docs/kernel.md
    goal: float  # times the peer


CASES = (
    Case(
        "bc_bellman_ford",
        "imitation, Bellman-Ford n<=16",
        "bellman_ford",
        "bellman_ford",
        ("data.pool=256", "data.boundary_pool=64"),
        updates=40,
        peer=500,
        goal=8,
    ),
    Case(
        "ppo_mvc",
        "PPO, MVC n=16, 10 epochs",
        "mvc",
        "mvc",
        ("data.pool=256", "data.nodes=16", "ppo.epochs=10", "ppo.steps=4"),
        updates=1,
        peer=70,
        goal=15,
    ),
    Case(
        "ppo_tsp",
        "PPO, TSP n=20, 10 epochs",
        "tsp",
        None,
        ("trainer=ppo", "data.pool=256", "data.nodes=20", "ppo.epochs=10", "ppo.steps=4"),
        updates=1,
        peer=21,
        goal=5,
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON."""
    options = parse_options(arguments)
    core = pin_to_one_core()
    from benchmarks.speed.training_runs import measure_case

    before, figures = load_average(), list[dict[str, Any]]()
    cases = [case for case in CASES if case.name in options.cases]
    for number, case in enumerate(cases, 1):
        say(f"[{number}/{len(cases)}] {case.title}")
        rates = measure_case(case, options.repetitions, options.pyg)
        figures.append({"case": asdict(case), "rates": rates})
    record: dict[str, Any] = {
        "provenance": provenance(core=core, load=[before, load_average()]),
        "repetitions": options.repetitions,
        "figures": figures,
    }
    show(options.output, record, report_text(record))
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "training")
    names = [case.name for case in CASES]
    parser.add_argument("--cases", nargs="+", choices=names, default=names, help="all of them")
    parser.add_argument("--no-pyg", dest="pyg", action="store_false", help="ours alone")
    parser.add_argument("--repetitions", type=int, default=3, help="figures per median (3)")
    return parser.parse_args(arguments)


def report_text(record: dict[str, Any]) -> str:
    """The table of a run."""
    told = f"decisions learned from per CPU second, medians of {record['repetitions']}"
    head = ["trainer", "fused", "plain PyG", "fused/PyG", "goal", "fused/goal"]
    table = aligned([head, *map(cells, record["figures"])])
    return f"{heading(record['provenance'])}{told}\n\n{table}"


def cells(figure: dict[str, Any]) -> list[str]:
    """A row of the table."""
    case, rates = figure["case"], figure["rates"]
    ours, goal = median(rates["fused"]), case["peer"] * case["goal"]
    row = [case["title"], f"{ours:,.0f}"]
    if "pyg" in rates:
        gains = [ours / theirs for ours, theirs in zip(rates["fused"], rates["pyg"], strict=True)]
        row += [f"{median(rates['pyg']):,.0f}", f"{median(gains):.1f}x"]
    else:
        row += ["-", "-"]
    return [*row, f"{case['goal']:g} x {case['peer']:g}", f"{ours / goal:.2f}"]


if __name__ == "__main__":
    sys.exit(main())
