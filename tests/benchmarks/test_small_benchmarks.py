"""Small benchmarks: what they count and write down; and the rooms that all of them stand in."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import gnarl_dsl as gnarl
from benchmarks.machine import ROOT
from benchmarks.studies import defaults, depth, exact_agrees, large_tours, laws, lookback, tours


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


def test_a_study_of_deep_graphs_goes_on_where_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def measured(*row: object) -> dict[str, object]:
        asked.append(row[2:4])
        known = {"graphs": 3, "success": 1.0, "ci95": [0.4, 1.0], "steps": 9.0}
        return {**known, "seconds_per_graph": 0.5}

    monkeypatch.setattr(depth, "measured", measured)
    monkeypatch.setattr(depth, "pin_to_one_core", lambda: 0)  # NumPy is loaded here
    for more in ("grid,er", "grid,er,tree"):
        arguments = ["bfs=RUN", "--sizes", "64,1024", "--families", more]
        assert depth.main([*arguments, "--output", str(tmp_path)]) == 0
    # Dense graphs of 1,024 nodes are left out, and nothing is measured twice.
    wanted = [("grid", 64), ("er", 64), ("grid", 1024), ("tree", 64), ("tree", 1024)]
    assert asked == wanted
    table = (tmp_path / "depth.md").read_text("utf-8")
    assert "| BFS | grid | 1,024 | 3 | 100.0 [40.0, 100.0] | 9 | 0.500 |" in table


@pytest.mark.parametrize("family", depth.FAMILIES)
def test_every_family_of_deep_graphs_makes_a_spec(family: str) -> None:
    problem = gnarl.loads(depth.spec_text("dfs", family, 9))
    assert [instance.graph.n for instance in gnarl.draw(problem, count=2)] == [9, 9]


def test_a_study_of_laws_has_both_policies_in_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Path]] = []

    def measured(problem: str, run: Path, *_: object) -> dict[str, object]:
        asked.append((problem, run))
        known = {"success": 0.5 if run == Path("OLD") else 1.0, "ci95": [0.4, 1.0]}
        return {**known, "graphs": 3, "steps": 9.0, "seconds_per_graph": 0.5}

    monkeypatch.setattr(laws, "measured", measured)
    same = ["--kinds", "tree", "--output", str(tmp_path)]
    assert laws.main(["mst_prim=OLD", "--column", "before", *same]) == 0
    for _ in range(2):  # nothing is measured twice
        assert laws.main(["mst_prim=NEW", *same]) == 0
    assert asked == [("mst_prim", Path("OLD")), ("mst_prim", Path("NEW"))]
    row = "| MST-Prim | tree; CLRS | 50.0 [40.0, 100.0] | 3 | 100.0 [40.0, 100.0] | 3 | 9 | 0.500 |"
    assert row in (tmp_path / "laws.md").read_text("utf-8")


@pytest.mark.parametrize("kind", laws.KINDS)
def test_every_kind_of_graphs_and_weights_makes_a_spec(kind: str) -> None:
    problem = gnarl.loads(laws.spec_text("mst_prim", laws.KINDS[kind]))
    assert [one.name for one in problem.instances] == ["er", "trial"]


def test_tours_are_timed_against_highs() -> None:
    row = tours.measure(14, graphs=3, exact=2, seed=0)
    assert row["unproven"] == 0
    assert row["ratio"] > 0
    assert row["highs_tours"] == 2


def test_a_tour_is_compared_with_the_shortest() -> None:
    square = np.array([0, 1, 1 + 1j, 1j])
    distance = np.abs(square[:, None] - square)
    for inputs in ({"xy": square}, {"A": distance}):
        assert large_tours.above(inputs, [0, 1, 2, 3]) == pytest.approx(0.0)
        assert large_tours.above(inputs, [0, 2, 1, 3]) == pytest.approx(50 * (2**0.5 - 1))


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


def test_a_table_of_defaults_says_who_is_where_all_should_be() -> None:
    def row(spec: str, gap: float, difference: list[float] | None) -> dict[str, object]:
        return {"spec": spec, "sizes": [{"gap": gap, "gap_search": 0.1, "difference": difference}]}

    rows = [row("a", 1.0, [2.0, 1.0, 3.0]), row("b", 3.0, [-2.0, -3.0, -1.0]), row("c", 2.0, None)]
    (line,) = defaults._sums(rows)
    assert "Of 3 specs" in line
    assert "training size on 2," in line
    assert line.endswith("Behind the expert at either size: b.")
