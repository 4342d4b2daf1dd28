"""How fast are others' environments? One core, one run, by turns: build/bench/peers.json out.

    python -m benchmarks.speed.peers                                  all, about half an hour
    python -m benchmarks.speed.peers --problems tsp --nodes 20 --batches 64

Goes on where it was stopped: a case that the record has is kept, unless --again is given.

RL4CO and Jumanji run in an environment of their own, which is made in build/peers/env at first
(torch, then both: about 2 GB; `--others` names a folder to use instead), each in a process that
waits while the others play. Random legal picks, made off the clock; only `scan` of Jumanji picks
in the call that is timed, since that is what one call of many steps is. Resets are on the clock,
which counts CPU time and takes half a microsecond to read: a fifth of a step of one graph of ours.
Colouring: nodes coloured per second, which are two picks of ours.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from benchmarks.foreign.environment import PACKAGES, interpreter, versions
from benchmarks.foreign.talk import Contestant, Failed
from benchmarks.frame import aligned, heading, say, show, speed_parser
from benchmarks.machine import ROOT, load_average, pin_to_one_core, provenance
from gnarl_compiler.build.files import write_whole

if TYPE_CHECKING:
    from benchmarks.speed.contestants import Tally

SLICES = 3  # turns of each contestant in a repetition
POOL = 64  # instances of ours at most
ROOM = 1_500  # megabytes that a batch of ours, or of theirs, may take


@dataclass(frozen=True)
class Problem:
    """A problem that others have, too."""

    spec: str
    pair_bytes: int  # that ours or theirs keeps for each pair of nodes, about
    picks: int = 1  # of ours that are one of theirs


PROBLEMS = {
    "tsp": Problem("tsp_points", 1),
    "cvrp": Problem("vehicle_routing", 1),
    "coverage": Problem("max_coverage", 1),
    "colouring": Problem("graph_colouring", 6, picks=2),
}
NODES, BATCHES = (20, 100, 1000), (1, 64, 1024)
ORDER = ("ours", "by hand", "RL4CO", "Jumanji", "Jumanji scan")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON."""
    options = parse_options(arguments)
    python = interpreter(options.others)
    core, before = pin_to_one_core(), load_average()
    about = {
        "others": versions(python),
        "installed": [list(step) for step in PACKAGES],
        "repetitions": options.repetitions,
        "seconds": options.seconds,
    }

    def record(figures: list[dict[str, Any]]) -> dict[str, Any]:
        source = provenance(core=core, load=[before, load_average()])
        return {"provenance": source, **about, "figures": figures}

    known = [] if options.again else known_figures(options.output)
    for figures in measure(options, python, known):
        write(options.output, record(figures))
    whole = record(known_figures(options.output))
    show(options.output, whole, report_text(whole))
    return 0


def known_figures(path: Path) -> list[dict[str, Any]]:
    """The cases of a record, in the order of the plan."""
    if not path.is_file():
        return []
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["figures"]
    return sorted(found, key=lambda f: (list(PROBLEMS).index(f["problem"]), f["nodes"], f["batch"]))


def write(path: Path, record: dict[str, Any]) -> None:
    """The record so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, (json.dumps(record, indent=2) + "\n").encode())


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = speed_parser(__doc__, "peers")
    folder = ROOT / "build" / "peers" / "env"
    parser.add_argument("--others", type=Path, default=folder, help="environment of the others")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--nodes", nargs="+", type=int, default=list(NODES))
    parser.add_argument("--batches", nargs="+", type=int, default=list(BATCHES))
    parser.add_argument("--again", action="store_true", help="forget the cases of the record")
    parser.add_argument("--repetitions", type=int, default=3, help="slices per figure (median)")
    parser.add_argument("--seconds", type=float, default=0.6, help="length of a slice of time")
    return parser.parse_args(arguments)


def measure(
    options: argparse.Namespace, python: Path, known: list[dict[str, Any]]
) -> Iterator[list[dict[str, Any]]]:
    """All cases so far, after each that was measured: all contestants by turns."""
    figures = list(known)
    there = {(found["problem"], found["nodes"], found["batch"]) for found in known}
    sizes = [(nodes, batch) for nodes in options.nodes for batch in options.batches]
    cases = [(problem, *size) for size in sizes for problem in options.problems]
    with ExitStack() as stack:
        others = {
            "RL4CO": Contestant(python, "side_rl4co"),
            "Jumanji": Contestant(python, "side_jumanji"),
            "Jumanji scan": Contestant(python, "side_jumanji", ["scan"]),
        }
        for contestant in others.values():
            stack.enter_context(contestant)
        for problem, nodes, batch in cases:
            if (problem, nodes, batch) in there:
                continue
            say(f"{problem}, {nodes} nodes, batch {batch}")
            load = load_average()[0]
            figure = measure_case(problem, nodes, batch, others, options)
            figures = [*figures, {**figure, "load": load}]
            yield figures


Slice = Callable[[float], float]  # seconds in, steps per second of a core out


def measure_case(
    problem: str, nodes: int, batch: int, others: dict[str, Contestant], options: argparse.Namespace
) -> dict[str, Any]:
    """Medians of steps per second, and why somebody has none."""
    about = PROBLEMS[problem]
    rates: dict[str, list[list[float]]] = {}
    missing: dict[str, str] = {}
    turns: dict[str, Slice] = {}
    if batch * nodes**2 * about.pair_bytes > ROOM * 1e6:
        missing = dict.fromkeys(ORDER, f"more than {ROOM} MB")
    else:
        turns["ours"] = our_turn(about, nodes, batch)
        if problem == "tsp" and batch == 1:
            turns["by hand"] = hand_turn(nodes)
        for name, other in others.items():
            try:
                other.ask("prepare", problem=problem, nodes=nodes, batch=batch)
                turns[name] = their_turn(other)
            except Failed as error:
                missing[name] = str(error)
    for _ in range(options.repetitions):
        own: dict[str, list[float]] = {name: [] for name in turns}
        for _ in range(SLICES):
            for name, turn in turns.items():
                own[name].append(turn(options.seconds / SLICES))
        for name, parts in own.items():
            rates.setdefault(name, []).append(parts)
    found = {name: median(sum(parts) / SLICES for parts in own) for name, own in rates.items()}
    say("    " + ", ".join(f"{name} {rate:,.0f}" for name, rate in found.items()))
    case = {"problem": problem, "nodes": nodes, "batch": batch}
    return {**case, "rates": found, "missing": missing, "about": asdict(about)}


def their_turn(other: Contestant) -> Slice:
    """A slice of what plays in another process."""

    def turn(seconds: float) -> float:
        told = other.ask("run", seconds=seconds)
        return float(told["steps"] / max(told["seconds"], 1e-9))

    return turn


def our_turn(about: Problem, nodes: int, batch: int) -> Slice:
    """A slice of ours: live observations, one graph by the environment of one graph."""
    import gnarl_dsl as gnarl
    from benchmarks.speed.contestants import BatchPlay, SinglePlay

    given: dict[str, Any] = {"nodes": nodes, "copy": False, "pool": min(POOL, max(8, batch))}
    if batch == 1:
        single = SinglePlay(gnarl.make(about.spec, **given), clock=process_time)
        return on_cpu_clock(single.turn, about.picks)
    venv = gnarl.make_vec(about.spec, num_envs=batch, **given)
    return on_cpu_clock(BatchPlay(venv, clock=process_time).turn, about.picks)


def hand_turn(nodes: int) -> Slice:
    """A slice of the hand-written environment of one graph."""
    from benchmarks.peers import TspEnv
    from benchmarks.speed.contestants import SinglePlay

    return on_cpu_clock(SinglePlay(TspEnv(nodes), clock=process_time).turn, 1)


def on_cpu_clock(turn: Callable[[Tally], None], picks: int) -> Slice:
    """Turns that look at the clock of the process, after a first in which something may compile."""
    from benchmarks.speed.contestants import Tally

    turn(Tally())

    def run(seconds: float) -> float:
        tally, wall = Tally(), perf_counter()
        while not tally.count or perf_counter() - wall < seconds:
            turn(tally)
        return tally.rate / picks

    return run


def report_text(record: dict[str, Any]) -> str:
    """The table of a run."""
    others = ", ".join(f"{name} {version}" for name, version in record["others"].items())
    told = (
        f"medians of {record['repetitions']} slices of {record['seconds']:g} s\n{others}\n\n"
        "steps per second, all graphs of a batch together; in brackets ours as a multiple"
    )
    rows = [cells(figure) for figure in record["figures"]]
    head = ["problem", "n", "batch", *ORDER]
    notes = dict.fromkeys(
        f"{figure['problem']} {figure['nodes']}x{figure['batch']}, {name}: {why}"
        for figure in record["figures"]
        for name, why in figure["missing"].items()
        if "no such environment" not in why
    )
    table = aligned([head, *rows])
    return "\n".join([heading(record["provenance"]) + told, "", table, *notes])


def cells(figure: dict[str, Any]) -> list[str]:
    """A row of the table."""
    rates = figure["rates"]
    ours = rates.get("ours")
    texts = [
        "-"
        if name not in rates
        else f"{rates[name]:,.0f}" + ("" if name == "ours" else f" ({ours / rates[name]:.2g}x)")
        for name in ORDER
    ]
    return [figure["problem"], str(figure["nodes"]), str(figure["batch"]), *texts]


if __name__ == "__main__":
    sys.exit(main())
