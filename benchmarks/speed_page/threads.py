"""What a second thread brings: sizes in, milliseconds per decision on the wall out.

    python -m benchmarks.speed_page.threads                      complete graphs, 200 to 1,000 nodes
    python -m benchmarks.speed_page.threads --nodes 200 --threads 2

Packing, network and pick, with untrained weights; one and more threads by turns. Needs as many
free cores: on a busy machine the figures say how busy it is. Scores are compared bit for bit.
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.frame import aligned, say, show, speed_parser
from benchmarks.machine import load_average, provenance


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON; 1 if bits differ."""
    options = parse_options(arguments)
    before = load_average()
    rows = [measured(nodes, options) for nodes in options.nodes]
    source = provenance(load=[before, load_average()])
    record = {"provenance": source, "threads": options.threads, "rows": rows}
    show(options.output, record, report_text(record))
    return 0 if all(row["same_bits"] for row in rows) else 1


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "threads")
    parser.add_argument("--spec", default="tsp")
    parser.add_argument("--nodes", nargs="+", type=int, default=[200, 400, 1000])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=4, help="of messages (4)")
    parser.add_argument("--seconds", type=float, default=4.0, help="per size, at least (4)")
    return parser.parse_args(arguments)


def measured(nodes: int, options: argparse.Namespace) -> dict[str, Any]:
    """Decisions on the first state of one graph."""
    import numpy as np
    import torch

    import gnarl_dsl as gnarl
    from gnarl_runtime.batch.pack import pack
    from gnarl_runtime.envs.engine import Engine, compile_for
    from gnarl_runtime.instances.pools import draw_pool
    from gnarl_runtime.network.policy import Policy, PolicyConfig, argmax, prepare_torch

    problem = gnarl.load(options.spec)
    compiled = compile_for(problem)
    pool = draw_pool(problem, count=1, nodes=nodes, seed=0, oracles=compiled.oracles)
    torch.manual_seed(0)
    policy = Policy(problem, PolicyConfig(rounds=options.rounds, layer_norm=True))
    engine = Engine(compiled, pool, 1)
    engine.load(engine.environments, np.zeros(1, np.int64))

    def decision(threads: int) -> tuple[float, bytes]:
        prepare_torch(threads)
        start = perf_counter()
        packed = pack(engine.batch, engine.environments, policy.signature)
        with torch.inference_mode():
            output = policy(packed)
            argmax(output, packed)
        return perf_counter() - start, output.logits.numpy().tobytes()

    spent: dict[int, list[float]] = {1: [], options.threads: []}
    bits = {decision(threads)[1] for threads in spent}
    began = perf_counter()
    while perf_counter() - began < options.seconds or len(spent[1]) < 3:
        for threads, times in spent.items():
            times.append(decision(threads)[0])
    one, more = (spent[threads] for threads in spent)
    say(f"  {nodes} nodes: {1e3 * median(one):.2f} and {1e3 * median(more):.2f} ms")
    return {
        "nodes": nodes,
        "messages": nodes**2,
        "one_ms": 1e3 * median(one),
        "more_ms": 1e3 * median(more),
        "fastest_ms": [1e3 * min(one), 1e3 * min(more)],
        "same_bits": len(bits) == 1,
    }


def report_text(record: dict[str, Any]) -> str:
    """The table of a run."""
    source = record["provenance"]
    before, after = source["load"]
    head = ["nodes", "one thread, ms", f"{record['threads']} threads, ms", "faster", "of fastest"]
    rows = [
        [
            f"{row['nodes']:,}",
            f"{row['one_ms']:.2f}",
            f"{row['more_ms']:.2f}",
            f"{row['one_ms'] / row['more_ms']:.2f}x",
            f"{row['fastest_ms'][0] / row['fastest_ms'][1]:.2f}x",
        ]
        for row in record["rows"]
    ]
    heading = f"{source['cpu']}, {source['cores']} cores, load {before} before, {after} after"
    return f"{heading}; medians per decision\n\n{aligned([head, *rows])}"


if __name__ == "__main__":
    sys.exit(main())
