"""`gnarl-eval`: the table, the JSON, the picture, and a message for every mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkpoints import untrained_run
from shipped_specs import shipped

from gnarl_runtime.checkpoints.checkpoint import BEST
from gnarl_runtime.commands.eval import main
from gnarl_runtime.instances.pools import draw_pool

Capture = pytest.CaptureFixture[str]
# What scripts rely on, as the manual lists it.
ROW = {"nodes", "graphs", "success", "ci95", "objective", "ratio", "steps", "seconds_per_graph"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("mvc", "bfs"):
        untrained_run(folder, name)
    return folder


def run(*args: object, capsys: Capture) -> tuple[int, str, str]:
    code = main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def figures(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for rows in (found["results"], *found["baselines"].values()):
        for row in rows:
            row["seconds_per_graph"] = 0
    return found


def test_a_table_a_document_and_a_picture(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    flags = ["--sizes", "6,8", "--graphs", "10", "--against", "approx,random"]
    files = ["--json", tmp_path / "a.json", "--plot", tmp_path / "a.png"]
    code, out, _ = run(runs / "mvc", *flags, *files, capsys=capsys)
    assert code == 0
    assert [word in out for word in ("policy", "approx", "random", "ratio", "success")] == [
        True
    ] * 5
    found = figures(tmp_path / "a.json")
    assert [row["nodes"] for row in found["results"]] == [6, 8]
    for row in found["results"]:
        assert set(row) >= ROW
        assert row["graphs"] == 10
        assert 0 <= row["ci95"][0] <= row["success"] <= row["ci95"][1] <= 1
        assert row["ratio"] == row["metrics"]["ratio"] > 0
        assert 0 < row["standard_errors"]["ratio"] < row["ratio"]
    assert found["machine"]["peak_megabytes"] is None or found["machine"]["peak_megabytes"] > 10
    assert set(found["baselines"]) == {"approx", "random"}
    assert found["spec_hash"] == shipped("mvc").hash
    assert found["evaluation"]["seed"] == 0
    assert found["recipe"]["trainer"] == "bc"
    assert found["machine"]["torch"]
    assert found["checkpoint"].endswith(BEST)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.png"]


def test_the_same_seed_gives_the_same_figures(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        flags = ["--sizes", "6", "--graphs", "10", "--seed", seed, "--no-reference"]
        assert run(runs / "mvc", *flags, "--json", tmp_path / f"{name}.json", capsys=capsys)[0] == 0
    a, b, c = (figures(tmp_path / f"{name}.json")["results"] for name in "abc")
    assert a == b
    assert a != c
    assert a[0]["ratio"] is None


def test_several_attempts_count_solutions(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "a.json"
    flags = ["--sizes", "5", "--graphs", "6", "--temperature", "1", "--samples", "9"]
    assert run(runs / "mvc", *flags, "--json", out, capsys=capsys)[0] == 0
    (row,) = figures(out)["results"]
    own = row["sampling"]
    assert own["samples"] == 9
    assert own["correct"] == 9  # every cover is valid
    assert 1 < own["unique"] <= 9
    assert own["best_objective"] >= row["objective"]


def test_graphs_from_a_file(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    data, out = tmp_path / "few.gnarl.npz", tmp_path / "a.json"
    draw_pool(shipped("mvc"), count=5, nodes=(5, 6), seed=1).write(data)
    assert run(runs / "mvc", "--data", data, "--json", out, capsys=capsys)[0] == 0
    found = figures(out)
    assert sum(row["graphs"] for row in found["results"]) == 5
    assert found["data"] == str(data)
    assert found["evaluation"]["split"] is None


def test_a_policy_is_played_as_its_recipe_says(tmp_path: Path, capsys: Capture) -> None:
    drawn = untrained_run(tmp_path, "mvc", temperature=0.7)
    asked = ["--sizes", "8", "--graphs", "12", "--json"]
    found = {}
    for name, flags in {"": [], "0.7": ["--temperature", "0.7"], "0": ["--temperature", 0]}.items():
        file = tmp_path / f"{name}.json"
        assert run(drawn, *asked, file, *flags, capsys=capsys)[0] == 0
        found[name] = figures(file)
    assert found[""]["evaluation"]["temperature"] == 0.7
    assert found["0"]["evaluation"]["temperature"] is None
    assert found[""]["results"] == found["0.7"]["results"] != found["0"]["results"]


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (["--sizes", "4,x"], 2, "found `x`; expected numbers of nodes"),
        (["--sizes", "0"], 2, "expected numbers of nodes from 1"),
        (["--graphs", "0"], 2, "expected 1 or more"),
        (["--samples", "3"], 2, "without --temperature"),
        (["--temperature", "0", "--samples", "3"], 2, "without --temperature"),
        (["--temperature", "-1"], 2, "expected a number from 0 up"),
        (["--temperature", "nan"], 2, "expected a number from 0 up"),
        (["--against", "aprox"], 2, "Did you mean `approx`?"),
        (["--against", "random,"], 2, "expected names"),
        (["--reference", "best"], 2, "has no baseline `best`"),
        (["--reference", "optimal", "--no-reference"], 2, "cannot both be given"),
        (["--instances", "grid"], 2, "it has: ba"),
        (["--data", "nowhere.json"], 2, "there is no such file"),
        (["--json", "nowhere/a.json"], 2, "there is no folder nowhere"),
        (["--plot", "a.gif"], 2, "ends in .png or .svg or .pdf"),
        (["--seed", "-1"], 2, "expected 0 or more"),
        (["--threads", "0"], 2, "expected 1 or more"),
        (["-p", "eps"], 2, "expected NAME=VALUE"),
        (["-p", "epsilon=1"], 2, "epsilon"),
        (["--spec", "bfs"], 1, "feature `w` (node scalar) is only in the first"),
        (["--spec", "mvcc"], 2, "Did you mean mvc?"),
        (["--sizes", "1", "--graphs", "2"], 1, "ba"),
    ],
)
def test_mistakes_are_explained(
    runs: Path, flags: list[str], code: int, said: str, capsys: Capture
) -> None:
    found, out, err = run(runs / "mvc", *flags, capsys=capsys)
    assert (found, out) == (code, "")
    assert said in err


@pytest.mark.parametrize("words", ["", "--pretrained bfs", "runs/mvc"])
@pytest.mark.parametrize("first", [True, False])
def test_sizes_with_a_space_between_are_explained(words: str, first: bool, capsys: Capture) -> None:
    sizes, others = ["--sizes", "16", "64", "128"], words.split()
    code, out, err = run(*(sizes + others if first else others + sizes), capsys=capsys)
    assert (code, out) == (2, "")
    assert "--sizes 16 64 128: expected commas between numbers of nodes: --sizes 16,64,128" in err


@pytest.mark.parametrize("words", ["a --b", "a --sizes 16 --b"])
def test_words_without_a_meaning_are_named(words: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as stop:
        run(*words.split(), capsys=capsys)
    assert stop.value.code == 2
    assert f"unrecognized arguments: {words.split()[-1]}" in capsys.readouterr().err


# Several runs, and those behind a baseline


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, runs: Path) -> list[Path]:
    """An untrained policy, itself again in another folder, and one that draws."""
    folders = [tmp_path_factory.mktemp("again"), tmp_path_factory.mktemp("drawn")]
    again, drawn = untrained_run(folders[0], "mvc"), untrained_run(folders[1], "mvc", 5.0)
    return [runs / "mvc", again, drawn]


def test_runs_play_the_same_graphs(three: list[Path], tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "a.json"
    flags = ["--sizes", "6,9", "--graphs", "20", "--no-reference", "--json", out]
    code, text, _ = run(three[0], *flags, *three[1:], capsys=capsys)
    assert code == 0
    found = figures(out)
    assert set(found["runs"]) == {str(three[1]), str(three[2])}
    for row in found["runs"][str(three[1])]:
        row["seconds_per_graph"] = 0
    assert found["runs"][str(three[1])] == found["results"] != found["runs"][str(three[2])]
    assert len(found["comparisons"]) == 2 * 3  # sizes, pairs
    same = found["comparisons"][0]
    assert (same["difference"], same["first_is"], same["ci95"]) == (0, "level", [0, 0])
    assert f"6 nodes, {three[0]} minus {three[1]}: " in text
    assert "they cannot be told apart" in text


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("bfs", "expected runs of the same spec"),
        ("mvc", "is there twice; expected different runs"),
        ("nowhere", "expected a run folder, or a checkpoint in it"),
    ],
)
def test_runs_that_cannot_be_compared(runs: Path, other: str, said: str, capsys: Capture) -> None:
    code, out, err = run(runs / "mvc", runs / other, "--graphs", "2", capsys=capsys)
    assert (code, out) == (2, "")
    assert said in err


def test_a_policy_behind_a_baseline_is_told(runs: Path, capsys: Capture) -> None:
    flags = ["--sizes", "12", "--graphs", "30", "--no-reference", "--against"]
    _, out, _ = run(runs / "mvc", *flags, "optimal,random", capsys=capsys)
    (line,) = [line for line in out.splitlines() if "behind `optimal`" in line]
    assert line.startswith("the policy is behind `optimal`: cover -")
    assert line.endswith("on 30 graphs of 12 nodes")


def test_sizes_do_not_go_with_a_file(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    data = tmp_path / "a.json"
    data.write_text("{}", "utf-8")
    code, _, err = run(runs / "mvc", "--data", data, "--sizes", "5", capsys=capsys)
    assert code == 2
    assert "--sizes is about drawn graphs" in err


def test_a_file_of_graphs_that_is_none(runs: Path, tmp_path: Path, capsys: Capture) -> None:
    data = tmp_path / "a.json"
    data.write_text("{", "utf-8")
    code, _, err = run(runs / "mvc", "--data", data, capsys=capsys)
    assert code == 1
    assert "a.json" in err


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "text", "folder"])
def test_a_checkpoint_that_is_none(
    runs: Path, tmp_path: Path, damage: str, capsys: Capture
) -> None:
    path, whole = tmp_path / "a.safetensors", (runs / "mvc" / BEST).read_bytes()
    content = {"empty": b"", "cut": whole[:-40], "text": b"gnarl 1\n"}
    if damage in content:
        path.write_bytes(content[damage])
    target = tmp_path if damage == "folder" else path
    code, out, err = run(target, capsys=capsys)
    assert (code, out) == (2 if damage == "missing" else 1, "")
    assert str(target) in err


def test_mistakes_are_found_before_anything_heavy_is_loaded() -> None:
    code = (
        "import sys\nfrom gnarl_runtime.commands.eval import main\n"
        "assert main(['nowhere']) == 2\n"
        "heavy = {'torch', 'numba', 'scipy', 'networkx', 'matplotlib'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.long
def test_several_processes_find_the_same_figures(
    runs: Path, tmp_path: Path, capsys: Capture
) -> None:
    flags = ["--sizes", "6", "--graphs", "11", "--against", "random"]
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    assert run(runs / "mvc", *flags, "--json", one, capsys=capsys)[0] == 0
    assert run(runs / "mvc", *flags, "--json", two, "--jobs", "2", capsys=capsys)[0] == 0
    for part in ("results", "baselines"):
        assert figures(one)[part] == figures(two)[part]
