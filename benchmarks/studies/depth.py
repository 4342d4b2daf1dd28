"""Graphs that are deeper than any of training: families and sizes, share of graphs solved.

    python -m benchmarks.studies.depth bfs=build/depth/bfs dfs=build/depth/dfs
    python -m benchmarks.studies.depth bfs=runs/bfs-seed0 --sizes 64,256 --families ws,grid

Plays the best picks of each RUN on fresh graphs, 300 of up to 64 nodes, 100 of up to 256, 10 above,
and writes docs/results/depth.md and .json after every row. Rows that are there are kept: the same
command goes on where it was stopped; `--again` measures anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import load_average, pin_to_one_core, provenance, short

SEED = 20_261  # of no training and no choice
FAMILIES = {
    "er": "er(n = {n}, p = 0.5)",
    "sparse": "er(n = {n}, p = {p})",  # six neighbours on average
    "ws": "ws(n = {n}, k = 4, p = 0.1)",
    "ba": "ba(n = {n}, m = 4)",
    "grid": "grid(n = {n})",
    "tree": "tree(n = {n})",
    "delaunay": "delaunay(n = {n})",
}
NEIGHBOURS = 6
LARGEST = {"er": 256}  # half a million edges and two thousand picks: an hour per graph
TOLD = {
    "er": "ER, p = 0.5",
    "sparse": "ER, 6 neighbours",
    "ws": "WS, k = 4, p = 0.1",
    "ba": "BA, m = 4",
    "grid": "grid",
    "tree": "tree",
    "delaunay": "Delaunay",
}
GRAPHS = ((64, 300), (256, 100), (sys.maxsize, 10))  # up to a size


def main(arguments: list[str] | None = None) -> int:
    """Play what is missing, print the table, write both files."""
    options = parse_options(arguments)
    pin_to_one_core()
    rows = [] if options.again else known_rows(options.output)
    for spec, run in options.runs:
        for size in options.sizes:
            for family in options.families:
                key = {"spec": spec, "family": family, "nodes": size}
                if size > LARGEST.get(family, size) or any(key.items() <= r.items() for r in rows):
                    continue
                say(f"{spec}, {family}, {size} nodes")
                rows.append({**key, **measured(spec, run, family, size, options.graphs)})
                record = {"rows": rows, "provenance": provenance(load=load_average())}
                publish(options.output, "depth", lines_of(record), record)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("runs", nargs="+", type=_run, metavar="SPEC=RUN")
    parser.add_argument("--sizes", type=_numbers, default=[64, 256, 1024], metavar="N,N")
    parser.add_argument("--families", type=_names, default=list(FAMILIES), metavar="NAME,NAME")
    parser.add_argument("--graphs", type=int, help="of each family and size")
    parser.add_argument("--again", action="store_true", help="measure what is there anew")
    return parser.parse_args(arguments)


def _run(text: str) -> tuple[str, Path]:
    spec, _, path = text.partition("=")
    return spec, Path(path)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in FAMILIES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]}: expected some of {', '.join(FAMILIES)}")
    return names


def known_rows(folder: Path) -> list[dict[str, Any]]:
    file = folder / "depth.json"
    rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"] if file.is_file() else []
    return rows


def measured(
    spec: str, run: Path, family: str, size: int, asked: int | None = None
) -> dict[str, Any]:
    """What a policy does on fresh graphs of one family and size."""
    import gnarl_dsl as gnarl
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.evaluation.summary import wilson
    from gnarl_runtime.instances.pools import draw_pool, pool_of
    from gnarl_runtime.network.policy import prepare_torch
    from gnarl_runtime.search.rollout import play

    prepare_torch(1)
    count = asked or next(many for most, many in GRAPHS if size <= most)
    compiled = compile_for(gnarl.load(spec))  # once: other graphs need no other kernels
    drawn = gnarl.loads(spec_text(spec, family, size))
    graphs = draw_pool(drawn, count=count, seed=SEED, split="test", oracles=compiled.oracles)
    pool = pool_of(compiled.problem, graphs.instances(), compiled.oracles)
    trained = load_checkpoint(run)
    outcomes = play(trained.policy, compiled, pool)
    low, high = wilson(float(outcomes.success.sum()), count)
    return {
        "graphs": count,
        "success": float(outcomes.success.mean()),
        "ci95": [low, high],
        "steps": float(outcomes.steps.mean()),
        "seconds_per_graph": outcomes.seconds / count,
        "updates": trained.meta.updates,
        "seed": trained.meta.seed,
    }


def spec_text(spec: str, family: str, size: int) -> str:
    """A spec with graphs of one family and size."""
    graphs = FAMILIES[family].format(n=size, p=round(NEIGHBOURS / size, 5))
    lines = "".join(f"  {split} 1  {graphs}\n" for split in ("train", "valid", "test"))
    name = f"{spec}_{family}_{size}"
    return f'gnarl 1\nproblem {name} extends {spec}\n  "Deep."\n\ninstances er\n{lines}'


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    source = record["provenance"]
    yield "# Graphs deeper than those of training, per cent solved"
    yield ""
    yield "    python -m benchmarks.studies.depth bfs=RUN dfs=RUN"
    yield ""
    yield (
        "Best picks of one policy per problem, one seed (recipes `bfs_deep` and `dfs_deep`, "
        "trained on Erdős–Rényi graphs of at most 16 nodes), on fresh graphs that no choice was "
        "made by; "
        f"[ ] is the 95 % interval. One core of {source['cpu']}, which others used, too, so "
        f"seconds are upper limits; load at the end {source['load'][0]}, "
        f"at {short(source['commit'])}."
    )
    yield ""
    yield "| problem | graphs | nodes | number | solved, % | picks | s per graph |"
    yield "|---|---|---:|---:|---|---:|---:|"
    for row in sorted(record["rows"], key=lambda r: (r["spec"], r["nodes"])):
        low, high = (100 * bound for bound in row["ci95"])
        yield (
            f"| {row['spec'].upper()} | {TOLD[row['family']]} | {row['nodes']:,} | {row['graphs']} "
            f"| {100 * row['success']:.1f} [{low:.1f}, {high:.1f}] | {row['steps']:.0f} "
            f"| {row['seconds_per_graph']:.3f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
