"""What needs a fresh process in, one line of JSON out; `benchmarks.speed.env` starts it.

python -m benchmarks.speed.fresh compile|memory SPEC N COUNT
"""

from __future__ import annotations

import sys
from time import perf_counter, process_time
from typing import Any

from benchmarks.machine import memory_megabytes

STEPS = 20  # of a batch whose memory is measured


def main(arguments: list[str]) -> int:
    """Run one measurement and print it."""
    import json

    what, spec, nodes, count = arguments
    measure = {"compile": time_to_first_step, "memory": memory_of_batch}[what]
    print(json.dumps(measure(spec, int(nodes), int(count))))
    return 0


def time_to_first_step(spec: str, nodes: int, count: int) -> dict[str, float]:
    """From a spec's name to a stepped batch with expert labels, imports apart."""
    wall, cpu = perf_counter(), process_time()
    make_vec = front_door()
    imported, imported_cpu = perf_counter(), process_time()
    venv = make_vec(
        spec, num_envs=count, nodes=nodes, seed=0, pool=count, expert=quick_expert(spec)
    )
    step_batch(venv, 1)
    venv.expert()
    return {
        "import": imported - wall,
        "import_cpu": imported_cpu - cpu,
        "make": perf_counter() - imported,
        "make_cpu": process_time() - imported_cpu,
    }


def memory_of_batch(spec: str, nodes: int, count: int) -> dict[str, float]:
    """What a batch of graphs adds to a process that has run a batch of one already."""
    make_vec = front_door()
    small = make_vec(spec, num_envs=1, nodes=nodes, seed=0, pool=1)
    step_batch(small, 1)
    before, _ = memory_megabytes()
    venv = make_vec(spec, num_envs=count, nodes=nodes, seed=0, pool=count)
    step_batch(venv, STEPS)
    after, peak = memory_megabytes()
    return {"before": before, "batch": after - before, "process": after, "peak": peak}


def front_door() -> Any:
    """`make_vec` with everything it imports, so that imports are timed apart."""
    import numba  # noqa: F401

    import gnarl_dsl

    return gnarl_dsl.make_vec


def quick_expert(spec: str) -> str | bool:
    """The first expert, or one that needs no slow solver."""
    return {"tsp": "nearest"}.get(spec, True)


def step_batch(venv: Any, steps: int) -> None:
    """Reset, then some legal steps: always the first node that may be picked."""
    _, info = venv.reset(seed=0)
    for _ in range(steps):
        _, _, _, _, info = venv.step(info["action_mask"].argmax(axis=1))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
