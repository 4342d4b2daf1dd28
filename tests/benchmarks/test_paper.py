"""benchmarks/paper: runs and evaluations are not repeated; what is wrong is told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import pytest
from paper_cases import QUICK, TABLE, TRIAL, places_in

from benchmarks.machine import ROOT, commit, from_here
from benchmarks.paper import outcomes
from benchmarks.paper.__main__ import main
from benchmarks.paper.outcomes import Places, Stopped
from benchmarks.paper.record import outcomes_of, read_record
from benchmarks.paper.report import write_table
from benchmarks.paper.rows import Table, Trial
from benchmarks.paper.runs import Budget, picks_learned, run_row
from benchmarks.paper.tables import TABLES
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import load_recipe


def test_a_row_is_trained_evaluated_and_not_repeated(places: Places) -> None:
    files = {path: path.stat().st_mtime_ns for path in places.runs.rglob("*") if path.is_file()}
    run_row(TABLE.rows[0], Budget(graphs=3), places)
    again = {path: path.stat().st_mtime_ns for path in places.runs.rglob("*") if path.is_file()}
    assert again == files
    text = write_table(TABLE, places)
    assert "| Tiny BFS | 3 of 8 nodes | 100.0 ± 0.0 |" in text
    assert "Fewer test graphs than planned: Tiny BFS." in text
    assert "Not run yet" not in text
    assert "--minutes" not in text
    head, *lines = json.loads((places.output / "paper_tiny.json").read_text("utf-8"))
    assert (head["table"], head["title"]) == ("tiny", "A tiny table")
    assert [next(iter(line)) for line in lines] == ["run", "figure", "run", "figure"]
    run, entry = lines[0]["run"], lines[1]["figure"]
    assert (run["row"], run["seed"], lines[2]["run"]["seed"]) == ("tiny", 0, 1)
    assert run["cpu_seconds"] > 0
    assert run["command"].startswith("gnarl-train --spec bfs")
    assert run["picks"] == 8  # four graphs side by side, two updates
    assert (entry["row"], entry["seed"], entry["trial"]) == ("tiny", 0, "test-8")
    assert (entry["result"]["nodes"], entry["result"]["graphs"]) == (8, 3)


def test_what_a_table_has_survives_the_loss_of_its_runs(places: Places) -> None:
    text = write_table(TABLE, places)
    rmtree(places.runs)
    run_row(TABLE.rows[0], Budget(graphs=3), places, read_record(TABLE, places)["tiny"])
    assert not places.runs.exists()  # nothing was run
    assert write_table(TABLE, places) == text


@pytest.mark.parametrize("lost", [False, True], ids=["runs on disk", "runs lost"])
def test_more_graphs_than_a_table_has_are_played(places: Places, lost: bool) -> None:
    if lost:
        rmtree(places.runs)
    before = read_record(TABLE, places)["tiny"]
    run_row(TABLE.rows[0], Budget(seeds=1), places, before)
    first, second = outcomes_of(TABLE, places)["tiny"]
    assert (first.result["graphs"], second.result["graphs"]) == (6, 3)
    assert "| Tiny BFS | 3 to 6 of 8 nodes |" in write_table(TABLE, places)
    assert first.training.same_run(before[0].training)


def test_large_graphs_can_be_left_out(places: Places) -> None:
    row = replace(TABLE.rows[0], trials=(TRIAL, Trial(16, 2), Trial(32, 2)))
    table = replace(TABLE, rows=(row,))
    run_row(row, Budget(seeds=1, graphs=2, largest=16), places, read_record(table, places)["tiny"])
    found = [outcome.trial.nodes for outcome in outcomes_of(table, places)["tiny"]]
    assert found == [8, 16, 8]  # of the second seed as before
    assert "Not run yet: Tiny BFS (16 nodes in 1 of 2 seeds, 32 nodes" in write_table(table, places)


@pytest.mark.parametrize("flag", ["--graphs", "--largest", "--seeds"])
@pytest.mark.parametrize("value", ["0", "-3", "many", "1.5"])
def test_a_budget_of_nothing_is_refused(
    flag: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["clrs", f"{flag}={value}"])
    assert stop.value.code == 2
    assert f"expected a whole number from 1 up, found {value}" in capsys.readouterr().err


HEAD = b'[{"table": "clrs"}, '
DAMAGED = (
    *(b"[]", b"{}", b'{"rows": [{}]}', b"[{}]", HEAD + b"7]", HEAD + b'{"run": {}}]'),
    HEAD + b'{"figure": {"row": "bfs", "seed": 0, "trial": "test-64"}}]',  # its run is not there
    HEAD + b'{"beside": {"row": "bfs", "seed": 0, "trial": "test-64"}}]',  # nor is its figure
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *((text, "is no JSON") for text in (b"", b"{", b"\xff\xfe")),
        *((text, "has another shape") for text in DAMAGED),
    ],
)
def test_a_damaged_record_is_named_and_left_alone(
    text: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "paper_clrs.json"
    record.write_bytes(text)
    folders = [f"--{name}={tmp_path}" for name in ("runs", "weights", "output")]
    for more in (["--report"], ["--only", "bfs", "--seeds", "1"]):
        assert main(["clrs", *more, *folders]) == 1
        assert f"{record} {told}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["paper_clrs.json"]
    assert record.read_bytes() == text


def test_kept_weights_are_evaluated_instead_of_trained_again(places: Places) -> None:
    rmtree(places.runs)
    larger = replace(TABLE.rows[0], trials=(TRIAL, Trial(16, 2)))
    table = replace(TABLE, rows=(larger,))
    run_row(larger, Budget(seeds=1, graphs=3), places, read_record(table, places)["tiny"])
    files = sorted(path.name for path in places.runs.rglob("*.*"))
    assert files == ["best.safetensors", "eval-test-16.json", "finished.json"]
    old, new, _ = outcomes_of(table, places)["tiny"]
    assert old.training.same_run(new.training)
    assert [outcome.trial.nodes for outcome in (old, new)] == [8, 16]


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, "is missing"), ("{}", "has another shape"), ('{"pick": 1}', "has another shape")],
)
def test_kept_weights_without_what_is_known_of_them_are_named(
    text: str | None, told: str, places: Places
) -> None:
    rmtree(places.runs)
    known = places.kept(TABLE.rows[0], 0) / "finished.json"
    known.unlink()
    places.manifest.unlink()
    if text is not None:
        known.write_text(text)
    with pytest.raises(Stopped, match=f"{known} {told}"):
        run_row(TABLE.rows[0], Budget(seeds=1, graphs=3), places)


def test_a_run_costs_what_the_weights_did_that_it_began_with(places: Places) -> None:
    start = places.kept(TABLE.rows[0], 0)
    row = replace(TABLE.rows[0], name="longer", options=(*QUICK, "--from", str(start)))
    run_row(row, Budget(seeds=1, graphs=2), places)
    before, after = (outcomes.read_training(folder) for folder in (start, places.run(row, 0)))
    assert after.picks == 2 * before.picks
    assert after.cpu_seconds > before.cpu_seconds


@pytest.mark.usefixtures("own_process")
def test_no_minutes_are_not_as_many_as_the_recipe_has(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    with pytest.raises(Stopped, match=r"exit code 2: gnarl-train .* --minutes 0"):
        run_row(TABLE.rows[0], Budget(minutes=0), places)
    assert not places.weights.exists()


def test_what_is_asked_for_again_is_trained_again(places: Places) -> None:
    rmtree(places.runs)
    (kept, _) = read_record(TABLE, places)["tiny"]
    run_row(TABLE.rows[0], Budget(seeds=1, graphs=2, again=True), places, [kept])
    trained, _ = outcomes_of(TABLE, places)["tiny"]
    assert trained.result["graphs"] == 2  # the table had three
    assert not trained.training.same_run(kept.training)


def test_a_run_that_was_made_anew_replaces_what_the_table_had_of_its_seed(places: Places) -> None:
    record = places.output / "paper_tiny.json"
    document = json.loads(record.read_text("utf-8"))
    trials = (TRIAL, Trial(16, 2))
    figures = [line["figure"] for line in document if "figure" in line]
    larger = [{"figure": {**figure, "trial": trials[1].name}} for figure in figures]
    document[1]["run"]["cpu_seconds"] += 1  # an older run of the first seed
    record.write_text(json.dumps([*document, *larger]), "utf-8")
    table = replace(TABLE, rows=(replace(TABLE.rows[0], trials=trials),))
    found = [(o.seed, o.trial.nodes) for o in outcomes_of(table, places)["tiny"]]
    assert found == [(0, 8), (1, 8), (1, 16)]


def test_a_row_that_is_made_in_another_way_now_is_not_in_the_record(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = replace(TABLE.rows[0], options=(*QUICK, "--set", "bc.lr=0.1"))
    assert len(read_record(TABLE, places)["tiny"]) == 2
    assert read_record(replace(TABLE, rows=(changed,)), places)["tiny"] == []
    recipe = load_recipe("bfs")
    monkeypatch.setattr(outcomes, "load_recipe", lambda name: replaced(recipe, doc="Reworded."))
    assert len(read_record(TABLE, places)["tiny"]) == 2
    monkeypatch.setattr(outcomes, "load_recipe", lambda name: replaced(recipe, temperature=0.5))
    assert read_record(TABLE, places)["tiny"] == []


@pytest.mark.parametrize("lost", [False, True], ids=["runs on disk", "runs lost"])
def test_a_trial_that_is_played_in_another_way_now_is_played_again(
    places: Places, lost: bool
) -> None:
    if lost:
        rmtree(places.runs)
    row = replace(TABLE.rows[0], trials=(replace(TRIAL, options=("--max-rounds", "1")),))
    table = replace(TABLE, rows=(row,))
    assert outcomes_of(table, places)["tiny"] == []
    run_row(row, Budget(seeds=1, graphs=3), places, read_record(table, places)["tiny"])
    (cut_off,) = outcomes_of(table, places)["tiny"]
    assert cut_off.result["steps"] == 2  # one round of two picks


@pytest.mark.parametrize("lost", [False, True], ids=["runs on disk", "runs lost"])
def test_players_who_have_not_played_yet_are_asked_to(places: Places, lost: bool) -> None:
    if lost:
        rmtree(places.runs)
    row = replace(TABLE.rows[0], trials=(replace(TRIAL, against="random,expert"),))
    table = replace(TABLE, rows=(row,))
    before = read_record(table, places)["tiny"]
    run_row(row, Budget(graphs=3), places, before)
    first, second = outcomes_of(table, places)["tiny"]
    assert list(first.baselines) == ["random", "expert"]
    assert first.training.same_run(before[0].training)
    assert second.baselines == {}  # on the graphs of the first seed only


def replaced(recipe: Recipe, **values: object) -> Recipe:
    return recipe.model_copy(update=values)


def test_commands_are_told_as_they_are_typed_in_the_checkout() -> None:
    command = ["gnarl-train", "--out", "/home/me/gnarl/runs/paper/bfs-seed0", "/home/me/data"]
    assert from_here(command, Path("/home/me/gnarl"))[-2:] == ["runs/paper/bfs-seed0", "../data"]


def test_a_commit_has_a_plus_sign_for_changed_files_but_not_for_results(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        author = ("-c", "user.name=me", "-c", "user.email=me@here")
        subprocess.run(["git", *author, *words], cwd=tmp_path, check=True, capture_output=True)

    assert commit(tmp_path) == ""
    git("init")
    (tmp_path / "code.py").write_text("1")
    git("add", ".")
    git("commit", "-m", "first")
    clean = commit(tmp_path)
    assert len(clean) == 40
    for folder in ("benchmarks/weights", "docs/results"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "new.json").write_text("{}")
    assert commit(tmp_path) == clean
    (tmp_path / "code.py").write_text("2")
    assert commit(tmp_path) == clean + "+"


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


@pytest.mark.usefixtures("own_process")
def test_a_seed_alone_leaves_the_others_to_other_processes(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    run_row(TABLE.rows[0], Budget(seed=1, graphs=2), places)
    assert [folder.name for folder in places.runs.iterdir()] == ["tiny-seed1"]
    run_row(TABLE.rows[0], Budget(seed=2), places)  # the row has two
    assert [folder.name for folder in places.runs.iterdir()] == ["tiny-seed1"]
    more = replace(TABLE.rows[0], trials=(TRIAL, Trial(16, 2)))
    text = write_table(replace(TABLE, rows=(more,)), places)
    assert "| Tiny BFS | 2 of 8 nodes |" in text
    assert "Not run yet: Tiny BFS (16 nodes, 1 of 2 seeds)." in text


@pytest.mark.parametrize("seed", ["-1", "5"])
def test_a_seed_that_no_row_has_is_told(
    seed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [f"--{name}={tmp_path}" for name in ("runs", "weights", "output")]
    assert main(["clrs", "--only", "dfs", f"--seed={seed}", *folders]) == 1
    assert f"no row has seed {seed}; expected 0 to 4" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


CHILD = """
import pathlib, sys, time
try:
    pathlib.Path("ready").touch()
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(1)  # as long as an update of training may take
    pathlib.Path("saved").touch()
"""
PARENT = """
import sys
from benchmarks.paper import __main__ as paper, runs
paper.run_table = lambda *args: runs.call(["python", "-c", sys.argv[1]], paper.Budget())
sys.exit(paper.main(["clrs", "--runs=r", "--weights=w", "--output=o"]))
"""


def test_an_interrupted_command_may_save_what_it_has(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, CHILD],
        cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    while not (tmp_path / "ready").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told.endswith("interrupted; the same command goes on where it was\n")
    assert "Traceback" not in told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ready", "saved"]
