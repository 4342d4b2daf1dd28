"""A trained policy on a folder of TSPLIB files: per cent above the known optima, time and memory.

    python -m benchmarks.studies.tsplib FOLDER                   the weights that come with GNARL
    python -m benchmarks.studies.tsplib FOLDER --run runs/tsp --most-nodes 300

The folder holds .tsp files and optima.json, which maps their names to the lengths of optimal tours
under TSPLIB's rounded distances. Each file is solved by a `gnarl-solve` of its own. The table and
its JSON go to docs/results.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.frame import publish, results_parser
from benchmarks.machine import (
    load_average,
    pin_to_one_core,
    provenance,
    short,
)


def main(arguments: list[str] | None = None) -> int:
    """Solve, print the table, write both files."""
    options = parse_options(arguments)
    pin_to_one_core()
    files = instances_of(options.folder, options.most_nodes)
    if not files:
        print(f"{options.folder}: expected .tsp files and optima.json, found none", file=sys.stderr)
        return 1
    policy = [str(options.run)] if options.run else ["--pretrained", "tsp"]
    before, rows = load_average(), []
    for number, (file, optimum) in enumerate(files, 1):
        print(f"[{number}/{len(files)}] {file.name}", file=sys.stderr, flush=True)
        rows.append(solved(file, optimum, policy))
    load = [before, load_average()]
    record = {"rows": rows, "policy": policy, "provenance": provenance(load=load)}
    publish(options.output, "tsplib", lines_of(record), record)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--run", type=Path, metavar="RUN", help="a run folder or checkpoint")
    parser.add_argument("--most-nodes", type=int, default=2000, help="leave larger ones out")
    return parser.parse_args(arguments)


def instances_of(folder: Path, most_nodes: int) -> list[tuple[Path, float]]:
    """The files whose optimum is known, the small ones first."""
    known = folder / "optima.json"
    optima = json.loads(known.read_text("utf-8")) if known.is_file() else {}
    files = [(nodes_of(file), file) for file in folder.glob("*.tsp") if file.stem in optima]
    return [(file, optima[file.stem]) for nodes, file in sorted(files) if nodes <= most_nodes]


def nodes_of(file: Path) -> int:
    lines = file.read_text("utf-8").splitlines()
    return int(next(line.split(":")[1] for line in lines if line.startswith("DIMENSION")))


def solved(file: Path, optimum: float, policy: list[str]) -> dict[str, Any]:
    """The tour of one file; lengths as TSPLIB rounds them, sizes as in training."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "solution.json"
        command = [str(Path(sys.executable).with_name("gnarl-solve")), *policy]
        command += ["--data", str(file), "--rescale", "--rounded", "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (solution,) = json.loads(out.read_text("utf-8"))["solutions"]
    length = -solution["objective"]
    return {
        "instance": file.stem,
        "nodes": solution["nodes"],
        "optimum": optimum,
        "length": length,
        "excess": 100 * (length / optimum - 1),
        "seconds": solution["seconds"],
        # Of all processes so far; they come by size, so the last one had the most.
        "peak_megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10,
    }


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    source, rows = record["provenance"], record["rows"]
    policy = " ".join(record["policy"])
    yield "# TSPLIB, per cent above the known optimum"
    yield ""
    yield "    python -m benchmarks.studies.tsplib FOLDER"
    yield ""
    yield (
        f"Best picks of `{policy}`, one core ({source['cpu']}, load {source['load'][0][0]}), at "
        f"{short(source['commit'])}. Memory is that of the largest process so far."
    )
    yield ""
    yield "| instance | nodes | optimum | tour | above, % | s | MB |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        yield (
            f"| {row['instance']} | {row['nodes']} | {row['optimum']:,} | {row['length']:,.0f} | "
            f"{row['excess']:.1f} | {row['seconds']:.1f} | {row['peak_megabytes']:.0f} |"
        )
    yield f"| mean | | | | {mean(row['excess'] for row in rows):.1f} | | |"


if __name__ == "__main__":
    sys.exit(main())
