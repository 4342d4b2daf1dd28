"""lookback.py and tours.py of benchmarks/studies: what they count, and that they write it down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.studies import lookback, tours


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
