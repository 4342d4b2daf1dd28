"""benchmarks/paper/ship.py: the seed with the best validation is the one that is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

import gnarl_dsl as gnarl
from benchmarks.paper.ship import main
from gnarl_runtime.checkpoints.checkpoint import make_meta, save_checkpoint
from gnarl_runtime.checkpoints.recipe import PolicyConfig, Recipe
from gnarl_runtime.network.policy import Policy


def make_weights(file: Path, success: float, reward: float, steps: float) -> bytes:
    problem, config = gnarl.load("bfs"), PolicyConfig(width=4)
    scores = {"success": success, "reward": reward, "steps": steps}
    file.parent.mkdir(parents=True)
    meta = make_meta(problem, Recipe(policy=config), 0, 1, scores, {})
    save_checkpoint(file, Policy(problem, config), meta)
    return file.read_bytes()


def test_success_goes_before_reward_and_reward_before_steps(tmp_path: Path) -> None:
    make_weights(tmp_path / "mvc_bc-seed0" / "best.safetensors", 0.9, 1.0, 5.0)
    best = make_weights(tmp_path / "mvc_bc-seed1" / "best.safetensors", 1.0, 0.5, 7.0)
    make_weights(tmp_path / "mvc_bc-seed2" / "best.safetensors", 1.0, 0.5, 8.0)
    another_row = tmp_path / "mvc_bc_paper-seed0"
    make_weights(another_row / "best.safetensors", 1.0, 1.0, 1.0)
    assert main(["mvc"], tmp_path, tmp_path) == 0
    assert (tmp_path / "mvc.safetensors").read_bytes() == best


def test_a_problem_without_weights_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["dsf"], tmp_path, tmp_path) == 2
    assert "unknown problem dsf; expected bellman_ford" in capsys.readouterr().err
    assert main(["mvc"], tmp_path, tmp_path) == 0
    assert "no weights of a finished run" in capsys.readouterr().err
