"""Weights of other laws and graphs of other families: share of graphs solved by one policy each.

    python -m benchmarks.studies.laws mst_prim=RUN bellman_ford=RUN
    python -m benchmarks.studies.laws mst_prim=OLD --column before --graphs 50

Plays each RUN, a run folder or a checkpoint, as its recipe says (picks are drawn) on fresh graphs
of 64 nodes, at most 12 n rounds each, and writes docs/results/laws.md and .json after every row.
Rows that are there are kept: the same command goes on where it was stopped; `--again` measures
anew.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import load_average, provenance, short

SEEDS = {"bellman_ford": 73_411, "mst_prim": 73_412}  # of no training and no choice
NODES = 64
ROUNDS = 12  # times the nodes
COLUMNS = ("before", "now")
NAMES = {"bellman_ford": "Bellman-Ford", "mst_prim": "MST-Prim"}


@dataclass(frozen=True)
class Kind:
    """Graphs and weights to play on."""

    label: str
    graphs: str = "er(n = {n}, p = 0.5)"
    law: str = "clrs_weight"
    factor: float = 1.0  # of all weights


KINDS = {
    "clrs": Kind("ER, p = 0.5; CLRS"),
    "uniform": Kind("ER; U(0, 1)", law="uniform(0, 1)"),
    "integers": Kind("ER; integers 1 to 10", law="integers(1, 10)"),
    "exponential": Kind("ER; Exp(1)", law="exponential"),
    "lognormal": Kind("ER; lognormal", law="lognormal"),
    "thousand": Kind("ER; CLRS, times 1000", factor=1000.0),
    "ws": Kind("WS, k = 4, p = 0.1; CLRS", "ws(n = {n}, k = 4, p = 0.1)"),
    "ba": Kind("BA, m = 4; CLRS", "ba(n = {n}, m = 4)"),
    "grid": Kind("grid; CLRS", "grid(n = {n})"),
    "tree": Kind("tree; CLRS", "tree(n = {n})"),
    "delaunay": Kind("Delaunay; CLRS", "delaunay(n = {n})"),
    "grid_integers": Kind("grid; integers 1 to 10", "grid(n = {n})", "integers(1, 10)"),
}


def main(arguments: list[str] | None = None) -> int:
    """Play what is missing, print the table, write both files."""
    options = parse_options(arguments)
    rows = [] if options.again else known_rows(options.output)
    for problem, run in options.runs:
        for kind in options.kinds:
            key = {"problem": problem, "kind": kind, "column": options.column}
            if any(key.items() <= row.items() for row in rows):
                continue
            say(f"{problem}, {KINDS[kind].label}")
            rows.append({**key, **measured(problem, run, KINDS[kind], options)})
            write(options.output, rows)
    write(options.output, rows)
    return 0


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    record = {"rows": rows, "provenance": provenance(load=load_average())}
    publish(folder, "laws", lines_of(record), record)


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("runs", nargs="+", type=_run, metavar="PROBLEM=RUN")
    parser.add_argument("--kinds", type=_kinds, default=list(KINDS), metavar="NAME,NAME")
    parser.add_argument("--graphs", type=int, default=300, help="of each kind")
    parser.add_argument("--column", choices=COLUMNS, default="now")
    parser.add_argument("--seed", type=int, help="of the graphs: another one for choices")
    parser.add_argument("--again", action="store_true", help="measure what is there anew")
    return parser.parse_args(arguments)


def _run(text: str) -> tuple[str, Path]:
    problem, _, path = text.partition("=")
    if problem not in NAMES:
        raise argparse.ArgumentTypeError(f"{problem}: expected one of {', '.join(NAMES)}")
    return problem, Path(path)


def _kinds(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]}: expected some of {', '.join(KINDS)}")
    return names


def known_rows(folder: Path) -> list[dict[str, Any]]:
    file = folder / "laws.json"
    rows: list[dict[str, Any]] = json.loads(file.read_text())["rows"] if file.is_file() else []
    return rows


def measured(problem: str, run: Path, kind: Kind, options: argparse.Namespace) -> dict[str, Any]:
    """What a policy does on fresh graphs of one kind."""
    import gnarl_dsl as gnarl
    from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.evaluation.summary import wilson
    from gnarl_runtime.instances.pools import draw_pool, pool_of
    from gnarl_runtime.network.policy import prepare_torch
    from gnarl_runtime.search.players import PolicyPlayer
    from gnarl_runtime.search.rollout import play_with

    prepare_torch(1)
    compiled = compile_for(gnarl.load(problem))  # once: other graphs need no other kernels
    drawn = draw_pool(
        gnarl.loads(spec_text(problem, kind)),
        count=options.graphs,
        seed=SEEDS[problem] if options.seed is None else options.seed,
        split="test",
        instances="trial",
        oracles=(),
    )
    weighed = [
        replace(one, inputs={**one.inputs, "A": times(one.inputs["A"], kind.factor)})
        for one in drawn.instances()
    ]
    trained = load_checkpoint(run)
    player = PolicyPlayer(trained.policy, trained.temperature())
    pool = pool_of(compiled.problem, weighed, compiled.oracles)
    outcomes = play_with(player, compiled, pool, max_rounds=ROUNDS * NODES)
    low, high = wilson(float(outcomes.success.sum()), options.graphs)
    return {
        "graphs": options.graphs,
        "success": float(outcomes.success.mean()),
        "ci95": [low, high],
        "steps": float(outcomes.steps.mean()),
        "seconds_per_graph": outcomes.seconds / options.graphs,
        "updates": trained.meta.updates,
        "seed": trained.meta.seed,
    }


def times(weights: NDArray[Any], factor: float) -> NDArray[Any]:
    changed: NDArray[Any] = np.multiply(weights, factor)
    return changed


def spec_text(problem: str, kind: Kind) -> str:
    """A spec with graphs and weights of one kind."""
    graphs = kind.graphs.format(n=NODES)
    lines = "".join(f"  {split} 1  {graphs}\n" for split in ("train", "valid", "test"))
    opening = f'gnarl 1\nproblem {problem}_trial extends {problem}\n  "Other weights."\n\n'
    return f"{opening}instances trial\n  A ~ {kind.law}\n{lines}"


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    source = record["provenance"]
    yield "# Other weights and other graphs, per cent solved"
    yield ""
    yield "    python -m benchmarks.studies.laws mst_prim=RUN bellman_ford=RUN"
    yield ""
    yield (
        "One policy per problem, one seed, variants and recipes `mst_prim_wide` and "
        "`bellman_ford_wide` (at most 16 nodes in training), on fresh graphs of "
        f"{NODES} nodes that no choice was made by: best picks, at most {ROUNDS} n rounds. "
        "*before*: weights trained on Erdős–Rényi graphs with CLRS weights read as they are, "
        "drawn picks, other graphs. [ ] is the 95 % interval. "
        f"One core of {source['cpu']}, which others used, too, so "
        f"seconds are upper limits; load at the end {source['load'][0]}, "
        f"at {short(source['commit'])}."
    )
    yield ""
    yield "| problem | graphs; weights | before | number | now | number | picks | s per graph |"
    yield "|---|---|---|---:|---|---:|---:|---:|"
    for problem, name in NAMES.items():
        for kind, what in KINDS.items():
            found = {
                row["column"]: row
                for row in record["rows"]
                if (row["problem"], row["kind"]) == (problem, kind)
            }
            if found:
                before, now = (told(found.get(column)) for column in COLUMNS)
                yield f"| {name} | {what.label} | {before} | {now} | {cost(found.get('now'))} |"


def told(row: dict[str, Any] | None) -> str:
    if row is None:
        return "– | –"
    low, high = (100 * bound for bound in row["ci95"])
    return f"{100 * row['success']:.1f} [{low:.1f}, {high:.1f}] | {row['graphs']}"


def cost(row: dict[str, Any] | None) -> str:
    return "– | –" if row is None else f"{row['steps']:.0f} | {row['seconds_per_graph']:.3f}"


if __name__ == "__main__":
    sys.exit(main())
