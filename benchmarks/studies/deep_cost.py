"""What the settings for deep graphs cost on shallow ones: milliseconds of a pass and of an update.

    python -m benchmarks.studies.deep_cost
    python -m benchmarks.studies.deep_cost --spec mst_prim --seconds 2

256 states of training graphs, by turns: each setting a little, three times over; medians of CPU
time. Nothing is written.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from statistics import median

from benchmarks.frame import aligned
from benchmarks.machine import load_average, pin_to_one_core

CHAINS, FIRSTS = {"policy.chains": True}, {"policy.chains": True, "policy.firsts": 4}
SETTINGS: Mapping[str, Mapping[str, bool | int]] = {
    "nothing": {},
    "chains": CHAINS,
    "chains, firsts = 4": FIRSTS,
    "whole": {"policy.whole": True},
    "tied": {"policy.tied": True},
    "all of them": {**FIRSTS, "policy.whole": True, "policy.tied": True},
}
TURNS = 3


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    options = parse_options(arguments)
    pin_to_one_core()
    before = load_average()
    works = {name: works_of(options.spec, setting) for name, setting in SETTINGS.items()}
    found: dict[str, list[list[float]]] = {name: [[], [], []] for name in works}
    for _ in range(TURNS):
        for name, work in works.items():
            for times, step in zip(found[name], work, strict=True):
                times.append(milliseconds(step, options.seconds))
    rows = [["setting", "packing", "forward", "update"]]
    rows += [[name, *(f"{median(t):.2f}" for t in times)] for name, times in found.items()]
    print(aligned(rows))
    print(f"load {before} before, {load_average()} after")
    return 0


def works_of(spec: str, setting: Mapping[str, bool | int]) -> list[Callable[[], object]]:
    """Packing, a pass without gradients, and a whole update of imitation."""
    import torch

    import gnarl_dsl as gnarl
    from gnarl_runtime.batch.pack import pack
    from gnarl_runtime.checkpoints.recipe_files import load_recipe, set_keys
    from gnarl_runtime.network.policy import prepare_torch
    from gnarl_runtime.training.imitation.imitation import ImitationTrainer

    prepare_torch(1)
    recipe = set_keys(load_recipe("bfs"), {"data.pool": 500, "bc.updates": 10**6, **setting})
    trainer = ImitationTrainer(gnarl.load(spec), recipe, 0)
    engine, policy = trainer.engine, trainer.policy
    packed = pack(engine.batch, engine.environments, policy.signature)

    def forward() -> object:
        with torch.inference_mode():
            return policy(packed)

    return [
        lambda: pack(engine.batch, engine.environments, policy.signature),
        forward,
        trainer.update,
    ]


def milliseconds(step: Callable[[], object], seconds: float) -> float:
    """CPU time of one, after one that does not count."""
    step()
    count, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
        step()
        count += 1
    return 1000 * spent / count


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    first = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(description=first)
    parser.add_argument("--spec", default="bfs")
    parser.add_argument("--seconds", type=float, default=0.7, help="for each figure of a turn")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
