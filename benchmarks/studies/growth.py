"""How does the cost of a step grow with the graph? Nanoseconds per step and size out.

    python -m benchmarks.studies.growth                   MVC and BFS, 64 to 4,096 nodes
    python -m benchmarks.studies.growth --problems mvc    one of them

Graphs have the same degree at all sizes (Barabási-Albert, four edges per node). What is timed is
the step of a batch of 64 graphs on random legal picks; drawing the picks and starting episodes are
not.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from benchmarks.frame import aligned, heading, say, show, speed_parser
from benchmarks.machine import load_average, pin_to_one_core, provenance

if TYPE_CHECKING:
    from gnarl_dsl.model import Problem

PROBLEMS = ("mvc", "bfs")
SIZES = (64, 256, 1024, 4096)
SLOTS = 64
_SPLITS = ("train", "valid", "test")
_FAMILY = "instances ba\n" + "".join(f"  {split}  1  ba(n = 16, m = 4)\n" for split in _SPLITS)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON."""
    options = parse_options(arguments)
    core, before = pin_to_one_core(), load_average()
    rows = [measured(spec, options.seconds) for spec in options.problems]
    source = provenance(core=core, load=[before, load_average()])
    record = {"provenance": source, "sizes": SIZES, "rows": rows}
    show(options.output, record, report_text(record))
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "growth")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seconds", type=float, default=2.0, help="per size (2)")
    return parser.parse_args(arguments)


def measured(spec: str, seconds: float) -> dict[str, Any]:
    """The median step of a spec at each size."""
    found = [nanoseconds(same_degree(spec), nodes, seconds) for nodes in SIZES]
    say(f"  {spec}: {', '.join(f'{value:,.0f}' for value in found)} ns per step")
    return {"spec": spec, "nanoseconds": found}


def same_degree(spec: str) -> Problem:
    """A shipped spec, its instances drawn from one family."""
    import gnarl_dsl as gnarl

    text = gnarl.load(spec).sources[0].text
    return gnarl.loads(text[: text.index("\ninstances ") + 1] + _FAMILY)


def nanoseconds(problem: Problem, nodes: int, seconds: float) -> float:
    """One pick in one slot, the median over steps of a batch."""
    from benchmarks.speed.sampling import Sampler
    from gnarl_runtime.envs.engine import Engine, compile_for
    from gnarl_runtime.instances.pools import draw_pool

    compiled = compile_for(problem)
    pool = draw_pool(problem, count=2, nodes=nodes, seed=0, oracles=compiled.oracles)
    engine, sampler = Engine(compiled, pool, SLOTS), Sampler(0)
    engine.reset()
    times: list[int] = []
    end = perf_counter_ns() + int(seconds * 1e9)
    while perf_counter_ns() < end or len(times) < 20:
        picks = sampler.rows(engine.batch.legal, engine.batch.legal)
        start = perf_counter_ns()
        engine.kernels.step(picks, engine.rewards)
        times.append(perf_counter_ns() - start)
        engine.reset(engine.finished())
    return median(times[1:]) / SLOTS


def report_text(record: dict[str, Any]) -> str:
    """The table of a run: nanoseconds per step, and how many times those of the smallest size."""
    head = ["ns per step", *(f"n = {nodes:,}" for nodes in record["sizes"]), "growth"]
    rows = [
        [
            row["spec"],
            *(f"{value:,.0f}" for value in row["nanoseconds"]),
            f"{row['nanoseconds'][-1] / row['nanoseconds'][0]:.1f}x",
        ]
        for row in record["rows"]
    ]
    return f"{heading(record['provenance'])}\n\n{aligned([head, *rows])}"


if __name__ == "__main__":
    sys.exit(main())
