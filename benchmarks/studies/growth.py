"""How does the cost of a step grow with the graph? Nanoseconds per step and size out.

    python -m benchmarks.studies.growth                   all of them, 64 to 4,096 nodes
    python -m benchmarks.studies.growth --problems mvc    one of them

MVC and BFS have graphs of the same degree at all sizes (Barabási-Albert, four edges per node), TSP
has points. What is timed is the step of a batch of eight graphs on random legal picks, in CPU time;
drawing the picks and starting episodes are not. `window` is the kernel that marks what a network
reads of a state, for the spec that has one. The table and its plot go to docs/results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time_ns
from typing import TYPE_CHECKING, Any

from benchmarks.frame import heading, results_parser, say, write_results
from benchmarks.machine import load_average, pin_to_one_core, provenance

if TYPE_CHECKING:
    from gnarl_dsl.model import Problem

PROBLEMS = ("mvc", "bfs", "tsp_points", "tsp_points_local")
SAME_DEGREE = ("mvc", "bfs")
SIZES = (64, 256, 1024, 4096)
SLOTS = 8
_TITLE = """# How the cost of a step grows

What a pick costs inside the kernel of a step: medians of batches of eight graphs, random legal
picks. Made by `python -m benchmarks.studies.growth`.

What is left to grow: a mask is a byte per node, which BFS writes anew in each phase. On points the
length of a tour is a sum of n distances that round, and the interpreter's order decides how; on
given edges (`tsp`) they add up exactly, and writes keep the sum. A window looks at every node.
"""
_SPLITS = ("train", "valid", "test")
_FAMILY = "instances ba\n" + "".join(f"  {split}  1  ba(n = 16, m = 4)\n" for split in _SPLITS)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write it with its plot and its record."""
    options = parse_options(arguments)
    core, before = pin_to_one_core(), load_average()
    rows = [row for spec in options.problems for row in measured(spec, options.seconds)]
    source = provenance(core=core, load=[before, load_average()])
    record = {"provenance": source, "sizes": SIZES, "rows": rows}
    text = report_text(record)
    write_results(options.output, "growth", text, record)
    draw(rows, options.output / "growth.svg")
    print(text)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seconds", type=float, default=2.0, help="per size (2)")
    return parser.parse_args(arguments)


def measured(spec: str, seconds: float) -> list[dict[str, Any]]:
    """The median step of a spec at each size, and the median window if it has one."""
    found = [nanoseconds(problem_of(spec), nodes, seconds) for nodes in SIZES]
    rows = []
    for what, values in zip(("step", "window"), zip(*found, strict=True), strict=False):
        if any(values):
            say(f"  {spec}, {what}: {', '.join(f'{value:,.0f}' for value in values)} ns")
            rows.append({"spec": spec, "what": what, "nanoseconds": values})
    return rows


def problem_of(spec: str) -> Problem:
    """A shipped spec; one on graphs with its instances drawn from one family."""
    import gnarl_dsl as gnarl

    if spec not in SAME_DEGREE:
        return gnarl.load(spec)
    text = gnarl.load(spec).sources[0].text
    return gnarl.loads(text[: text.index("\ninstances ") + 1] + _FAMILY)


def nanoseconds(problem: Problem, nodes: int, seconds: float) -> tuple[float, float]:
    """One pick in one slot and one window, medians over steps of a batch; 0 without windows."""
    import numpy as np

    from benchmarks.speed.sampling import Sampler
    from gnarl_runtime.envs.engine import Engine, compile_for
    from gnarl_runtime.instances.pools import draw_pool

    compiled = compile_for(problem)
    pool = draw_pool(problem, count=2, nodes=nodes, seed=0, oracles=compiled.oracles)
    engine, sampler, slots = Engine(compiled, pool, SLOTS), Sampler(0), np.arange(SLOTS)
    engine.reset()
    steps: list[int] = []
    windows: list[int] = []
    end = process_time_ns() + int(seconds * 1e9)
    while process_time_ns() < end or len(steps) < 20:
        picks = sampler.rows(engine.batch.legal, engine.batch.legal)
        steps.append(timed(engine.kernels.step, picks, engine.rewards))
        if problem.windows:
            windows.append(timed(engine.kernels.run, "window", slots))
        engine.reset(engine.finished())
    return median(steps[1:]) / SLOTS, median(windows[1:]) / SLOTS if windows else 0.0


def timed(work: Callable[..., object], *given: object) -> int:
    start = process_time_ns()
    work(*given)
    return process_time_ns() - start


def report_text(record: dict[str, Any]) -> str:
    """The table of a run: nanoseconds, and how many times those of the smallest size."""
    head = ["CPU ns per slot", *(f"n = {nodes:,}" for nodes in record["sizes"]), "growth"]
    rows = [
        [
            f"{row['spec']}, {row['what']}",
            *(f"{value:,.0f}" for value in row["nanoseconds"]),
            f"{row['nanoseconds'][-1] / row['nanoseconds'][0]:.1f}x",
        ]
        for row in record["rows"]
    ]
    source = record["provenance"]
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    lines.insert(1, "|" + "---|" * len(head))
    about = heading(source).rstrip("; \n").replace("\n", ", ")
    return "\n".join([_TITLE, about + ".", "", *lines, "", "![How it grows](growth.svg)", ""])


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    """Both axes by powers, so that what grows with n is a straight line."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.add_subplot()
    for row in rows:
        axes.plot(SIZES, row["nanoseconds"], marker="o", label=f"{row['spec']}, {row['what']}")
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="CPU ns per slot")
    axes.set_xticks(SIZES, [f"{nodes:,}" for nodes in SIZES])
    axes.legend()
    # Without a date and random ids, the same figures give the same file.
    with mpl.rc_context({"svg.hashsalt": "growth"}):
        figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    sys.exit(main())
