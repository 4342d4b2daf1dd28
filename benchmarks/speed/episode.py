"""How long does a whole greedy episode on one large graph take? Seconds and megabytes out.

    python -m benchmarks.speed.episode                     TSP, 1000 nodes, 2 and 4 rounds
    python -m benchmarks.speed.episode --nodes 200 --rounds 2

Weights are untrained: a pick takes as long as with trained ones, but for the channels of the
messages that are 0, which the kernel skips. Each row is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from time import perf_counter, process_time
from typing import Any

from benchmarks.frame import aligned, say, show, speed_parser
from benchmarks.machine import (
    ROOT,
    load_average,
    memory_megabytes,
    pin_to_one_core,
    provenance,
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON."""
    options = parse_options(arguments)
    if options.alone:
        print(json.dumps(greedy_episode(options.spec, options.nodes, options.rounds[0])))
        return 0
    before, rows = load_average(), list[dict[str, Any]]()
    for rounds in options.rounds:
        say(f"{options.spec}, {options.nodes} nodes, {rounds} rounds")
        rows.append(in_a_process(options.spec, options.nodes, rounds))
        say(f"  {rows[-1]['cpu_seconds']:.0f} CPU s, {rows[-1]['peak_megabytes']:,.0f} MB")
    record = {"provenance": provenance(load=[before, load_average()]), "episodes": rows}
    show(options.output, record, report_text(record))
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "episode")
    parser.add_argument("--spec", default="tsp", help="a shipped spec (tsp)")
    parser.add_argument("--nodes", type=int, default=1000, help="of the graph (1000)")
    parser.add_argument("--rounds", type=int, nargs="+", default=[2, 4], help="(2 and 4)")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def in_a_process(spec: str, nodes: int, rounds: int) -> dict[str, Any]:
    """An episode of a fresh process, so that its peak of memory is its own."""
    options = ["--alone", "--spec", spec, "--nodes", str(nodes), "--rounds", str(rounds)]
    command = [sys.executable, "-m", "benchmarks.speed.episode", *options]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def greedy_episode(spec: str, nodes: int, rounds: int) -> dict[str, Any]:
    """Play a graph of the validation split to its end, one core, best picks."""
    pin_to_one_core()
    import torch

    import gnarl_dsl as gnarl
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.instances.pools import draw_pool
    from gnarl_runtime.network.policy import Policy, PolicyConfig, prepare_torch
    from gnarl_runtime.search.rollout import play

    prepare_torch(1)
    torch.manual_seed(0)
    problem = gnarl.load(spec)
    compiled = compile_for(problem, None)
    pool = draw_pool(problem, count=1, nodes=nodes, seed=0, split="valid")
    policy = Policy(problem, PolicyConfig(rounds=rounds))
    before, cpu, wall = memory_megabytes()[1], process_time(), perf_counter()
    outcomes = play(policy, compiled, pool)
    return {
        "spec": spec,
        "nodes": nodes,
        "rounds": rounds,
        "steps": int(outcomes.steps[0]),
        "cpu_seconds": process_time() - cpu,
        "seconds": perf_counter() - wall,
        "before_megabytes": before,
        "peak_megabytes": memory_megabytes()[1],
    }


def report_text(record: dict[str, Any]) -> str:
    """The table of a run."""
    source = record["provenance"]
    before, after = source["load"]
    head = ["episode", "rounds", "picks", "CPU s", "s", "peak MB"]
    rows = [
        [
            f"{row['spec']} n={row['nodes']}",
            str(row["rounds"]),
            f"{row['steps']:,}",
            f"{row['cpu_seconds']:.0f}",
            f"{row['seconds']:.0f}",
            f"{row['peak_megabytes']:,.0f}",
        ]
        for row in record["episodes"]
    ]
    heading = f"{source['cpu']}, one core, load {before} before, {after} after"
    return f"{heading}\n\n{aligned([head, *rows])}"


if __name__ == "__main__":
    sys.exit(main())
