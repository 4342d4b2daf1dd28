"""Rows in, the lines of docs/results/nar.md out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.machine import short
from gnarl_runtime.evaluation.summary import wilson

# TripletMPNN in the paper's first table, in that of its appendix on graph accuracy, and in its
# study of termination, per cent: right, as the expert's, estimated from F1, with twice the steps.
PUBLISHED = {
    "bfs": ("100.0", "87.4", "85.0", "-"),
    "dfs": ("24.2", "0.0", "0.0", "-"),
    "bellman_ford": ("12.4", "12.4", "14.2", "14.8"),
    "mst_prim": ("2.6", "2.6", "0.6", "3.6"),
}
PREAMBLE = (
    "Networks of the CLRS benchmark that learn an expert's trajectories, on graphs of at most 16 "
    "nodes, made by `python -m benchmarks.nar`, one seed, a short training (the column says how "
    "long). They answer fresh graphs of 64 nodes. *right* is what the spec's `correct` says of the "
    "answer, *as the expert's* is equality with it, *F1* counts nodes, *F1^n* is the estimate of "
    "graph accuracy that the paper takes from it, and *twice* lets networks take twice the steps "
    "of the expert and stop at the first right answer. *Paper* is its TripletMPNN, trained for "
    "longer on algorithms of CLRS, whose steps are not ours. Policies of ours on the same specs "
    "are [on a page of their own](clrs30.md)."
)
HEADS = ["algorithm", "processor", "right, %", "as the expert's, %", "F1, %", "F1^n, %", "twice, %"]
MORE = ["graphs", "steps", "training, CPU min", "paper: right, as the expert's, F1^n, twice"]


def lines_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    heads = [*HEADS, *MORE]
    table = [_line(heads), _line(["---"] * len(heads)), *(_line(_cells(row)) for row in rows)]
    commits = sorted({short(row["written"]["commit"]) for row in rows})
    told = f"Measured at commit {', '.join(commits)}." if commits else ""
    return ["# Standard neural algorithmic reasoning", "", PREAMBLE, "", *table, "", told]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Mapping[str, Any]) -> list[str]:
    graphs = row["graphs"]
    low, high = wilson(round(row["right"] * graphs), graphs)
    return [
        f"`{row['spec']}`",
        row["processor"],
        f"{100 * row['right']:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
        f"{100 * row['same']:.1f}",
        f"{100 * row['node_f1']:.1f}",
        f"{100 * row['node_f1'] ** row['nodes']:.1f}",
        f"{100 * row['ever']:.1f}",
        str(graphs),
        f"{row['steps']:.0f}",
        f"{row['cpu_minutes']:.1f}",
        ", ".join(PUBLISHED[row["spec"]]),
    ]
