"""The tables of docs/results in, the short table of README.md out.

python -m benchmarks.paper.readme
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from statistics import mean

from benchmarks.machine import ROOT
from benchmarks.paper.outcomes import Outcome, Places
from benchmarks.paper.record import read_record
from benchmarks.paper.report import counted, minutes_of
from benchmarks.paper.rows import Row, Table
from benchmarks.paper.tables import TABLES
from benchmarks.paper.values import figure, shown

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
SHOWN = {"clrs": (64,), "mvc": (16, 64), "tsp": (40, 100), "rgc": (60,)}  # nodes, by table
# Comparisons of ours with ours, and what starts from experts that are weak on purpose
LEFT_OUT = (
    *("bellman_ford_unscaled", "mst_prim_extract_min", "*_weak*", "tsp_nearest", "*_eight"),
    *("rgc_*_20", "rgc_*_20_longer", "rgc_*_20_widened", "rgc_*_wide"),
)
UNITS = {
    "success": "solved, %",
    "ratio": "weight / approximation, ε = 0",
    "excess": "% above optimal",
    "reward": "gain (paper: GNARL; RNet-DQN)",
}


def main() -> int:
    """Write the table between the markers."""
    readme = ROOT / "README.md"
    before, rest = readme.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    text = "\n".join(lines())
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")
    print(text)
    return 0


def lines() -> Iterator[str]:
    yield "| problem | nodes | figure | paper | ours | seeds × graphs | training, CPU min |"
    yield "|---|---|---|---|---|---|---|"
    for name, sizes in SHOWN.items():
        found = read_record(TABLES[name], Places())
        for row in TABLES[name].rows:
            if not row.faithful and not any(fnmatch(row.name, left) for left in LEFT_OUT):
                yield from row_lines(TABLES[name], row, found[row.name], sizes)


def row_lines(
    table: Table, row: Row, found: Sequence[Outcome], sizes: Sequence[int]
) -> Iterator[str]:
    """A line for each of the sizes that the row was tested on."""
    for nodes in sizes:
        own = [outcome for outcome in found if outcome.trial.name == f"test-{nodes}"]
        if own:
            yield line_of(table, row, nodes, own)


def line_of(table: Table, row: Row, nodes: int, own: Sequence[Outcome]) -> str:
    problem = row.label if table.name == "clrs" else f"{table.name.upper()}, {row.label}"
    value = shown(row, mean(figure(row, outcome.result) for outcome in own))
    minutes = f"{mean(outcome.training.cpu_seconds for outcome in own) / 60:.1f}"
    if any(minutes_of(outcome.training.command) for outcome in own):
        minutes += ", cut short"
    count = f"{len(own)} × {counted([outcome.result['graphs'] for outcome in own])}"
    cells = [problem, str(nodes), UNITS[row.figure], row.paper.get(nodes, "–"), value, count]
    return f"| {' | '.join([*cells, minutes])} |"


if __name__ == "__main__":
    sys.exit(main())
