"""Standard neural algorithmic reasoning beside our policies, from the same specs.

    python -m benchmarks.nar [SPEC ...] [--processors mpnn triplets] [--updates 600] [--seed 0]

Networks of the CLRS benchmark (encode, process, decode) learn the trajectories that `gnarl-export
--clrs --ties first` writes, of graphs of at most 16 nodes, and answer fresh graphs of 64. Where
they are told hints, half are the right ones and half their own. An answer is right if the spec's
`correct` says so of the state that it describes; besides, answers are compared with the expert's
own, node by node and as a whole. As in the paper's study of termination, networks may also take
twice as many steps and stop at the first right answer. The table and its JSON go to
docs/results/nar; what stands there is not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.random import Generator

import gnarl_dsl as gnarl
from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import load_average, provenance
from benchmarks.nar.material import Episodes, Judge, Task, draw_task
from benchmarks.nar.model import Nar, answers, as_hints, as_read, losses
from benchmarks.nar.page import lines_of
from gnarl_runtime.network.policy import prepare_torch
from gnarl_runtime.trajectories.probes import Probe

NAME = "nar"
SPECS = ("bfs", "dfs", "bellman_ford", "mst_prim")
PROCESSORS = ("mpnn", "triplets")
SIZES = (4, 7, 11, 13, 16)


def main(arguments: list[str] | None = None) -> int:
    options = parse_options(arguments)
    prepare_torch(1)
    file = options.output / f"{NAME}.json"
    rows = json.loads(file.read_text("utf-8"))["rows"] if file.is_file() else []
    known = {(row["spec"], row["processor"]) for row in rows}
    for processor in options.processors:
        for spec in options.specs or SPECS:
            if (spec, processor) not in known:
                say(f"{spec}, {processor}")
                rows = sorted([*rows, measured(spec, processor, options)], key=_order)
                publish(options.output, NAME, lines_of(rows), {"rows": rows})
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = results_parser(__doc__)
    add = parser.add_argument
    add("specs", nargs="*", metavar="SPEC", choices=[*SPECS, []], help="default: all four")
    add("--processors", nargs="*", choices=PROCESSORS, default=list(PROCESSORS))
    add("--updates", type=int, default=600, help="of training (%(default)s)")
    add("--episodes", type=int, default=200, help="of each size to learn from (%(default)s)")
    add("--graphs", type=int, default=50, help="of --nodes nodes to answer (%(default)s)")
    add("--nodes", type=int, default=64)
    add("--width", type=int, default=64)
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def _order(row: dict[str, Any]) -> tuple[int, str]:
    return SPECS.index(row["spec"]), row["processor"]


def measured(spec: str, processor: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train one network, let it answer."""
    problem, seed = gnarl.load(spec), options.seed
    tasks = [draw_task(problem, n, options.episodes, "train", seed) for n in SIZES]
    began = time.process_time()
    model, loss = trained([task.episodes for task in tasks], processor, options)
    minutes = (time.process_time() - began) / 60
    fresh = draw_task(problem, options.nodes, options.graphs, "test", seed + 77_000)
    return {
        "spec": spec,
        "processor": processor,
        "nodes": options.nodes,
        "graphs": options.graphs,
        "updates": options.updates,
        "loss": loss,
        "cpu_minutes": round(minutes, 2),
        **answered(model, fresh),
        "written": provenance(load=load_average()),
    }


# Learning

_BATCH, _RATE, _TOLD = 16, 1e-3, 0.5


def trained(
    sizes: Sequence[Episodes], processor: str, options: argparse.Namespace
) -> tuple[Nar, float]:
    """A network that has learned, and its loss at the end."""
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    own = sizes[0]
    model = Nar(list(own.inputs), list(own.hints), list(own.outputs), options.width, processor)
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    recent: list[float] = []
    for update in range(options.updates):
        episodes = sizes[int(rng.integers(len(sizes)))]
        chosen = rng.integers(len(episodes.lengths), size=_BATCH)
        loss = unrolled_loss(model, episodes.some(chosen), rng)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        recent = [*recent[-49:], loss.item()]
        if update % 50 == 49:
            say(f"  update {update + 1}, loss {np.mean(recent):.3f}, {time.process_time():.0f} s")
    return model.eval(), float(np.mean(recent))


def unrolled_loss(model: Nar, episodes: Episodes, rng: Generator) -> torch.Tensor:
    """Hints of every step and outputs of the last, where right hints are told half of the time."""
    told: dict[Probe, torch.Tensor] = {}
    hidden = model.start(episodes.inputs)
    steps = episodes.lengths - 1  # (B,)
    total = hidden.new_zeros(len(steps))
    for step in range(episodes.rows - 1):
        hints = as_read({probe: values[step] for probe, values in episodes.hints.items()})
        if step:
            truth = torch.from_numpy(rng.random(len(steps)) < _TOLD)
            mine = as_hints(told, model.hints, hard=False)
            hints = {probe: mixed(truth, hints[probe], mine[probe]) for probe in hints}
        told, hidden = model(episodes.inputs, hints, hidden, episodes.adjacency)
        following = {probe: values[step + 1] for probe, values in episodes.hints.items()}
        runs, last = (step < steps).float(), (step == steps - 1).float()
        for part in losses(told, following):
            total = total + part * runs / steps
        for part in losses(told, episodes.outputs):
            total = total + part * last
    return total.mean()


def mixed(truth: torch.Tensor, right: torch.Tensor, mine: torch.Tensor) -> torch.Tensor:
    return torch.where(truth.reshape(-1, *[1] * (right.dim() - 1)), right, mine)


# Answering


def answered(model: Nar, fresh: Task) -> dict[str, float]:
    """How often answers are right after as many steps as the expert took, and in twice as many."""
    episodes, judge = fresh.episodes, Judge(fresh)
    steps = (episodes.lengths - 1).numpy()
    hints = as_read({probe: values[0] for probe, values in episodes.hints.items()})
    hidden = model.start(episodes.inputs)
    right, same, ever = (np.zeros(len(steps), np.bool_) for _ in range(3))
    f1 = np.zeros(len(steps))
    with torch.inference_mode():
        for step in range(2 * int(steps.max())):
            told, hidden = model(episodes.inputs, hints, hidden, episodes.adjacency)
            hints = as_hints(told, model.hints, hard=True)
            found = answers(told, model.outputs)
            judged, last = judge.right(found), step == steps - 1
            ever |= judged & (step < 2 * steps)
            right[last] = judged[last]
            agreed = agreement(found, episodes)
            f1[last] = agreed[last]
            same[last] = agreed[last] == 1
    return {
        "right": float(right.mean()),
        "same": float(same.mean()),
        "node_f1": float(f1.mean()),
        "ever": float(ever.mean()),
        "steps": float(steps.mean()),
    }


def agreement(found: dict[Probe, torch.Tensor], episodes: Episodes) -> np.ndarray[Any, Any]:
    """Micro-F1 of masks, the share of equal cells of everything else; the mean over outputs."""
    shares = []
    for probe, own in found.items():
        wanted = episodes.outputs[probe]
        if probe.kind == "mask":
            both, either = (own * wanted).flatten(1).sum(1), (own + wanted).flatten(1).sum(1)
            shares.append(torch.where(either > 0, 2 * both / either.clamp(min=1), 1.0))
        else:
            shares.append(torch.isclose(own, wanted, rtol=1e-4).float().flatten(1).mean(1))
    return np.asarray(torch.stack(shares).mean(0).numpy())


if __name__ == "__main__":
    sys.exit(main())
