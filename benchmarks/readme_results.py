"""The tables of docs/results in, the short table of README.md out.

python benchmarks/readme_results.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from statistics import mean
from typing import Any

if __package__ in (None, ""):  # run as a script: the checkout is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import ROOT
from benchmarks.paper_report import counted, minutes_of
from benchmarks.paper_rows import Row, Table
from benchmarks.paper_tables import TABLES
from benchmarks.paper_values import shown

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
SHOWN = {"clrs": (64,), "mvc": (16, 64), "tsp": (40, 100), "rgc": (60,)}  # nodes, by table
# Comparisons of ours with ours, and what starts from experts that are weak on purpose
LEFT_OUT = (
    *("bellman_ford_unscaled", "mst_prim_extract_min", "*_weak*", "tsp_nearest", "*_deep"),
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
        file = ROOT / "docs" / "results" / f"paper_{name}.json"
        if file.is_file():
            yield from table_lines(TABLES[name], json.loads(file.read_text("utf-8")), sizes)


def table_lines(table: Table, document: dict[str, Any], sizes: tuple[int, ...]) -> Iterator[str]:
    for row in table.rows:
        for nodes in sizes:
            own = [
                entry
                for entry in document["rows"]
                if (entry["row"], entry["nodes"], entry["trial"])
                == (row.name, nodes, f"test-{nodes}")
            ]
            if own and not row.faithful and not any(fnmatch(row.name, p) for p in LEFT_OUT):
                yield line_of(table, row, nodes, own)


def line_of(table: Table, row: Row, nodes: int, own: list[dict[str, Any]]) -> str:
    problem = row.label if table.name == "clrs" else f"{table.name.upper()}, {row.label}"
    value = shown(row, mean(entry["value"] for entry in own))
    minutes = f"{mean(entry['training_cpu_seconds'] for entry in own) / 60:.1f}"
    if any(minutes_of(entry["command"]) for entry in own):
        minutes += ", cut short"
    count = f"{len(own)} × {counted([entry['result']['graphs'] for entry in own])}"
    cells = [problem, str(nodes), UNITS[row.figure], row.paper.get(nodes, "–"), value, count]
    return f"| {' | '.join([*cells, minutes])} |"


if __name__ == "__main__":
    sys.exit(main())
