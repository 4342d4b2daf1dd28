"""A plan in, figures out: all contestants by turns, a rate per repetition and their median."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import gnarl_dsl as gnarl
from benchmarks import peers
from benchmarks.machine import ROOT
from benchmarks.speed.contestants import (
    BatchLabels,
    BatchPlay,
    Expert,
    InterpreterPlay,
    SingleLabels,
    SinglePlay,
    Tally,
    run_slice,
)
from benchmarks.speed.env_plan import EXPERTS, Case, Plan
from gnarl_compiler.algorithms.covers import min_vertex_cover
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter

PEERS: dict[str, Callable[[int], Any]] = {
    "bellman_ford": peers.BellmanFordEnv,
    "mvc": peers.MvcEnv,
    "tsp": peers.TspEnv,
    "rgc": peers.RgcEnv,
    "mst_prim": peers.MstPrimEnv,
}
LABEL_POOL = 128  # instances whose oracles are solved for bulk labels
SLICES = 4  # turns of each contestant in a repetition
WARM_UP = 8.0  # seconds at most until a batch is in the middle of its episodes
PRIME = 30.0  # seconds at most for the first episodes, compiling included
FRESH_COUNT = 16  # graphs in a batch whose compile time is measured
FRESH_NODES = 16

Say = Callable[[str], None]
Turn = Callable[[Tally], None]


@dataclass(frozen=True)
class Figure:
    """One contestant in one case: counts per second of a core, a number per repetition."""

    spec: str
    nodes: int
    contestant: str
    rates: list[float]
    between_resets: list[float]

    @property
    def rate(self) -> float:
        return median(self.rates)


@dataclass
class Measurement:
    """Everything that was measured, and what could not be."""

    figures: list[dict[str, Any]] = field(default_factory=list)
    compile: list[dict[str, Any]] = field(default_factory=list)
    memory: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def measure_all(plan: Plan, say: Say) -> Measurement:
    """Run the whole plan; a contestant that fails is noted and left out."""
    measured = Measurement()
    for number, case in enumerate(plan.cases, 1):
        say(f"[{number}/{len(plan.cases)}] {case}")
        for figure in measure_case(case, plan, say, measured.failures):
            measured.figures.append({**asdict(figure), "rate": figure.rate})
    for spec in plan.compiled:
        say(f"compile time: {spec}")
        note(measured.compile, measured.failures, spec, partial(compile_time, spec))
    for case in plan.weighed:
        say(f"memory: {case}")
        count = plan.num_envs
        note(measured.memory, measured.failures, str(case), partial(memory, case, count))
    return measured


def note(
    into: list[dict[str, Any]], failures: list[str], what: str, run: Callable[[], dict[str, Any]]
) -> None:
    """Add a measurement, or the reason why there is none."""
    try:
        into.append(run())
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        failures.append(f"{what}: {error}")


# Steps and labels


def measure_case(case: Case, plan: Plan, say: Say, failures: list[str]) -> list[Figure]:
    """All contestants by turns, a short slice each, so that all meet the same machine."""
    turns: dict[str, Turn] = {}
    for name, build in contestants(case, plan).items():
        try:
            turns[name] = build()
        except Exception as error:  # any failure of a contestant must not stop the others
            failures.append(f"{case} {name}: {type(error).__name__}: {error}")
    tallies = {name: [Tally() for _ in range(plan.repetitions)] for name in turns}
    for repetition in range(plan.repetitions * SLICES):
        for name, turn in turns.items():
            run_slice(turn, plan.seconds / SLICES, tallies[name][repetition // SLICES])
    figures = [figure_of(case, name, own) for name, own in tallies.items()]
    for figure in figures:
        say(f"    {figure.contestant:<18} {figure.rate:>14,.0f} /s")
    return figures


def figure_of(case: Case, name: str, tallies: list[Tally]) -> Figure:
    """The tallies of a contestant as figures."""
    rates = [tally.rate for tally in tallies]
    between = [tally.rate_between_resets for tally in tallies]
    return Figure(case.spec, case.nodes, name, rates, between)


def contestants(case: Case, plan: Plan) -> dict[str, Callable[[], Turn]]:
    """Who takes part in a case, by name; each is built, and warmed up, when called."""
    entries: dict[str, Callable[[], Turn]] = {
        "interpreter": lambda: interpreter_turn(case),
        "single": lambda: single_turn(case, copy=True),
        "single_live": lambda: single_turn(case, copy=False),
        "batch": lambda: batch_turn(case, plan, copy=True),
        "batch_live": lambda: batch_turn(case, plan, copy=False),
    }
    if case.spec in PEERS:
        entries["peer"] = lambda: warmed(SinglePlay(PEERS[case.spec](case.nodes)).turn)
    if case.spec in EXPERTS:
        entries["peer_labels"] = lambda: warmed(peer_labels(case).turn)
        entries["batch_labels"] = lambda: label_turn(case, plan)
    return entries


def warmed(turn: Turn) -> Turn:
    """The same after a first turn, which may compile something."""
    turn(Tally())
    return turn


def single_turn(case: Case, copy: bool) -> Turn:
    """Our environment for one graph; with `copy` every step returns observations of its own."""
    return warmed(SinglePlay(gnarl.make(case.spec, nodes=case.nodes, copy=copy)).turn)


def interpreter_turn(case: Case) -> Turn:
    """The interpreter on a few training instances."""
    problem = gnarl.load(case.spec)
    family = families(choose_split(problem, "train"))[0]
    instances = [draw_instance(problem, family, 0, k, nodes=case.nodes) for k in range(4)]
    return warmed(InterpreterPlay(Interpreter(problem), instances).turn)


def batch_turn(case: Case, plan: Plan, copy: bool) -> Turn:
    """Our batch; with `copy` every step returns observations of its own."""
    prime(BatchPlay, case)
    venv = gnarl.make_vec(case.spec, num_envs=plan.num_envs, nodes=case.nodes, seed=0, copy=copy)
    play = BatchPlay(venv)
    play.warm_up(min(WARM_UP, 10 * plan.seconds))
    return play.turn


def prime(player: type[BatchPlay], case: Case, **options: Any) -> None:
    """Play whole episodes in a small batch: kernels compile when first called, some at an end."""
    venv = gnarl.make_vec(case.spec, num_envs=2, nodes=case.nodes, seed=0, pool=2, **options)
    player(venv).warm_up(PRIME)


def label_turn(case: Case, plan: Plan) -> Turn:
    """The expert of our batch, on states along its own episodes."""
    expert = EXPERTS[case.spec]
    prime(BatchLabels, case, expert=expert)
    venv = gnarl.make_vec(
        case.spec,
        num_envs=plan.num_envs,
        nodes=case.nodes,
        seed=0,
        pool=LABEL_POOL,
        expert=expert,
        copy=False,
    )
    play = BatchLabels(venv)
    play.warm_up(min(WARM_UP, 10 * plan.seconds))
    return play.turn


def peer_labels(case: Case) -> SingleLabels:
    """The hand-written expert of a problem."""
    prepare: dict[str, Callable[[Any], Expert]] = {
        "bellman_ford": lambda env: peers.bellman_ford_expert,
        "mvc": cover_expert,
        "tsp": lambda env: peers.tsp_expert,
    }
    return SingleLabels(PEERS[case.spec](case.nodes), prepare[case.spec])


def cover_expert(env: Any) -> Expert:
    """The expert for one graph, its optimal cover solved beforehand."""
    tags = np.arange(env.nodes, dtype=np.uint64)
    best = min_vertex_cover(Graph(False, env.adjacency), env.weights, tags=tags)
    return partial(peers.mvc_expert, best=best)


# Compile time and memory, each in a process of its own


def compile_time(spec: str) -> dict[str, Any]:
    """Seconds from a spec to a stepped batch, with nothing cached and then with everything."""
    with tempfile.TemporaryDirectory(prefix="gnarl-bench-") as folder:
        caches = {"GNARL_CACHE": folder, "NUMBA_CACHE_DIR": os.path.join(folder, "numba")}
        runs = [fresh("compile", spec, FRESH_NODES, FRESH_COUNT, caches) for _ in range(2)]
    return {"spec": spec, "first": runs[0], "cached": runs[1]}


def memory(case: Case, count: int) -> dict[str, Any]:
    """Megabytes of a batch of graphs."""
    weights = fresh("memory", case.spec, case.nodes, count, {})
    return {"spec": case.spec, "nodes": case.nodes, "num_envs": count, **weights}


def fresh(what: str, spec: str, nodes: int, count: int, extra: dict[str, str]) -> dict[str, float]:
    """One measurement in a new process on the same core."""
    command = [sys.executable, "-m", "benchmarks.speed.fresh", what, spec, str(nodes), str(count)]
    run = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **extra}, capture_output=True, text=True
    )
    if run.returncode:
        last = run.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"{what} failed: {last[0]}")
    result: dict[str, float] = json.loads(run.stdout)
    return result
