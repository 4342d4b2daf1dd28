"""Studies: what a file may say, what comes out, and what a killed process leaves to others."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from gnarl_runtime.checkpoints.recipe_files import load_recipe
from gnarl_runtime.commands.jobs.sweep import main
from gnarl_runtime.sweeps.study_file import StudyPlan, load_study, studies_folder

Capture = pytest.CaptureFixture[str]
STUDY = """
spec = "bfs"
recipe = "bfs"
trials = 2
[set]
bc.updates = 6
bc.graphs = 8
data.pool = 12
data.nodes = 5
policy.width = 8
validation = {{ graphs = 4, nodes = 5, every = 3 }}
[search]
bc.lr = [1e-3, 1e-2]
policy.rounds = [1, 2]
[beside]
bc.lr = 1e-2
policy.rounds = 2
{more}
"""


def study(folder: Path, more: str = "") -> Path:
    file = folder / "study.toml"
    file.write_text(STUDY.format(more=more))
    return file


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("trials = 2", "trials = 0", "trials: "),
        ("bc.updates = 6", "bc.updatess = 6", "a recipe has no key bc.updatess; did you mean"),
        ("bc.lr = [1e-3, 1e-2]", "bc.lr = [1e-2, -1]", "search.bc.lr: bc.lr: "),
        ("bc.lr = [1e-3, 1e-2]", "bc.lr = []", "search.bc.lr"),
        ("bc.lr = [1e-3, 1e-2]", "bc.lr = {low = 1e-3, high = 1e-2}", "a grid needs a list"),
        ("policy.rounds = 2\n", "", "beside: expected a value for each of bc.lr, policy.rounds"),
        ("bc.lr = 1e-2\n", "bc.lr = 0.5\n", "beside.bc.lr: expected one of"),
        ('recipe = "bfs"', 'recipe = "bsf"', "there is no recipe bsf; did you mean bfs?"),
        ('spec = "bfs"', 'spec = "bfs', "study.toml: "),
    ],
)
def test_mistakes_are_told_before_anything_is_trained(
    old: str, new: str, told: str, tmp_path: Path, capsys: Capture
) -> None:
    file = study(tmp_path)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    assert main([str(file), "--out", str(tmp_path / "out")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_grid_is_drawn_once_each_by_its_seed() -> None:
    plan = StudyPlan.model_validate(
        {"spec": "bfs", "trials": 7, "search": {"bc.lr": [0.1, 0.2, 0.3], "rounds": [1, 2, 3]}}
    )
    points = [tuple(point.values()) for point in plan.points]
    assert len(set(points)) == 7
    other = plan.model_copy(update={"seed": 1})
    assert [tuple(point.values()) for point in other.points] != points


@pytest.mark.parametrize("file", sorted(studies_folder().glob("*.toml")), ids=lambda f: f.stem)
def test_shipped_studies_are_parts_of_the_papers_grid(file: Path) -> None:
    plan = load_study(file)
    assert plan.grid_size == 640
    assert plan.count == 23
    assert load_recipe(plan.recipe or "").trainer == "bc"


def test_a_study_ends_with_a_table_and_a_recipe(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert main([str(study(tmp_path)), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "of the 4 points of the grid (50 %), and one beside them" in shown
    assert "(beside)" in shown
    record = json.loads((out / "trials.json").read_text())
    points = [tuple(trial["point"].values()) for trial in record["trials"]]
    assert len(points) == len(set(points)) == (3 if shown.count("3 to do") else 2)
    orders = [trial["scores"][:2] for trial in record["trials"]]
    assert orders == sorted(orders, reverse=True)
    best = load_recipe(str(out / "best.toml"))
    assert best.bc.updates == 6
    assert (best.bc.lr, best.policy.rounds) == points[0]
    assert tomllib.loads((out / "best.toml").read_text())["trainer"] == "bc"
    assert (out / "parallel.png").stat().st_size > 1000
    assert main([str(study(tmp_path)), "--out", str(out), "--table"]) == 0  # nothing is run again
    assert json.loads((out / "trials.json").read_text())["trials"] == record["trials"]


def test_a_folder_holds_one_study(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert main([str(study(tmp_path)), "--out", str(out), "--table"]) == 0
    assert "no trial is finished yet" in capsys.readouterr().out
    other = study(tmp_path)
    other.write_text(other.read_text().replace("trials = 2", "trials = 3"))
    assert main([str(other), "--out", str(out)]) == 2
    assert "`trials` differs" in capsys.readouterr().err


@pytest.mark.long
def test_what_a_killed_process_began_is_taken_up_again(tmp_path: Path) -> None:
    """The same trials are finished, with the same results, as by a process that nobody kills."""
    file = study(tmp_path)
    file.write_text(file.read_text().replace("bc.updates = 6", "bc.updates = 120"))
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    command = [sys.executable, "-m", "gnarl_runtime.commands.jobs.sweep", str(file), "--out"]
    subprocess.run([*command, str(whole)], check=True, capture_output=True, timeout=600)
    first = subprocess.Popen([*command, str(cut)], stdout=subprocess.DEVNULL)
    ends = time.monotonic() + 300
    while not list(cut.glob("trials/*/state.safetensors")) and time.monotonic() < ends:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    subprocess.run([*command, str(cut)], check=True, capture_output=True, timeout=600)
    found = [json.loads((folder / "trials.json").read_text())["trials"] for folder in (whole, cut)]
    told = [
        {t["number"]: (t["point"], t["scores"], t["state"]) for t in trials} for trials in found
    ]
    assert told[0] == told[1]
