"""Does exact search agree with the solvers? Random graphs in, a row per problem out.

    python -m benchmarks.studies.exact_agrees
    python -m benchmarks.studies.exact_agrees --problems mvc tsp --graphs 50

Every shipped problem with an objective whose expert `optimal` follows a registered solver (HiGHS,
branch and bound, dynamic programming). The search does not see what it says: it knows the spec, and
the experts that read no oracle. Writes docs/results/exact.md and .json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import gnarl_dsl as gnarl
from benchmarks.frame import publish, results_parser, say
from benchmarks.machine import load_average, provenance, short
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.outcomes import Outcomes
from gnarl_runtime.search.players import ExpertPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Drivers

SOLVER = "optimal"  # the expert that follows one
# Nodes of the smallest and of the largest graphs: what is proven within about a minute for all.
SIZES = {
    "mvc": (8, 16),
    "tsp": (6, 13),
    "min_dominating_set": (8, 16),
    "max_independent_set": (8, 16),
    "max_clique": (8, 16),
    "max_cut": (6, 14),
    "steiner_tree": (6, 14),
    "triangle_packing": (6, 14),
    "graph_colouring": (4, 7),
    "mst_kruskal": (4, 6),
}
TOLERANCE = 1e-9  # relative: what adding in another order changes
COLUMNS = (
    "| problem | nodes | graphs | agree | search better | solver better | proven | "
    "decisions each | most | seconds each |"
)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write both files."""
    options = parse_options(arguments)
    rows = []
    for name in options.problems:
        rows.append(measure(name, SIZES[name], options.graphs, options.seed))
        say(table_row(rows[-1]))
    record = {"rows": rows, "written": provenance(load=load_average())}
    publish(options.output, "exact", lines_of(record), record)
    return 0


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("--problems", nargs="+", default=[*SIZES], choices=[*SIZES], metavar="NAME")
    parser.add_argument("--graphs", type=int, default=200, help="of each problem")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def measure(name: str, sizes: tuple[int, int], graphs: int, seed: int) -> dict[str, Any]:
    """One problem, on the same graphs by the solver and by search."""
    problem = gnarl.load(name)
    problem = problem.model_copy(update={"metrics": ()})  # they ask other solvers
    told = compile_for(problem, experts=(SOLVER,), metrics=True)
    pool = draw_pool(problem, count=graphs, nodes=sizes, seed=seed, oracles=told.oracles)
    solver = play_with(ExpertPlayer(SOLVER), told, pool)
    experts = free_experts(problem)
    untold = compile_for(problem, experts=experts, metrics=True)
    found = search(Strategy("exact"), Drivers(experts=experts), untold, pool, seed=seed)
    return {
        "problem": name,
        "nodes": sizes,
        "graphs": graphs,
        **compared(found.outcomes, solver),
        "proven": int(found.proven.sum()),
        "decisions": float(found.decisions.mean()),
        "most_decisions": int(found.decisions.max()),
        "seconds": found.outcomes.seconds / graphs,
    }


def compared(found: Outcomes, solver: Outcomes) -> dict[str, int]:
    """On how many graphs either is better; what is not valid is worth nothing."""
    ours, theirs = values(found), values(solver)
    agree = np.isclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE)
    return {
        "agree": int(agree.sum()),
        "search_better": int((~agree & (ours > theirs)).sum()),
        "solver_better": int((~agree & (ours < theirs)).sum()),
    }


def values(outcomes: Outcomes) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.where(outcomes.valid, outcomes.objective, -np.inf)


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    """The table with what it was made by."""
    written = record["written"]
    yield "# Exact search and the solvers"
    yield ""
    yield "    python -m benchmarks.studies.exact_agrees"
    yield ""
    yield (
        "Random graphs of each problem's training families. *Agree*: `--search exact`, which knows "
        "the spec and no oracle, and the spec's expert `optimal`, which follows a registered "
        f"solver, end with the same objective (to {TOLERANCE:g} of it). *Proven*: the search "
        "looked at every other episode or ruled it out. A decision is a pick that was tried. One "
        f"thread, at {short(written['commit'])}, {written['cpu']}, load {written['load'][0]}."
    )
    yield ""
    yield (
        "These are all the registered solvers. `mvc_rich`, `tsp_insertion` and the variants have "
        "the optima of `mvc` and `tsp`; the other specs with an objective have no solver."
    )
    yield ""
    yield COLUMNS
    yield "|---|---|" + "---:|" * (COLUMNS.count("|") - 3)
    yield from map(table_row, record["rows"])


def table_row(row: dict[str, Any]) -> str:
    """A problem as a line of Markdown."""
    least, most = row["nodes"]
    cells = (
        f"`{row['problem']}`",
        f"{least} to {most}",
        row["graphs"],
        row["agree"],
        row["search_better"],
        row["solver_better"],
        row["proven"],
        f"{row['decisions']:,.0f}",
        f"{row['most_decisions']:,}",
        f"{row['seconds']:.3f}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    sys.exit(main())
