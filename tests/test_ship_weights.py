"""benchmarks/ship_weights.py: the seed with the best validation is the one that is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.ship_weights import main


def make_run(folder: Path, weights: bytes, *validations: tuple[float, float, float]) -> None:
    folder.mkdir(parents=True)
    (folder / "finished.json").write_text("{}", "utf-8")
    (folder / "best.safetensors").write_bytes(weights)
    lines = [json.dumps({"update": 1})]
    for success, reward, steps in validations:
        entry = {"valid_success": success, "valid_reward": reward, "valid_steps": steps}
        lines.append(json.dumps(entry))
    (folder / "metrics.jsonl").write_text("\n".join(lines), "utf-8")


def test_success_goes_before_reward_and_reward_before_steps(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    make_run(runs / "bfs-seed0", b"worse", (0.9, 1.0, 5.0))
    make_run(runs / "bfs-seed1", b"best", (0.2, 0.0, 9.0), (1.0, 0.5, 7.0))
    make_run(runs / "bfs-seed2", b"longer", (1.0, 0.5, 8.0))
    assert main(["bfs"], runs, tmp_path) == 0
    assert (tmp_path / "bfs.safetensors").read_bytes() == b"best"


def test_a_problem_without_weights_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dsf"], tmp_path, tmp_path) == 2
    assert "unknown problem dsf; expected bfs" in capsys.readouterr().err
    assert main(["bfs"], tmp_path, tmp_path) == 0
    assert "no finished run" in capsys.readouterr().err
