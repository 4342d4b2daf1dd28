"""The grid of SALSA-CLRS: six algorithms on three families of growing graphs, share solved.

    python -m benchmarks.suites.salsa bfs=RUN dfs=RUN bellman_ford=RUN mst_prim=RUN
    python -m benchmarks.suites.salsa mis=RUN --sizes 16,80 --families ws

Plays the best picks of each RUN, a run folder or a checkpoint, on fresh graphs drawn as SALSA-CLRS
draws them: 100 of up to 160 nodes, 10 above. Writes docs/results/salsa.md and .json after every
row. Rows that are there are kept: the same command goes on where it was stopped; `--again` measures
anew. Smaller graphs first, so that a study that is broken off has whole sizes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import load_average, provenance, short

SEED = 81_902  # of no training and no choice
SIZES = [16, 80, 160, 800, 1600]
FAMILIES = {
    "er": ("ER", "er(n = {n}, log_degree = [1, 3])"),
    "ws": ("WS", "ws(n = {n}, k = {{4, 6, 8}}, p = [0.05, 0.2])"),
    "delaunay": ("Delaunay", "delaunay(n = {n})"),
}
NAMES = {
    "bfs": "BFS",
    "dfs": "DFS",
    "bellman_ford": "shortest paths",
    "mst_prim": "MST-Prim",
    "mis": "MIS",
    "eccentricity": "eccentricity",
}
WEIGHTED = ("bellman_ford", "mst_prim")
GRAPHS = ((160, 100), (sys.maxsize, 10))  # up to a size


def main(arguments: list[str] | None = None) -> int:
    """Play what is missing, print the table, write both files."""
    options = parse_options(arguments)
    rows = [] if options.again else known_rows(options.output)
    for size, (spec, run), family in product(options.sizes, options.runs, options.families):
        key = {"spec": spec, "family": family, "nodes": size}
        if any(key.items() <= row.items() for row in rows):
            continue
        say(f"{spec}, {family}, {size} nodes")
        found = measured(spec, run, family, size, options.graphs)
        rows = [*known_rows(options.output), {**key, **found}]
        record = {"rows": rows, "provenance": provenance(load=load_average())}
        publish(options.output, "salsa", lines_of(record), record)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("runs", nargs="+", type=_run, metavar="SPEC=RUN")
    parser.add_argument("--sizes", type=_numbers, default=SIZES, metavar="N,N")
    parser.add_argument("--families", type=_names, default=list(FAMILIES), metavar="NAME,NAME")
    parser.add_argument("--graphs", type=int, help="of each family and size")
    parser.add_argument("--again", action="store_true", help="measure what is there anew")
    return parser.parse_args(arguments)


def _run(text: str) -> tuple[str, Path]:
    spec, _, path = text.partition("=")
    if spec not in NAMES:
        raise argparse.ArgumentTypeError(f"{spec}: expected one of {', '.join(NAMES)}")
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
    file = folder / "salsa.json"
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
    graphs = draw_pool(
        drawn, count=count, seed=SEED, split="test", instances="salsa", oracles=compiled.oracles
    )
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
    graphs = FAMILIES[family][1].format(n=size)
    lines = "".join(f"  {split} 1  {graphs}\n" for split in ("train", "valid", "test"))
    law = "  A ~ uniform(0, 1)\n" if spec in WEIGHTED else ""
    opening = f'gnarl 1\nproblem {spec}_salsa extends {spec}\n  "Growing graphs."\n\n'
    return f"{opening}instances salsa\n{law}{lines}"


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    source = record["provenance"]
    yield "# The grid of SALSA-CLRS, per cent of graphs solved"
    yield ""
    yield "    python -m benchmarks.suites.salsa " + " ".join(f"{name}=RUN" for name in NAMES)
    yield ""
    yield (
        "Best picks of one policy per problem, one seed, none trained on graphs of more than 16 "
        "nodes, on fresh graphs that no choice was made by, with the parameters of SALSA-CLRS (ER: "
        "p = c ln(n) / n with c from 1 to 3; WS: k = 4, 6 or 8, p from 0.05 to 0.2; weights from "
        "U(0, 1)). A graph counts if all of its answer is right. In brackets the number of graphs "
        "and, where not all or none are solved, the 95 % interval. "
        f"One core of {source['cpu']}, which others used, too; "
        f"load at the end {source['load'][0]}, at {short(source['commit'])}."
    )
    yield ""
    sizes = sorted({row["nodes"] for row in record["rows"]})
    yield "| problem | graphs | " + " | ".join(f"{size:,} nodes" for size in sizes) + " |"
    yield "|---|---|" + "---|" * len(sizes)
    for spec, family in product(NAMES, FAMILIES):
        found = {
            row["nodes"]: row
            for row in record["rows"]
            if (row["spec"], row["family"]) == (spec, family)
        }
        if found:
            cells = " | ".join(told(found.get(size)) for size in sizes)
            yield f"| {NAMES[spec]} | {FAMILIES[family][0]} | {cells} |"
    yield ""
    yield "Seconds per graph, played side by side where there is room:"
    yield ""
    yield "| problem | " + " | ".join(f"{size:,} nodes" for size in sizes) + " |"
    yield "|---|" + "---:|" * len(sizes)
    for spec in NAMES:
        if any(row["spec"] == spec for row in record["rows"]):
            cells = " | ".join(seconds(record["rows"], spec, size) for size in sizes)
            yield f"| {NAMES[spec]} | {cells} |"


def told(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    share, (low, high) = row["success"], row["ci95"]
    interval = "" if share in (0, 1) else f", {100 * low:.0f} to {100 * high:.0f}"
    return f"{100 * share:.0f} ({row['graphs']}{interval})"


def seconds(rows: list[dict[str, Any]], spec: str, size: int) -> str:
    """The mean of the families that were played."""
    known = [r["seconds_per_graph"] for r in rows if (r["spec"], r["nodes"]) == (spec, size)]
    return f"{sum(known) / len(known):.2f}" if known else "–"


if __name__ == "__main__":
    sys.exit(main())
