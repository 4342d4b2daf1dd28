"""Training by one process and by several, in samples per second, and what a model makes of it.

    python -m benchmarks.waits.workers [--workers 2] [--rounds 3] [--output docs/results]

Runs of a few updates, one worker and several in turns, each in a folder of its own. What a worker
does by itself (c) is divided by their number, what all do (r) is not; gradients take an all-reduce
in a ring, whose time per byte and per message is measured between processes of this machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import cpu_model, load_average, provenance

MODELLED = (2, 4, 8, 16, 32, 64)
RUNS = {
    "bc": ["--spec", "tsp", "--recipe", "tsp_bc", "--set", "bc.updates={updates}"],
    "ppo": ["--spec", "mvc", "--recipe", "mvc", "--set", "ppo.updates={few}"],
    "improve": [
        *("--spec", "mvc", "--recipe", "mvc", "--set", "trainer=improve"),
        *("--set", "improve.updates={few}"),
    ],
}
COMMON = ["--set", "data.pool=500", "--set", "validation.graphs=4"]
RING = """
import sys, time, torch
from torch import distributed as d
d.init_process_group("gloo")
for numbers in (1, int(sys.argv[1])):
    t = torch.zeros(numbers)
    for _ in range(20): d.all_reduce(t)
    began = time.perf_counter()
    for _ in range(100): d.all_reduce(t)
    if d.get_rank() == 0: print((time.perf_counter() - began) / 100)
d.destroy_process_group()
"""


@dataclass(frozen=True)
class Measured:
    """Seconds of an update by number of workers, and how many decisions it learns from."""

    trainer: str
    seconds: dict[int, float]
    states: float
    weights: int

    def speed_up(self, workers: int) -> float:
        return self.seconds[1] / self.seconds[workers]


def seconds_of(trainer: str, workers: int, folder: Path, updates: int) -> tuple[float, float, int]:
    """Seconds per update after the first, decisions per update, weights of the policy."""
    given = [part.format(updates=updates, few=max(4, updates // 8)) for part in RUNS[trainer]]
    module = [sys.executable, "-m", "gnarl_runtime.commands.train"]
    shared = ["--workers", str(workers)] if workers > 1 else []
    command = [*module, *given, *COMMON, "--out", str(folder), *shared]
    subprocess.run(command, check=True, capture_output=True)
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    first, last = entries[0], entries[-1]
    count = last["update"] - first["update"]
    states = sum(entry["states"] for entry in entries) / len(entries)
    return (last["seconds"] - first["seconds"]) / count, states, weights_of(folder)


def weights_of(folder: Path) -> int:
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint

    policy = load_checkpoint(folder / "last.safetensors").policy
    return sum(weight.numel() for weight in policy.parameters())


def measure(trainer: str, workers: int, rounds: int, updates: int) -> Measured:
    """Medians of rounds, one worker and several in turns."""
    found: dict[int, list[float]] = {1: [], workers: []}
    states, weights = 0.0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for number in range(rounds):
            for count, times in found.items():
                folder = Path(scratch) / f"{count}-{number}"
                seconds, states, weights = seconds_of(trainer, count, folder, updates)
                times.append(seconds)
                say(f"{trainer}, {count} workers: {seconds:.4f} s an update")
    return Measured(trainer, {count: median(t) for count, t in found.items()}, states, weights)


def ring(workers: int, numbers: int) -> tuple[float, float]:
    """Seconds of an all-reduce of nothing, and of as many numbers as a policy has."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "ring.py"
        file.write_text(RING, "utf-8")
        run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(workers)]
        done = subprocess.run(
            [sys.executable, *run, str(file), str(numbers)],
            check=True,
            capture_output=True,
            text=True,
        )
    least, whole = (float(line) for line in done.stdout.split())
    return least, whole


def modelled(own: Measured, workers: int, least: float, whole: float, count: int) -> float:
    """Seconds of an update by `count` workers: c / count + r + a ring of that many."""
    one, several = own.seconds[1], own.seconds[workers]
    shared = min(one, (one - several) * workers / (workers - 1))  # c
    steps, bytes_ = 2 * (count - 1), 2 * (count - 1) / count
    own_steps, own_bytes = 2 * (workers - 1), 2 * (workers - 1) / workers
    talk = steps * least / own_steps + bytes_ * (whole - least) / own_bytes
    return shared / count + (one - shared) + talk


def page(
    measured: list[Measured], workers: int, times: tuple[float, float], machine: str
) -> list[str]:
    head = "| trainer | states/s, 1 | states/s, {n} | times | weights, kB | {model} |"
    model = " | ".join(f"modelled, {count}" for count in MODELLED)
    lines = [
        "# One worker and several",
        "",
        "    python -m benchmarks.waits.workers",
        "",
        f"States learned from per second of training, {machine}; medians of alternating runs. An",
        f"all-reduce between {workers} processes takes {1e6 * times[0]:.0f} µs for one number and "
        f"{1e6 * times[1]:.0f} µs for all gradients.",
        "*modelled*: how many times as fast so many would be, each on a core of its own,",
        "by c / W + r + the all-reduce of a ring of W; an extrapolation, not a measurement.",
        "",
        head.format(n=workers, model=model),
        "|" + " --- |" * (5 + len(MODELLED)),
    ]
    for own in measured:
        rates = [own.states / own.seconds[count] for count in (1, workers)]
        ups = [own.seconds[1] / modelled(own, workers, *times, count=count) for count in MODELLED]
        cells = [
            own.trainer,
            *(f"{rate:,.0f}" for rate in rates),
            f"{own.speed_up(workers):.2f}",
            f"{4 * own.weights / 1000:.0f}",
            *(f"{up:.1f}" for up in ups),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = results_parser(__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=80)
    options = parser.parse_args(arguments)
    before = load_average()
    measured = [
        measure(trainer, options.workers, options.rounds, options.updates) for trainer in RUNS
    ]
    times = ring(options.workers, max(own.weights for own in measured))
    machine = f"{cpu_model()}, load before {before[0]}"
    record = {
        **provenance(load=[before, load_average()]),
        "rounds": options.rounds,
        "ring_seconds": times,
        "rows": [vars(own) for own in measured],
    }
    publish(options.output, "workers", page(measured, options.workers, times, machine), record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
