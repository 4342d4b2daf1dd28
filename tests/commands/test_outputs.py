"""Outputs of commands never destroy what the command reads, a run, or each other."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pytest

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.commands.work.outputs import RUN_FILES, WEIGHTS, verify_outputs


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    (folder / "spec").mkdir(parents=True)
    for name in ("config.json", "best.safetensors", "spec/bfs.gnarl"):
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize(
    "name",
    ["config.json", "best.safetensors", "last.safetensors", "metrics.jsonl", "spec/x.gnarl"],
)
def test_what_a_run_is_made_of_is_refused(run: Path, name: str) -> None:
    with pytest.raises(UsageError, match="belongs to the run"):
        verify_outputs({"--json": run / name})


def test_other_files_may_lie_in_a_run_folder(run: Path, tmp_path: Path) -> None:
    verify_outputs({"--json": run / "eval.json", "--plot": tmp_path / "curves.png"})


def test_inputs_are_refused_under_any_name(tmp_path: Path) -> None:
    data, link = tmp_path / "graph.json", tmp_path / "link.json"
    data.write_text("{}")
    link.symlink_to(data)
    for name in (data, link, tmp_path / "." / "graph.json", str(data)):
        with pytest.raises(UsageError, match="is what this command reads"):
            verify_outputs({"--out": name}, [None, "-", data])


def test_two_outputs_to_one_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "both.png"
    with pytest.raises(UsageError, match="--plot and --json are one file"):
        verify_outputs({"--json": file, "--plot": tmp_path / "x" / ".." / "both.png"})
    verify_outputs({"--json": os.devnull, "--plot": os.devnull, "--out": None})


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        verify_outputs({"--out": tmp_path})


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("eval", ["RUN", "--json", "RUN/best.safetensors"]),
        ("eval", ["RUN", "--json", "both.png", "--plot", "both.png"]),
        ("eval", ["RUN", "--data", "graph.json", "--json", "graph.json"]),
        ("solve", ["RUN", "--data", "graph.json", "--out", "graph.json"]),
        ("solve", ["RUN", "--data", "graph.json", "--out", "RUN/config.json"]),
        ("view", ["RUN", "--png", "RUN/curves.png"]),
        ("check", ["own.gnarl", "--dot", "own.gnarl"]),
    ],
)
def test_commands_refuse_before_they_start(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("graph.json", "own.gnarl"):
        Path(name).write_text("kept")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    main = import_module(f"gnarl_runtime.commands.{command}").main
    assert main([word.replace("RUN", str(run)) for word in arguments]) == 2
    assert "choose" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_the_files_of_a_run_are_those_that_training_writes() -> None:
    from gnarl_runtime.checkpoints.checkpoint import BEST
    from gnarl_runtime.training.run_folder import CONFIG, LAST, METRICS, STATE
    from gnarl_runtime.training.starting import START

    assert {CONFIG, METRICS} <= RUN_FILES
    assert all(name.endswith(WEIGHTS) for name in (BEST, LAST, STATE, START))
