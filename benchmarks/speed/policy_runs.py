"""Cases in, milliseconds out: the contestants of policy.py, by turns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

import gnarl_dsl as gnarl
from benchmarks.machine import ROOT, memory_megabytes
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import cheapest_reward
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.envs.interpreted import load_state
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.network.graphs import Graphs, to_graphs
from gnarl_runtime.network.policy import Policy, PolicyConfig, argmax, prepare_torch
from gnarl_runtime.network.policy_config import Aggregation

if TYPE_CHECKING:
    from benchmarks.speed.policy import Case

DISTINCT = 32  # graphs drawn; larger batches repeat them
STEPS = 3  # random picks before the network looks
TOLERANCE = 1e-4  # of the largest score
Run = Callable[[Graphs], tuple[Tensor, Tensor]]


class Disagreement(Exception):
    """Two contestants gave different scores."""


@dataclass(frozen=True)
class Network:
    """Which network is measured."""

    rounds: int
    depth: int
    aggregation: Aggregation


def filled_batch(spec: str, nodes: int, graphs: int) -> Batch:
    """Graphs of the validation split, a few random picks into their episodes."""
    problem = gnarl.load(spec)
    distinct = min(graphs, DISTINCT)
    pool = draw_pool(problem, count=distinct, nodes=nodes, seed=0, split="valid")
    game, rng = Interpreter(problem, cheapest_reward(problem)), np.random.default_rng(0)
    batch = Batch.allocate(layout_of(problem, graphs, nodes))
    states = [game.reset(instance) for instance in pool.instances()]
    for _ in range(STEPS):
        picks = [int(rng.choice(np.flatnonzero(game.mask(state)))) for state in states]
        states = [game.apply(*pair).state for pair in zip(states, picks, strict=True)]
    for slot in range(graphs):
        load_state(batch, slot, states[slot % len(states)])
    return batch


def measure_case(case: Case, network: Network, repetitions: int, seconds: float) -> dict[str, Any]:
    """Milliseconds of every contestant, a list of repetitions each."""
    prepare_torch(1)
    batch = filled_batch(case.spec, case.nodes, case.graphs)
    slots = np.arange(case.graphs)
    graphs = to_graphs(pack(batch, slots))
    runs = contestants(case, network)
    compare(runs, graphs)
    figure: dict[str, Any] = {"case": asdict(case), "messages": len(graphs.src)}
    calls = {"forward": forward, "both": both} if case.backward else {"forward": forward}
    for mode, call in calls.items():
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(repetitions):
            for name, run in runs.items():
                times[name].append(milliseconds(partial(call, run, graphs), seconds))
        figure[mode] = times
    packing = [milliseconds(lambda: pack(batch, slots), seconds / 4) for _ in range(repetitions)]
    return {**figure, "packing": median(packing)}


def contestants(case: Case, network: Network) -> dict[str, Run]:
    """The same weights in three programs."""
    from benchmarks.peers.naive_pyg import NaivePolicy

    torch.manual_seed(0)
    config = PolicyConfig(
        rounds=network.rounds, message_depth=network.depth, aggregation=network.aggregation
    )
    ours = {kernel: Policy(gnarl.load(case.spec), config) for kernel in ("torch", "fused")}
    ours["torch"].use_kernel("torch")
    ours["fused"].use_kernel("fused")
    ours["torch"].load_state_dict(ours["fused"].state_dict())
    return {"pyg": NaivePolicy(ours["fused"]), **{name: plain(ours[name]) for name in ours}}


def plain(policy: Policy) -> Run:
    """A policy as a function to a tuple."""

    def run(graphs: Graphs) -> tuple[Tensor, Tensor]:
        output = policy(graphs)
        return output.logits, output.values

    return run


def compare(runs: dict[str, Run], graphs: Graphs) -> None:
    """Raise unless all give the same scores."""
    with torch.inference_mode():
        scores = {name: run(graphs)[0][graphs.legal] for name, run in runs.items()}
    for name, found in scores.items():
        gap = float((found - scores["pyg"]).abs().max() / scores["pyg"].abs().max())
        if not gap < TOLERANCE:
            raise Disagreement(f"{name} and pyg differ by {gap:.1e} of the largest score")


def forward(run: Run, graphs: Graphs) -> None:
    """As in play."""
    with torch.inference_mode():
        run(graphs)


def both(run: Run, graphs: Graphs) -> None:
    """As in training, with a loss that every score and value enters."""
    logits, values = run(graphs)
    (logits[graphs.legal].sum() + values.sum()).backward()


def milliseconds(call: Callable[[], object], seconds: float) -> float:
    """CPU time of a call: one to warm up, then the mean of as many as fit."""
    call()
    count, began = 0, process_time()
    while count < 2 or process_time() - began < seconds:
        call()
        count += 1
    return 1000 * (process_time() - began) / count


# Memory, in a process of its own


def peak_memory(spec: str, nodes: int) -> dict[str, Any]:
    """Megabytes that a process needs for one greedy step on one graph."""
    command = [sys.executable, "-m", "benchmarks.speed.policy_runs", spec, str(nodes)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def greedy_step(spec: str, nodes: int) -> dict[str, Any]:
    """Pack a graph, pick a node, report the process."""
    prepare_torch(1)
    batch = filled_batch(spec, nodes, 1)
    policy = Policy(gnarl.load(spec))
    before = memory_megabytes()[1]
    with torch.inference_mode():
        packed = pack(batch, [0])
        argmax(policy(packed), packed)
    return {"spec": spec, "nodes": nodes, "before": before, "peak": memory_megabytes()[1]}


if __name__ == "__main__":
    print(json.dumps(greedy_step(sys.argv[1], int(sys.argv[2]))))
