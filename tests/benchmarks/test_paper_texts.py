"""benchmarks/paper: what its tables and figures say of the runs that they were made from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from types import SimpleNamespace

import pytest
from paper_cases import ROW, TABLE, TRIAL, places_in

from benchmarks.paper.figures import curves_of
from benchmarks.paper.outcomes import Places
from benchmarks.paper.record import outcomes_of
from benchmarks.paper.report import cost_line, interval, minutes_of, missing_of, write_table
from benchmarks.paper.rows import Trial, faithful
from benchmarks.paper.runs import Budget, run_row
from benchmarks.paper.summary import cell, summary_lines, write_overview


def test_a_table_without_runs_says_so(tmp_path: Path) -> None:
    assert "Not run yet: Tiny BFS." in write_table(TABLE, places_in(tmp_path))
    assert not list(tmp_path.iterdir())


def test_means_have_an_interval_over_graphs() -> None:
    row = replace(ROW, figure="reward")
    result = {"reward": 1.0, "metrics": {}, "standard_errors": {"reward": 0.1}}
    known, unknown = SimpleNamespace(result=result), SimpleNamespace(result={"reward": 1.0})
    assert interval(row, [known]) == " [0.804, 1.196]"
    assert interval(row, [known, known]) == " [0.861, 1.139]"  # twice as many graphs
    assert interval(row, [known, unknown]) == ""


@pytest.mark.parametrize(
    ("figure", "published", "text"),
    [
        ("reward", "1.000", "**1.000** / 1.000"),
        ("reward", "0.999; 0.9", "**1.000** / 0.999; 0.9"),
        ("reward", "0.9; 1.19", "*1.000* / 0.9; 1.19"),
        ("reward", "0.9; 1.2", "1.000 / 0.9; 1.2"),
        ("excess", "1.0", "**1.0** / 1.0"),
        ("excess", "0.9", "*1.0* / 0.9"),
        ("excess", "0.8; 3.0", "1.0 / 0.8; 3.0"),
        ("success", "93.6 ± 5.1", "**100.0** / 93.6 ± 5.1"),
    ],
)
def test_what_is_as_good_as_published_is_marked(figure: str, published: str, text: str) -> None:
    errors = {"reward": 0.1, "excess": 0.1}  # of the mean; twice that is outside
    result = {"reward": 1.0, "success": 1.0, "graphs": 9, "metrics": {"excess": 1.0}}
    outcome = SimpleNamespace(result={**result, "standard_errors": errors})
    assert cell(replace(ROW, figure=figure), replace(TRIAL, paper=published), [outcome]) == text


def test_sizes_stand_side_by_side(places: Places) -> None:
    drawn = Trial(8, 2, ("--temperature", "1"), "drawn", paper="0.0")
    row = replace(TABLE.rows[0], trials=(TRIAL, Trial(16, 2), drawn), paper={8: "0.0", 16: "100"})
    table = replace(TABLE, rows=(row,))
    run_row(row, Budget(seeds=1, graphs=2), places)
    found = outcomes_of(table, places)
    _, _, head, _, plain, special, _ = summary_lines(table, found)
    assert head == "| method | 8 | 16 |"
    assert plain.startswith("| Tiny BFS | **")
    assert plain.endswith(" / 100 |")
    assert special.startswith("| Tiny BFS (drawn) | **")
    assert special.endswith(" / 0.0 | – |")
    assert list(summary_lines(TABLE, found)) == []  # one size


def test_one_page_compares_all_tables_with_the_paper_and_no_run_twice(places: Places) -> None:
    again = replace(TABLE, name="again", title="The same runs")
    unwritten = replace(TABLE, name="unwritten", title="Without a file")
    other = replace(TABLE, name="other", rows=(replace(TABLE.rows[0], figure="reward"),))
    for table in (again, other):
        write_table(table, places)
    write_overview([TABLE, again, other, unwritten], places)
    text = (places.output / "paper.md").read_text("utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## [A tiny table](paper_tiny.md)", "## [A tiny table](paper_other.md)"]
    assert text.count("| Tiny BFS |") == 2


def test_nothing_is_written_about_no_tables(tmp_path: Path) -> None:
    write_overview([TABLE], places_in(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_share_of_the_papers_samples_is_in_the_label() -> None:
    whole = faithful(ROW, "bfs_paper", (8,))
    part = faithful(ROW, "bfs_paper", (8,), 0.005)  # of 4,000 updates
    assert whole.label == "Tiny BFS, the paper's recipe"
    assert whole.arguments == ()
    assert part.label == "Tiny BFS, the paper's recipe, 0.5 % of it"
    assert part.arguments == ("--set", "bc.updates=20", "--set", "validation.every=2")
    assert faithful(ROW, "bfs_paper", (16,)).trials == ()
    both = faithful(ROW, "tsp_weak_ppo_paper", (8,), 0.05)  # of 195,000 and 977
    assert both.arguments[1::2] == ("bc.updates=9750", "ppo.updates=49", "validation.every=4")


def test_what_a_table_took_counts_every_run_once(places: Places) -> None:
    first, second = outcomes_of(TABLE, places)["tiny"]
    hours = [replace(o, training=replace(o.training, cpu_seconds=t)) for o, t in
             ((first, 3600.0), (first, 3600.0), (second, 7200.0))]  # fmt: skip
    played = {"seconds_per_graph": 720.0, "graphs": 2}
    hours = [replace(outcome, result={**outcome.result, **played}) for outcome in hours]
    beside = replace(hours[0], baselines={"random": {"seconds_per_graph": 1800.0, "graphs": 2}})
    expected = "In all: 3.0 CPU hours of training, 2.2 hours of playing."
    assert cost_line([beside, *hours[1:]]) == expected


def test_a_budget_in_minutes_is_named() -> None:
    assert minutes_of(["gnarl-train", "--minutes", "26"]) == "26"
    assert minutes_of(["gnarl-train", "--resume", "run"]) == ""


def test_a_size_that_some_seeds_lack_is_named(places: Places) -> None:
    (outcome, other) = outcomes_of(TABLE, places)["tiny"]
    larger = Trial(16, 2)
    row = replace(TABLE.rows[0], trials=(TRIAL, larger, Trial(32, 2, one_seed=True)))
    done = [outcome, other, replace(outcome, trial=larger)]
    assert missing_of(row, done) == "Tiny BFS (16 nodes in 1 of 2 seeds, 32 nodes)"
    assert missing_of(row, done[1:2]) == "Tiny BFS (16 nodes, 32 nodes, 1 of 2 seeds)"
    assert missing_of(TABLE.rows[0], done) == ""
    drawn = replace(TABLE.rows[0], trials=(TRIAL, replace(TRIAL, label="temperature 2")))
    assert missing_of(drawn, done[:1]) == "Tiny BFS (8 nodes [temperature 2], 1 of 2 seeds)"


def test_a_table_of_temperatures_has_a_figure_that_is_the_same_every_time(
    places: Places, tmp_path: Path
) -> None:
    drawn = Trial(8, 1, ("--temperature", "1", "--samples", "5"), "temperature 1", paper="4")
    row = replace(TABLE.rows[0], figure="unique", trials=(drawn,))
    table = replace(TABLE, rows=(row,), figure="temperatures")
    run_row(row, Budget(seeds=1), places)
    pictures = []
    for output in (tmp_path / "once", tmp_path / "again"):
        text = write_table(table, replace(places, output=output))
        pictures.append((output / "paper_tiny.svg").read_bytes())
    assert "| 1 of 8 nodes (temperature 1) | 4 |" in text
    assert "(paper_tiny.svg)" in text
    assert pictures[0] == pictures[1]


def test_other_players_on_the_same_graphs_stand_below(places: Places) -> None:
    row = replace(TABLE.rows[0], trials=(Trial(16, 2, against="random"),))
    run_row(row, Budget(), places)
    table = replace(TABLE, rows=(row,))
    first, second = outcomes_of(table, places)["tiny"]
    assert (list(first.baselines), list(second.baselines)) == (["random"], [])
    assert "| *random, for comparison* | 2 of 16 nodes | – |" in (
        text := write_table(table, places)
    )
    rmtree(places.runs)
    assert write_table(table, places) == text


def test_learning_curves_are_drawn_from_the_validations_of_a_run(places: Places) -> None:
    table, picture = replace(TABLE, figure="curves"), places.output / "paper_tiny.svg"
    drawn = picture.read_bytes()
    picture.unlink()
    rmtree(places.runs)
    points = outcomes_of(table, places)["tiny"][0].training.curve
    assert points is not None
    assert [picks for picks, _ in points] == [4, 8]  # four graphs side by side, two updates
    assert all(0 <= success <= 100 for _, success in points)
    write_table(table, places)
    assert picture.read_bytes() == drawn


def test_every_seed_has_a_learning_curve_of_its_own(places: Places) -> None:
    first, second = outcomes_of(TABLE, places)["tiny"]
    evaluated_twice = [first, replace(first, trial=Trial(16, 2)), second]
    assert curves_of(evaluated_twice) == [first.training.curve, second.training.curve]
