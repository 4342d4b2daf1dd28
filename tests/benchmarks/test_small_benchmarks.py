"""Small benchmarks: what they count and write down; and the rooms that all of them stand in."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from benchmarks.machine import ROOT
from benchmarks.studies import exact_agrees, lookback, tours


@pytest.mark.parametrize(
    ("picks", "back"),
    [
        ((0, 1, 1, 2, 2, 3), 0),  # straight on
        ((0, 1, 1, 2, 0, 3), 2),  # from 2 back to 0
        ((0, 1, 1, 2, 0, 3, 3, 4, 0, 5), 2),
        ((0, 1, 1, 2, 5, 6), 0),  # a new tree
        ((0, 0, 1, 2), 0),  # a tree of one node
    ],
)
def test_the_longest_way_back(picks: tuple[int, ...], back: int) -> None:
    assert lookback.longest_way_back(picks) == back


def test_shares_of_graphs_grow_with_the_steps(tmp_path: Path) -> None:
    assert lookback.main(["--nodes", "12", "--graphs", "20", "--output", str(tmp_path)]) == 0
    rows = json.loads((tmp_path / "lookback.json").read_text("utf-8"))["rows"]
    assert [row["expert"] for row in rows] == ["deepest", "scarcest"]
    for row in rows:
        assert row["shares"] == sorted(row["shares"])
    assert "| `scarcest` |" in (tmp_path / "lookback.md").read_text("utf-8")


def test_tours_are_timed_against_highs() -> None:
    row = tours.measure(14, graphs=3, exact=2, seed=0)
    assert row["unproven"] == 0
    assert row["ratio"] > 0
    assert row["highs_tours"] == 2


def test_exact_search_is_compared_with_solvers() -> None:
    row = exact_agrees.measure("max_independent_set", (5, 7), graphs=6, seed=0)
    assert row["agree"] == row["proven"] == 6
    assert row["search_better"] == row["solver_better"] == 0
    assert "| 5 to 7 | 6 |" in exact_agrees.table_row(row)


def test_rooms_are_small_and_files_say_what_they_do() -> None:
    for init in (ROOT / "benchmarks").rglob("__init__.py"):
        files = list(init.parent.glob("*.py"))
        assert len(files) <= 15, init.parent
        for file in files:
            assert ast.get_docstring(ast.parse(file.read_text("utf-8"))), file


def test_no_two_files_share_a_name() -> None:
    stems = [file.stem for file in (ROOT / "benchmarks").rglob("[!_]*.py")]
    assert sorted(stems) == sorted(set(stems))
