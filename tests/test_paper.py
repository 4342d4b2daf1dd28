"""benchmarks/paper.py: tables come from what is on disk; runs and evaluations are not repeated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.machine import from_here
from benchmarks.paper import main
from benchmarks.paper_figures import learning_curve
from benchmarks.paper_report import interval, minutes_of, write_table
from benchmarks.paper_rows import Row, Table, Trial, faithful
from benchmarks.paper_runs import Budget, picks_learned, run_row
from benchmarks.paper_tables import TABLES

TRIAL = Trial(8, 6)
ROW = Row("tiny", "Tiny BFS", "bfs", "bfs", "success", (TRIAL,), 2, paper={8: "100.0 ± 0.0"})
QUICK = [
    part
    for entry in ("bc.updates=2", "bc.graphs=4", "data.pool=8", "policy.width=8",
                  "validation.graphs=2", "validation.every=1")
    for part in ("--set", entry)
]  # fmt: skip
TABLE = Table("tiny", "A tiny table", "A note.", (replace(ROW, options=tuple(QUICK)),))


def test_a_row_is_trained_evaluated_and_not_repeated(tmp_path: Path) -> None:
    runs, output = tmp_path / "runs", tmp_path / "results"
    run_row(TABLE.rows[0], Budget(seeds=1, graphs=3), runs)
    files = {path: path.stat().st_mtime_ns for path in runs.rglob("*") if path.is_file()}
    run_row(TABLE.rows[0], Budget(seeds=1, graphs=3), runs)
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*") if path.is_file()} == files
    text = write_table(TABLE, runs, output)
    assert "| Tiny BFS | 3 of 8 nodes | 100.0 ± 0.0 |" in text
    assert "Fewer test graphs than planned, by `--graphs`: Tiny BFS." in text
    assert "Not run yet: Tiny BFS (1 of 2 seeds)." in text
    assert "--minutes" not in text
    (entry,) = json.loads((output / "paper_tiny.json").read_text("utf-8"))["rows"]
    assert (entry["nodes"], entry["seed"], entry["figure"]) == (8, 0, "success")
    assert entry["training_cpu_seconds"] > 0
    assert entry["command"][:3] == ["gnarl-train", "--spec", "bfs"]
    assert entry["picks_learned_from"] == 8  # four graphs side by side, two updates


def test_a_table_without_runs_says_so(tmp_path: Path) -> None:
    assert "Not run yet: Tiny BFS." in write_table(TABLE, tmp_path, tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_means_have_an_interval_over_graphs() -> None:
    row = replace(ROW, figure="reward")
    result = {"reward": 1.0, "metrics": {}, "standard_errors": {"reward": 0.1}}
    known, unknown = SimpleNamespace(result=result), SimpleNamespace(result={"reward": 1.0})
    assert interval(row, [known]) == " [0.804, 1.196]"
    assert interval(row, [known, known]) == " [0.861, 1.139]"  # twice as many graphs
    assert interval(row, [known, unknown]) == ""


def test_a_share_of_the_papers_samples_is_in_the_label() -> None:
    whole = faithful(ROW, "bfs_paper", (8,))
    part = faithful(ROW, "bfs_paper", (8,), 0.005)  # of 4,000 updates
    assert whole.label == "Tiny BFS, the paper's recipe"
    assert whole.options == ()
    assert part.label == "Tiny BFS, the paper's recipe, 0.5 % of it"
    assert part.options == ("--set", "bc.updates=20", "--set", "validation.every=2")
    assert faithful(ROW, "bfs_paper", (16,)).trials == ()
    both = faithful(ROW, "tsp_weak_ppo_paper", (8,), 0.05)  # of 195,000 and 977
    assert both.options[1::2] == ("bc.updates=9750", "ppo.updates=49", "validation.every=4")


def test_commands_are_told_as_they_are_typed_in_the_checkout() -> None:
    command = ["gnarl-train", "--out", "/home/me/gnarl/runs/paper/bfs-seed0", "/home/me/data"]
    assert from_here(command, Path("/home/me/gnarl"))[-2:] == ["runs/paper/bfs-seed0", "../data"]


def test_a_budget_in_minutes_is_named() -> None:
    assert minutes_of(["gnarl-train", "--minutes", "26"]) == "26"
    assert minutes_of(["gnarl-train", "--resume", "run"]) == ""


def test_updates_without_an_entry_count_like_the_next_one() -> None:
    assert picks_learned([{"update": 2, "states": 4}, {"update": 5, "states": 8}]) == 2 * 4 + 3 * 8


@pytest.mark.parametrize("more", [[], ["--report"]])
def test_an_unknown_row_is_named(
    more: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clrs", "--only", "dsf", "--runs", str(tmp_path), *more]) == 1
    assert "clrs has no row dsf; it has bfs" in capsys.readouterr().err


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_rows_have_names_of_their_own(table: Table) -> None:
    names = [row.name for row in table.rows]
    assert len(set(names)) == len(names)
    for row in table.rows:
        trials = [trial.name for trial in row.trials]
        assert len(set(trials)) == len(trials)


def test_a_seed_alone_leaves_the_others_to_other_processes(tmp_path: Path) -> None:
    run_row(TABLE.rows[0], Budget(seed=1, graphs=2), tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == ["tiny-seed1"]
    run_row(TABLE.rows[0], Budget(seed=2), tmp_path)  # the row has two
    assert [folder.name for folder in tmp_path.iterdir()] == ["tiny-seed1"]
    more = replace(TABLE.rows[0], trials=(TRIAL, Trial(16, 2)))
    text = write_table(replace(TABLE, rows=(more,)), tmp_path, tmp_path / "results")
    assert "| Tiny BFS | 2 of 8 nodes |" in text
    assert "Not run yet: Tiny BFS (16 nodes, 1 of 2 seeds)." in text


@pytest.mark.parametrize("seed", ["-1", "5"])
def test_a_seed_that_no_row_has_is_told(
    seed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ["--runs", str(tmp_path), "--output", str(tmp_path)]
    assert main(["clrs", "--only", "dfs", f"--seed={seed}", *folders]) == 1
    assert f"no row has seed {seed}; expected 0 to 4" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_table_of_temperatures_has_a_figure_that_is_the_same_every_time(tmp_path: Path) -> None:
    drawn = Trial(8, 1, ("--temperature", "1", "--samples", "5"), "temperature 1", paper="4")
    row = replace(TABLE.rows[0], figure="unique", trials=(drawn,))
    table = replace(TABLE, rows=(row,), figure="temperatures")
    run_row(row, Budget(seeds=1), tmp_path / "runs")
    pictures = []
    for name in ("once", "again"):
        text = write_table(table, tmp_path / "runs", tmp_path / name)
        pictures.append((tmp_path / name / "paper_tiny.svg").read_bytes())
    assert "| 1 of 8 nodes (temperature 1) | 4 |" in text
    assert "(paper_tiny.svg)" in text
    assert pictures[0] == pictures[1]


def test_other_players_on_the_same_graphs_stand_below(tmp_path: Path) -> None:
    row = replace(TABLE.rows[0], trials=(Trial(8, 2, ("--against", "random")),))
    run_row(row, Budget(seeds=1), tmp_path / "runs")
    text = write_table(replace(TABLE, rows=(row,)), tmp_path / "runs", tmp_path)
    assert "| *random, for comparison* | 2 of 8 nodes | – |" in text


def test_learning_curves_are_drawn_from_the_validations_of_a_run(tmp_path: Path) -> None:
    table = replace(TABLE, figure="curves")
    run_row(table.rows[0], Budget(seeds=1, graphs=2), tmp_path)
    points = list(learning_curve(table.rows[0], tmp_path))
    assert [picks for picks, _ in points] == [4, 8]  # four graphs side by side, two updates
    assert all(0 <= success <= 100 for _, success in points)
    write_table(table, tmp_path, tmp_path)
    assert (tmp_path / "paper_tiny.svg").stat().st_size > 0
