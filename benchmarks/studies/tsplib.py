"""A trained policy on a folder of TSPLIB files: per cent above the known optima, time and memory.

    python -m benchmarks.studies.tsplib FOLDER                   the weights that come with GNARL
    python -m benchmarks.studies.tsplib FOLDER --pretrained tsp_insertion
    python -m benchmarks.studies.tsplib FOLDER --run runs/tsp --most-nodes 300
    python -m benchmarks.studies.tsplib FOLDER --search time:10 --most-searched 200
    python -m benchmarks.studies.tsplib FOLDER --search time:10 --least-searched 201 --undriven

With --search, tours are searched for, too, on the smaller instances; best picks that the record has
of the same policy are not played again, nor is what lies below --least-searched. With --undriven
the spec is searched by itself, whatever the size: its experts and chance, no policy. The folder
holds .tsp files and optima.json, which maps their names to the lengths of optimal tours under
TSPLIB's rounded distances. Each file is solved by a `gnarl-solve` of its own. The table and its
JSON go to docs/results, those of other weights than `tsp` under their name.
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

UNDRIVEN = "tsp"  # the spec that is searched by itself


def main(arguments: list[str] | None = None) -> int:
    """Solve, print the table, write both files."""
    options = parse_options(arguments)
    pin_to_one_core()
    files = instances_of(options.folder, options.most_nodes)
    if not files:
        print(f"{options.folder}: expected .tsp files and optima.json, found none", file=sys.stderr)
        return 1
    policy = [str(options.run)] if options.run else ["--pretrained", options.pretrained]
    name = "tsplib" if options.pretrained == "tsp" else f"tsplib_{options.pretrained}"
    before = load_average()
    old = kept_record(options.output / f"{name}.json", policy) if options.search else None
    known = {row["instance"]: row for row in old["rows"]} if old else {}
    rows = []
    for number, (file, optimum) in enumerate(files, 1):
        print(f"[{number}/{len(files)}] {file.name}", file=sys.stderr, flush=True)
        rows.append(known.get(file.stem) or solved(file, optimum, policy))
        if not options.search or rows[-1]["nodes"] < options.least_searched:
            continue
        if rows[-1]["nodes"] <= options.most_searched:
            rows[-1] = rows[-1] | {"searched": solved(file, optimum, policy, options.search)}
        if options.undriven:
            alone = solved(file, optimum, ["--spec", UNDRIVEN], options.search)
            rows[-1] = rows[-1] | {"undriven": alone}
    source = provenance(load=[before, load_average()])
    record = {"rows": rows, "policy": policy, "provenance": old["provenance"] if old else source}
    if options.search:
        old_source = old.get("searched", source) if old and options.least_searched else source
        record |= {"search": options.search, "searched": old_source}
        if options.undriven:
            record["undriven"] = source
    publish(options.output, name, lines_of(record), record)
    return 0


def kept_record(file: Path, policy: list[str]) -> dict[str, Any] | None:
    """What was written before, if it is of the same policy."""
    record = dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}
    return record if record.get("policy") == policy else None


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pretrained", default="tsp", metavar="NAME", help="default tsp")
    parser.add_argument("--run", type=Path, metavar="RUN", help="a run folder or checkpoint")
    parser.add_argument("--most-nodes", type=int, default=2000, help="leave larger ones out")
    parser.add_argument("--search", metavar="HOW", help="search, too (docs/search.md)")
    told = "larger instances are not searched by the policy (default 200)"
    parser.add_argument("--most-searched", type=int, default=200, help=told)
    told = "smaller instances keep what the record has of searches (default 0)"
    parser.add_argument("--least-searched", type=int, default=0, help=told)
    parser.add_argument("--undriven", action="store_true", help="search without the policy, too")
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


def solved(file: Path, optimum: float, policy: list[str], search: str = "picks") -> dict[str, Any]:
    """The tour of one file; lengths as TSPLIB rounds them, sizes as in training."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "solution.json"
        command = [str(Path(sys.executable).with_name("gnarl-solve")), *policy]
        command += ["--data", str(file), "--rescale", "--rounded", "--search", search]
        command += ["--out", str(out)]
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
        "search": solution["search"],
        # Of all processes so far; they come by size, so the last one had the most.
        "peak_megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10,
    }


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    source, rows = record["provenance"], record["rows"]
    policy = " ".join(record["policy"])
    yield "# TSPLIB, per cent above the known optimum"
    yield ""
    own = record["policy"] if record["policy"][:1] == ["--pretrained"] else []
    own = own if own != ["--pretrained", "tsp"] else []
    yield " ".join(["    python -m benchmarks.studies.tsplib FOLDER", *own])
    yield ""
    yield (
        f"Best picks of `{policy}`, one core ({source['cpu']}, load {source['load'][0][0]}), at "
        f"{short(source['commit'])}. Memory is that of the largest process so far."
    )
    yield ""
    search = record.get("search")
    if search:
        told = [record[key] for key in ("searched", "undriven") if key in record]
        loads = [moment[0] for source in told for moment in source["load"]]
        yield (
            f"Searched by `--search {search}` where an episode of the policy takes less (load "
            f"{min(loads)} to {max(loads)}): seconds and the `work:N` that they came to, which "
            "repeats the tour. Of larger ones an episode alone takes longer."
        )
        yield ""
    alone = record.get("undriven")
    if alone:
        load = alone["load"]
        yield (
            f"*By itself*: `gnarl-solve --spec {UNDRIVEN} --search {search}`, so experts and "
            f"chance without a policy (load {load[0][0]} to {load[1][0]})."
        )
        yield ""
    heads = ["instance", "nodes", "optimum", "tour", "above, %", "s", "MB"]
    heads += ["searched, above, %", "s", "work:N"] if search else []
    heads += ["by itself, above, %", "work:N"] if alone else []
    yield _line(heads)
    yield _line(["---", *["---:"] * (len(heads) - 1)])
    for row in rows:
        cells = [*_picked(row), *(_searched(row.get("searched")) if search else [])]
        yield _line([*cells, *(_alone(row.get("undriven")) if alone else [])])
    blank = [""] * len(heads)
    yield _line(["mean", *blank[1:4], f"{mean(row['excess'] for row in rows):.1f}", *blank[5:]])
    for key, place in (("searched", 7), ("undriven", 10)):
        some = [row for row in rows if key in row]
        if some:
            means = [f"{mean(row['excess'] for row in some):.2f}", *blank[5:]]
            means[place - 4] = f"{mean(row[key]['excess'] for row in some):.2f}"
            yield _line([f"mean of {len(some)}", *blank[1:4], *means])


def _picked(row: dict[str, Any]) -> list[str]:
    return [
        row["instance"],
        str(row["nodes"]),
        f"{row['optimum']:,}",
        f"{row['length']:,.0f}",
        f"{row['excess']:.1f}",
        f"{row['seconds']:.1f}",
        f"{row['peak_megabytes']:.0f}",
    ]


def _searched(row: dict[str, Any] | None) -> list[str]:
    if row is None:
        return ["", "", ""]
    work = str(row["search"]).removeprefix("work:")
    return [f"{row['excess']:.2f}", f"{row['seconds']:.1f}", work]


def _alone(row: dict[str, Any] | None) -> list[str]:
    if row is None:
        return ["", ""]
    return [f"{row['excess']:.2f}", str(row["search"]).removeprefix("work:")]


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
