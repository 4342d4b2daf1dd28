"""A policy for tours on random points: per cent above the best known, time and memory by size.

    python -m benchmarks.studies.large_tours --run runs/tsp_local
    python -m benchmarks.studies.large_tours --pretrained tsp --sizes 50x300 100x30

A size is NODESxGRAPHS, and runs in a process of its own: its memory is its own. Tours are compared
with those of `optimal_tour`, which above 60 nodes are the best that local search finds; with a size
above --compared, only time and memory are measured. Writes docs/results/large_tours.md and .json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import load_average, pin_to_one_core, provenance, short

SIZES = ["50x300", "100x100", "200x100", "1000x4", "4000x1"]
SEED = 90_210  # of graphs that no choice was made by


def main(arguments: list[str] | None = None) -> int:
    """Measure every size, print and write the table."""
    options = parse_options(arguments)
    pin_to_one_core()
    if options.one:
        print(json.dumps(measured(options, options.sizes[0])))
        return 0
    before, rows = load_average(), []
    for size in options.sizes:
        command = [sys.executable, "-m", "benchmarks.studies.large_tours", "--one"]
        command += ["--sizes", size, "--compared", str(options.compared)]
        command += ["--run", options.run] if options.run else ["--pretrained", options.pretrained]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        say(table_row(rows[-1]))
    policy = f"--run {options.run}" if options.run else f"--pretrained {options.pretrained}"
    written = provenance(load=[before, load_average()])
    record = {"rows": rows, "policy": policy, "written": written}
    publish(options.output, "large_tours", report(record), record)
    return 0


def measured(options: argparse.Namespace, size: str) -> dict[str, Any]:
    """The policy's best picks on the graphs of one size: side by side, then one graph alone."""
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
    from gnarl_runtime.checkpoints.pretrained import find_pretrained
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.instances.pools import draw_pool
    from gnarl_runtime.network.policy import prepare_torch
    from gnarl_runtime.search.outcomes import Keep
    from gnarl_runtime.search.rollout import play

    prepare_torch(1)
    nodes, graphs = map(int, size.split("x"))
    trained = load_checkpoint(options.run or find_pretrained(options.pretrained))
    compiled = compile_for(trained.problem)
    pool, few = (
        draw_pool(trained.problem, count=count, nodes=nodes, seed=SEED, split="test")
        for count in (graphs, min(graphs, 3))
    )
    small = draw_pool(trained.problem, count=1, nodes=8, seed=SEED, split="test")
    play(trained.policy, compiled, small)  # kernels are compiled or loaded
    milliseconds = {}
    for how, own, slots in (("alone", few, 1), ("together", pool, None)):
        began = time.process_time()
        outcomes = play(trained.policy, compiled, own, slots=slots, keep=Keep(picks=True))
        milliseconds[f"{how}_ms"] = 1e3 * (time.process_time() - began) / len(own)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    assert outcomes.picks is not None
    gaps = [
        above(instance.inputs, picks)
        for instance, picks in zip(pool.instances(), outcomes.picks, strict=True)
        if nodes <= options.compared
    ]
    return {
        "nodes": nodes,
        "graphs": graphs,
        "gaps": gaps,
        **milliseconds,
        "peak_megabytes": peak,
        "load": load_average()[0],
    }


def above(inputs: Any, picks: Sequence[int]) -> float:
    """How much longer a tour is than the best known one, in per cent."""
    import numpy as np

    from gnarl_compiler.algorithms.tours.tours import shortest_tour

    if "xy" in inputs:
        distance = np.abs(inputs["xy"][:, None] - inputs["xy"])
    else:
        distance = np.asarray(inputs["A"])
    own, best = (
        float(distance[tour, np.roll(tour, -1)].sum())
        for tour in (np.array(picks), shortest_tour(distance))
    )
    return 100 * (own / best - 1)


def table_row(row: dict[str, Any]) -> str:
    """A size as a line of Markdown."""
    import numpy as np

    gap = "–"
    if row["gaps"]:
        error = 1.96 * np.std(row["gaps"], ddof=1) / np.sqrt(len(row["gaps"]))
        gap = f"{np.mean(row['gaps']):.2f} ± {error:.2f}"
    times = f"{row['together_ms']:,.1f} | {row['alone_ms']:,.1f}"
    peak = f"{row['peak_megabytes']:,.0f}"
    return f"| {row['nodes']:,} | {row['graphs']} | {gap} | {times} | {peak} | {row['load']} |"


def report(record: dict[str, Any]) -> Iterator[str]:
    """The table with what it was made by."""
    written = record["written"]
    yield "# Long tours on random points"
    yield ""
    yield f"    python -m benchmarks.studies.large_tours {record['policy']}"
    yield ""
    yield (
        f"Best picks of `{record['policy']}` in the unit square, one core ({written['cpu']}), at "
        f"{short(written['commit'])}. Above optimal: the mean and its 95 % interval; up to 60 "
        "nodes the optimum is proven nearly always, beyond, it is the best tour that local search "
        "finds. CPU milliseconds per graph with graphs played side by side, and with one alone."
    )
    yield ""
    yield "| nodes | graphs | above optimal, % | ms, side by side | ms, alone | MB | load |"
    yield "|---:|---:|---:|---:|---:|---:|---:|"
    for row in record["rows"]:
        yield table_row(row)


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="NxG")
    weights = parser.add_mutually_exclusive_group(required=True)
    weights.add_argument("--pretrained", metavar="NAME", help="weights that come with GNARL")
    weights.add_argument("--run", metavar="RUN", help="a run folder or checkpoint")
    parser.add_argument("--compared", type=int, default=1000, metavar="N", help="most nodes")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
