"""How fast is the policy? Graphs in, a table and build/bench/policy.json out.

    python -m benchmarks.speed.policy                         about two minutes of a free core
    python -m benchmarks.speed.policy --aggregation sum       another network
    python -m benchmarks.speed.policy --quick                 without the graph of 1000 nodes

Compared on one core, in one run: the network as a torch_geometric user would write it, our
torch path, and the fused kernel; and the time to pack the graphs. All have the same weights,
and their scores are compared first. Absolute figures depend on the machine and its load; read
the ratios.
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
    """Graphs to run on."""

    name: str
    spec: str
    nodes: int
    graphs: int
    backward: bool = True
    goal: float | None = None  # times faster than torch_geometric, forward


CASES = (
    Case("256 graphs n=16 p=.5", "bellman_ford", 16, 256, goal=5.0),
    Case("1 graph n=64 p=.5", "bellman_ford", 64, 1),
    Case("complete n=200", "tsp", 200, 1, goal=10.0),
    Case("complete n=1000", "tsp", 1000, 1, backward=False),
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON; 1 if the contestants disagree."""
    options = parse_options(arguments)
    core = pin_to_one_core()
    from benchmarks.speed.policy_runs import Disagreement, Network, measure_case, peak_memory

    network = Network(options.rounds, options.depth, options.aggregation)
    cases = [case for case in CASES if not (options.quick and case.nodes == 1000)]
    before, figures = load_average(), list[dict[str, Any]]()
    try:
        for number, case in enumerate(cases, 1):
            say(f"[{number}/{len(cases)}] {case.name}")
            figures.append(measure_case(case, network, options.repetitions, options.seconds))
    except Disagreement as error:
        say(str(error))
        return 1
    record: dict[str, Any] = {
        "provenance": provenance(core=core, load=[before, load_average()]),
        "network": asdict(network),
        "repetitions": options.repetitions,
        "figures": figures,
        "memory": {} if options.quick else peak_memory(CASES[-1].spec, CASES[-1].nodes),
    }
    show(options.output, record, report_text(record))
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "policy")
    parser.add_argument("--quick", action="store_true", help="without the graph of 1000 nodes")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of messages (2)")
    parser.add_argument("--depth", type=int, choices=(2, 3), default=2, help="of messages (2)")
    parser.add_argument("--aggregation", choices=("max", "sum"), default="max")
    parser.add_argument("--repetitions", type=int, default=3, help="figures per median (3)")
    parser.add_argument("--seconds", type=float, default=1.0, help="per figure, at least (1)")
    return parser.parse_args(arguments)


def report_text(record: dict[str, Any]) -> str:
    """The tables of a run."""
    source, network = record["provenance"], record["network"]
    head = (
        f"{heading(source)}CPU milliseconds, "
        f"medians of {record['repetitions']}; {network['rounds']} rounds, message depth "
        f"{network['depth']}, {network['aggregation']}, width 64"
    )
    return "\n\n".join([head, time_table(record["figures"]), *memory_lines(record["memory"])])


def time_table(figures: list[dict[str, Any]]) -> str:
    """Milliseconds forward / forward and backward, and how many times faster than the peer."""
    head = ["graphs", "messages", "pyg", "torch path", "fused", "pyg/fused", "goal", "packing"]
    rows = [
        [figure["case"]["name"], f"{figure['messages']:,}", *cells(figure)] for figure in figures
    ]
    return aligned([head, *rows])


def cells(figure: dict[str, Any]) -> list[str]:
    """The figures of a case, forward and both, as text."""
    modes = [mode for mode in ("forward", "both") if mode in figure]
    times = [
        " / ".join(f"{median(figure[mode][name]):.2f}" for mode in modes)
        for name in ("pyg", "torch", "fused")
    ]
    gains = [
        median(a / b for a, b in zip(figure[mode]["pyg"], figure[mode]["fused"], strict=True))
        for mode in modes
    ]
    goal = figure["case"]["goal"]
    missed = "!" if goal is not None and gains[0] < goal else ""
    ratio = " / ".join(f"{gain:.1f}x" for gain in gains) + missed
    return [*times, ratio, "-" if goal is None else f"{goal:g}x", f"{figure['packing']:.2f}"]


def memory_lines(memory: dict[str, Any]) -> list[str]:
    """What one greedy step on the largest graph takes."""
    if not memory:
        return []
    return [
        f"one greedy step on {memory['spec']} n={memory['nodes']}: process peak "
        f"{memory['peak']:.0f} MB, of which {memory['before']:.0f} MB before the policy ran"
    ]


if __name__ == "__main__":
    sys.exit(main())
