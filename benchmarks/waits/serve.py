"""How many graphs a second a server solves, how long each waits: a table, build/bench/serve.json.

python -m benchmarks.waits.serve
python -m benchmarks.waits.serve --graphs 200 --at-once 1,8

Every answer is compared with that of `gnarl.solve`: none may be lost, none may differ.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypedDict

import httpx
import numpy as np

import gnarl_dsl as gnarl
from benchmarks.frame import show, speed_parser
from benchmarks.machine import load_average, processor_time, provenance
from gnarl_compiler.graphs.instance import Instance
from gnarl_runtime.api.policies import load_policy

POLICY, NODES, ALONE = "mvc", 64, 100


class Row(TypedDict):
    what: str
    graphs: int
    a_second: float
    median_ms: float
    p90_ms: float
    p99_ms: float
    worst_ms: float
    cpu_ms: float  # of whoever solves, per graph
    lost: int
    different: int


def row(
    what: str, whole: float, times: Sequence[float], worked: float, lost: int, different: int
) -> Row:
    ms = 1e3 * np.asarray(times)
    return {
        "what": what,
        "graphs": len(times) + lost,
        "a_second": round(len(times) / whole, 1),
        "median_ms": round(float(np.median(ms)), 1),
        "p90_ms": round(float(np.quantile(ms, 0.9)), 1),
        "p99_ms": round(float(np.quantile(ms, 0.99)), 1),
        "worst_ms": round(float(ms.max()), 1),
        "cpu_ms": round(worked / max(1, len(times)), 2),
        "lost": lost,
        "different": different,
    }


def as_json(instance: Instance) -> dict[str, Any]:
    weights = np.asarray(instance.inputs["w"], np.float64)
    return {
        "nodes": [{"id": v, "w": float(weights[v])} for v in range(instance.graph.n)],
        "edges": [{"source": u, "target": v} for u, v in instance.graph.edges().tolist()],
    }


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """The command in a process of its own: where to POST, and its number."""
    command = [sys.executable, "-m", "gnarl_runtime.commands.servers.serve", POLICY, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[1], process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def one_by_one(drawn: Sequence[Instance]) -> tuple[Row, list[float]]:
    """`gnarl.solve` with the policy in memory, a graph at a time; and what it finds for all."""
    trained = load_policy(POLICY)
    gnarl.solve(trained, drawn[0])
    times, began, cpu = [], time.perf_counter(), time.process_time()
    for instance in drawn[:ALONE]:
        before = time.perf_counter()
        gnarl.solve(trained, instance)
        times.append(time.perf_counter() - before)
    worked = 1e3 * (time.process_time() - cpu)
    own = row("gnarl.solve, one by one", time.perf_counter() - began, times, worked, 0, 0)
    found = gnarl.solve(trained, list(drawn))
    return own, [solution.objective or 0.0 for solution in found]


async def ask(
    where: tuple[str, int],
    bodies: Sequence[dict[str, Any]],
    wanted: Sequence[float],
    at_once: int,
) -> Row:
    """All graphs, so many requests under way at any time."""
    address, pid = where
    times: list[float] = []
    lost = different = 0
    numbers = iter(range(len(bodies)))

    async def person(client: httpx.AsyncClient) -> None:
        nonlocal lost, different
        for number in numbers:
            before = time.perf_counter()
            reply = await client.post(address, json={"graph": bodies[number]})
            if reply.status_code != 200:
                lost += 1
                continue
            times.append(time.perf_counter() - before)
            different += abs(reply.json()["objective"] - wanted[number]) > 1e-6

    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        began, cpu = time.perf_counter(), processor_time(pid)
        await asyncio.gather(*(person(client) for _ in range(at_once)))
        whole, worked = time.perf_counter() - began, processor_time(pid) - cpu
    return row(f"gnarl-serve, {at_once} at once", whole, times, worked, lost, different)


def measure(graphs: int, at_once: Sequence[int]) -> list[Row]:
    drawn = gnarl.draw(POLICY, count=graphs, nodes=NODES, seed=2709, split="test")
    alone, wanted = one_by_one(drawn)
    bodies = [as_json(instance) for instance in drawn]
    rows = [alone]
    with server() as where:
        asyncio.run(ask(where, bodies[:32], wanted, 4))  # warm
        for people in at_once:
            some = bodies[:ALONE] if people == 1 else bodies
            rows.append(asyncio.run(ask(where, some, wanted, people)))
    return rows


def report_lines(rows: Sequence[Row]) -> Iterator[str]:
    heads = ("graphs", "a second", "median", "90 %", "99 %", "CPU", "lost", "different")
    yield f"{f'{POLICY}, {NODES} nodes; ms':28}" + "".join(f" {head:>9}" for head in heads)
    for own in rows:
        figures = (own["graphs"], own["a_second"], own["median_ms"], own["p90_ms"], own["p99_ms"])
        told = (*figures, own["cpu_ms"], own["lost"], own["different"])
        yield f"{own['what']:28}" + "".join(f" {figure:9}" for figure in told)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON; 1 if an answer is missing or wrong."""
    parser = speed_parser(__doc__, "serve")
    parser.add_argument("--graphs", type=int, default=1_000)
    parser.add_argument("--at-once", default="1,8,32,64", help="requests under way")
    options = parser.parse_args(arguments)
    before = load_average()
    rows = measure(options.graphs, [int(word) for word in options.at_once.split(",")])
    record = {**provenance(load=before, load_after=load_average()), "rows": rows}
    show(options.output, record, "\n".join(report_lines(rows)))
    return int(any(own["lost"] or own["different"] for own in rows))


if __name__ == "__main__":
    sys.exit(main())
