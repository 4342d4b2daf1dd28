"""Specs and sizes in; out: what whole episodes of best picks cost, with untrained weights.

    python -m benchmarks.studies.windows tsp tsp_window tsp_local --sizes 100x16,1000x1

A size is NODESxGRAPHS, graphs being played side by side. Each spec runs in a process of its own,
so that its peak of memory is its own; sizes follow each other, so peaks never fall.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
import torch

import gnarl_dsl as gnarl
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.engine import Engine, compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.network.policy import Policy, PolicyConfig, argmax, prepare_torch


def main() -> None:
    parser = argparse.ArgumentParser(description="The cost of whole episodes, by what is read.")
    parser.add_argument("specs", nargs="+", help="names or files of specs")
    parser.add_argument("--sizes", default="100x16", help="NODESxGRAPHS, separated by commas")
    parser.add_argument("--rounds", type=int, default=4, help="of messages (default 4)")
    parser.add_argument("--steps", type=int, default=0, help="at most so many (default: all)")
    args = parser.parse_args()
    if len(args.specs) > 1:
        for spec in args.specs:
            own = [spec, "--sizes", args.sizes, "--rounds", str(args.rounds)]
            own += ["--steps", str(args.steps)]
            subprocess.run([sys.executable, "-m", "benchmarks.studies.windows", *own], check=True)
        return
    prepare_torch(1)
    for size in args.sizes.split(","):
        nodes, graphs = map(int, size.split("x"))
        episodes(args.specs[0], nodes, graphs, args.rounds, args.steps or nodes)


def episodes(spec: str, nodes: int, graphs: int, rounds: int, most: int) -> None:
    """Play them and print CPU milliseconds per graph and step by part."""
    problem = gnarl.load(spec)
    compiled = compile_for(problem)
    pool = draw_pool(problem, count=graphs, nodes=nodes, seed=0, oracles=compiled.oracles)
    torch.manual_seed(0)
    policy = Policy(problem, PolicyConfig(rounds=rounds, layer_norm=True))
    engine = Engine(compiled, pool, graphs)
    for warm in (True, False):  # kernels are compiled or loaded in the first steps
        engine.load(engine.environments, np.arange(graphs))
        spent, steps, messages = np.zeros(3), 0, 0
        while len(slots := np.flatnonzero(engine.batch.ended == 0)):
            if steps == (2 if warm else most):
                break
            times = [time.process_time()]
            packed = pack(engine.batch, slots)
            times.append(time.process_time())
            with torch.inference_mode():
                best = argmax(policy(packed), packed).numpy()
            times.append(time.process_time())
            actions = np.full(graphs, -1, np.int64)
            actions[slots] = best
            engine.step(actions)
            times.append(time.process_time())
            spent += np.diff(times)
            messages += len(packed.src)
            steps += 1
    parts = ", ".join(
        f"{name} {1000 * part / graphs:.1f}"
        for name, part in zip(("packing", "network", "environment"), spent, strict=True)
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{spec}, {nodes} nodes, {graphs} side by side: {1000 * spent.sum() / graphs:.1f} ms per "
        f"graph for {steps} steps ({parts}), {messages / steps / graphs:,.0f} messages per state, "
        f"peak {peak:.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
