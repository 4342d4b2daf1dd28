"""Benchmarks of speed, one after another; docs/results/speed.md and .json out.

    python -m benchmarks.speed_page                      what has no record yet; then the page
    python -m benchmarks.speed_page --again env peers    these anew
    python -m benchmarks.speed_page --only               the page from the records that are there

Records are what each benchmark writes into build/bench (`--records`); one that is missing is run
with the command that the page shows, with what else it takes behind `--others`.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.frame import RESULTS, say, write_results
from benchmarks.machine import ROOT
from benchmarks.speed import env_report, peers
from benchmarks.speed_page import decisions, instances, threads
from benchmarks.studies import growth

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A benchmark, what the page says about it, and how its record becomes text."""

    title: str
    module: str
    text: Callable[[Any], str]
    about: str
    options: tuple[str, ...] = ()
    others: bool = False  # whether it takes the environment of other libraries


PARTS = {
    "env": Part(
        "Environments beside hand-written ones",
        "benchmarks.speed.env",
        env_report.report_text,
        "The hand-written ones (`benchmarks/peers`) play one graph at a time. *single* is our "
        "environment of one graph, *batch* 1,024 of them; *live* ones hand out arrays that the "
        "next step overwrites, the others fresh copies. The hand-written ones share what an "
        "episode does not change, which Gymnasium's checker refuses.",
        ("--no-fresh",),
    ),
    "peers": Part(
        "Environments beside RL4CO's and Jumanji's",
        "benchmarks.speed.peers",
        peers.report_text,
        "`tsp_points`, `vehicle_routing`, `max_coverage` and `graph_colouring`. *scan* is many "
        "steps in one compiled call, picks included: the way a trainer written in JAX plays.",
        others=True,
    ),
    "growth": Part(
        "How a step grows with the graph",
        "benchmarks.studies.growth",
        growth.report_text,
        "Graphs of the same degree.",
    ),
    "decisions": Part(
        "Trained policies, and training",
        "benchmarks.speed_page.decisions",
        decisions.report_text,
        "The same points for both.",
        others=True,
    ),
    "threads": Part(
        "A second thread",
        "benchmarks.speed_page.threads",
        threads.report_text,
        "Needs two free cores: at a higher load than their number it says nothing.",
    ),
    "instances": Part(
        "Instances",
        "benchmarks.speed_page.instances",
        instances.report_text,
        "Drawn and solved.",
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, write the page; 1 if something could not be measured."""
    options = parse_options(arguments)
    failed = 0
    for name, part in PARTS.items():
        there = record_of(options.records, name).is_file() and name not in options.again
        if not there and not options.only:
            failed |= run(name, part, options)
    found = {
        name: json.loads(record_of(options.records, name).read_text("utf-8"))
        for name in PARTS
        if record_of(options.records, name).is_file()
    }
    write_results(options.output, "speed", page(found), found)
    return failed


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--again", nargs="+", choices=PARTS, default=[], help="measure anew")
    parser.add_argument("--only", action="store_true", help="the page, without measuring")
    parser.add_argument("--records", type=Path, default=ROOT / "build" / "bench", metavar="DIR")
    parser.add_argument("--others", type=Path, help="environment of the other libraries")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="DIR")
    return parser.parse_args(arguments)


def record_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def run(name: str, part: Part, options: argparse.Namespace) -> int:
    """One benchmark in a process of its own; 1 if it failed."""
    command = ["-m", part.module, *part.options]
    given = ["--output", str(record_of(options.records, name))]
    if part.others and options.others:
        given += ["--others", str(options.others)]
    say(f"python {shlex.join(command)}")
    done = subprocess.run([sys.executable, *command, *given], cwd=ROOT, stdout=subprocess.DEVNULL)
    return int(done.returncode != 0)


def page(found: Mapping[str, Record]) -> str:
    """The page as Markdown."""
    head = (
        "# Speed\n\n"
        "    python -m benchmarks.speed_page\n\n"
        "One core, unless a table says otherwise; every table is one run in which all took turns. "
        "Above it stand the processor, the commit and the load of the machine before and after "
        "(over 1, 5 and 15 minutes). Seconds are those that a process got, which makes figures of "
        "a busy machine comparable, not those of a free one: caches are shared. Read the ratios."
    )
    return (
        "\n\n".join([head, *(section(part, found.get(name)) for name, part in PARTS.items())])
        + "\n"
    )


def section(part: Part, record: Record | None) -> str:
    """A table with its command, or that it was not measured."""
    if record is None:
        return f"## {part.title}\n\nNot measured yet: `python -m {part.module}`."
    command, table = shlex.join(record["provenance"]["command"]), part.text(record)
    head = f"## {part.title}\n\n    {shown(command)}\n\n{part.about}"
    return f"{head}\n\n```text\n{table}\n```"


def shown(command: str) -> str:
    """Without what belongs to the machine: where the record and other libraries were."""
    words, kept = shlex.split(command), list[str]()
    while words:
        word = words.pop(0)
        if word in ("--output", "--others"):
            words[:1] = []
        elif word == "--weights":
            kept += [word, "build/peers/am.pt"]
            words[:1] = []
        else:
            kept.append(word)
    return shlex.join(kept)


if __name__ == "__main__":
    sys.exit(main())
