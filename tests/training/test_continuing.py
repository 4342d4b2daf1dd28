"""Runs that start from weights, are stopped, go on, and are validated on the way."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from house import ROOT
from shipped_specs import shipped
from training_runs import TINY, command, same, tiny, weights

import gnarl_dsl as gnarl
from gnarl_runtime.api import train_policy as session
from gnarl_runtime.api.train_policy import describe
from gnarl_runtime.checkpoints.checkpoint import load_checkpoint
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.weight_arrays import module_arrays
from gnarl_runtime.commands.train import main
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.training.chain import ChainTrainer
from gnarl_runtime.training.loop import Loop, Report
from gnarl_runtime.training.run_folder import RunFolder, make_config
from gnarl_runtime.training.trainer import Metrics, Trainer
from gnarl_runtime.training.trainers import make_trainer
from gnarl_runtime.training.validate import Scores, Validator, make_validator

# Starting from weights


@pytest.mark.parametrize("trainer", ["bc", "ppo", "bc+ppo"])
def test_given_weights_are_where_training_starts(trainer: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(command(first)[3:]) == 0
    more = ["--from", str(first), "--set", f"trainer={trainer}", "--set", "policy.width=8"]
    # A learning rate of next to nothing leaves the weights as they were.
    still = ["--set", "bc.lr=1e-30", "--set", "ppo.lr=1e-30", "--set", "ppo.updates=1"]
    assert main([*command(second)[3:], *more, *still]) == 0
    assert same(weights(second / "last.safetensors"), weights(first / "best.safetensors"))
    origin = load_checkpoint(second).meta.provenance["start"]
    assert origin["file"] == str(first / "best.safetensors")
    assert origin["updates"] == load_checkpoint(first).meta.updates


def test_a_run_from_weights_is_continued_without_the_original(tmp_path: Path) -> None:
    first, whole, later = (tmp_path / name for name in ("first", "whole", "later"))
    assert main(command(first)[3:]) == 0
    arguments = ["--from", str(first), "--set", "bc.updates=10", "--seed", "1"]
    assert main([*command(whole)[3:], *arguments]) == 0
    shutil.rmtree(first)
    shutil.copytree(whole, later)
    for name in ("state", "last", "best"):  # as if stopped before anything was saved
        (later / f"{name}.safetensors").unlink()
    assert main(["--resume", str(later)]) == 0
    assert same(weights(later / "last.safetensors"), weights(whole / "last.safetensors"))


def test_a_saved_state_needs_no_start(tmp_path: Path) -> None:
    """Weights that were learned further from are of no use to it, whole or damaged."""
    first, whole, later = (tmp_path / name for name in ("first", "whole", "later"))
    assert main(command(first)[3:]) == 0
    assert main([*command(whole)[3:], "--from", str(first), "--seed", "1"]) == 0
    shutil.copytree(whole, later)
    (later / "last.safetensors").unlink()  # as if stopped just before the end
    (later / "start.safetensors").write_bytes(b"damaged")
    assert main(["--resume", str(later)]) == 0
    assert same(weights(later / "last.safetensors"), weights(whole / "last.safetensors"))


def test_weights_for_other_features_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Even where the numbers of features are the same."""
    spec, out = tmp_path / "other.gnarl", tmp_path / "run"
    text = (ROOT / "specs" / "bfs.gnarl").read_text("utf-8")
    spec.write_text(re.sub(r"\breach\b", "seen", text), "utf-8")
    arguments = ["--spec", str(spec), "--recipe", "bfs", "--out", str(out)]
    assert main([*arguments, "--set", "bc.updates=2", "--pretrained", "bfs"]) == 1
    assert "feature `reach` (node mask) is only in the first" in capsys.readouterr().err
    assert not out.exists()


def test_the_policy_is_that_of_the_weights(tmp_path: Path) -> None:
    """A recipe with another policy needs no change; `bfs` by itself is 64 wide."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert main(command(first)[3:]) == 0
    arguments = ["--spec", "bfs", "--from", str(first), "--out", str(second)]
    arguments += ["--set", "policy.rounds=2"]  # as they have
    assert main([*arguments, "--set", "bc.updates=2", "--set", "data.pool=24"]) == 0
    assert load_checkpoint(second).meta.policy.width == 8


def test_validation_counts_the_updates_of_the_last_part(tmp_path: Path) -> None:
    """Imitation before PPO is only a start: it is judged once, at its end."""
    out = tmp_path / "run"
    more = ["trainer=bc+ppo", "bc.updates=7", "ppo.updates=5", "validation.every=2"]
    sets = [part for entry in more for part in ("--set", entry)]
    assert main([*command(out)[3:], *sets]) == 0
    judged = [entry["update"] for entry in RunFolder(out).metrics() if "valid_success" in entry]
    assert judged == [7, 9, 11, 12]


def test_a_part_goes_on_from_the_best_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PPO that undoes what imitation has taught is no start for what follows."""
    starts = []

    def make(self: ChainTrainer, policy: Policy | None) -> Trainer:
        if policy is not None:
            starts.append({name: own.copy() for name, own in module_arrays(policy).items()})
        return whole(self, policy)

    whole = ChainTrainer._make
    monkeypatch.setattr(ChainTrainer, "_make", make)
    out = tmp_path / "run"
    more = ["trainer=bc+ppo+improve", "bc.updates=9", "ppo.updates=3", "ppo.lr=0.5"]
    more += ["improve.updates=1", "improve.lr=1e-9"]
    sets = [part for entry in more for part in ("--set", entry)]
    assert main([*command(out)[3:], *sets]) == 0
    entries = [entry for entry in RunFolder(out).metrics() if "valid_reward" in entry]
    assert [entry["update"] for entry in entries] == [9, 12, 13]
    assert entries[1]["valid_reward"] < entries[0]["valid_reward"]
    of_ppo, of_improve = starts
    assert same(of_ppo, of_improve)


# Continuing


@pytest.mark.parametrize("trainer", ["bc", "ppo", "bc+ppo"])
def test_a_restored_trainer_goes_on_as_if_nothing_had_happened(trainer: str) -> None:
    problem = shipped("mvc")
    recipe = tiny(trainer=trainer, bc={**TINY["bc"], "updates": 2})
    whole = make_trainer(problem, recipe, 3)
    for _ in range(whole.updates):
        whole.update()
    for cut in range(1, whole.updates):
        first = make_trainer(problem, recipe, 3)
        for _ in range(cut):
            first.update()
        second = make_trainer(problem, recipe, 3)
        second.restore(first.arrays(), first.done)
        while second.done < second.updates:
            second.update()
        assert same(second.arrays(), whole.arrays()), f"cut after {cut}"


def test_a_killed_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main(command(whole)[3:]) == 0
    process = subprocess.Popen(command(killed), stderr=subprocess.DEVNULL)
    until = time.monotonic() + 100
    while not (killed / "state.safetensors").is_file() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (killed / "state.safetensors").is_file()
    assert main(["--resume", str(killed)]) == 0
    for name in ("last.safetensors", "best.safetensors"):
        assert same(weights(killed / name), weights(whole / name))
    written = (killed / "state.safetensors").stat().st_mtime_ns
    assert main(["--resume", str(killed)]) == 0
    assert (killed / "state.safetensors").stat().st_mtime_ns == written  # nothing left to do
    entries = [json.loads(line) for line in (killed / "metrics.jsonl").open()]
    seen = [entry["update"] for entry in entries]
    assert seen == sorted(set(seen))
    spent = [entry["cpu_seconds"] for entry in entries]
    assert spent == sorted(spent)  # the second process counts on from the first
    assert spent[0] > 0


class Declining:
    """A validator whose first weights do best, whatever they are."""

    def __init__(self) -> None:
        self.asked = 0

    def scores(self, policy: Policy) -> Scores:
        self.asked += 1
        return Scores(success=1 / self.asked, reward=0.0, steps=1.0)


@pytest.mark.parametrize(("share", "kept"), [("0", 5), ("0.5", 30), ("1", 60)])
def test_settled_weights_replace_lucky_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: str, kept: int
) -> None:
    monkeypatch.setattr(session, "make_validator", lambda *_: Declining())
    out = tmp_path / "run"
    assert main([*command(out)[3:], "--set", f"settled={share}"]) == 0
    assert load_checkpoint(out / "best.safetensors").meta.updates == kept


def test_validation_may_look_at_several_sizes() -> None:
    several = Recipe.model_validate({"validation": {"graphs": 7, "nodes": [4, 9, 6]}})
    validator = make_validator(gnarl.load("bfs"), several, seed=0)
    sizes = [[instance.graph.n for instance in pool.instances()] for pool in validator.pools]
    assert sizes == [[4, 4, 4], [9, 9], [6, 6]]
    policy = Policy(validator.compiled.problem, several.policy)
    parts = [Validator(validator.compiled, (pool,)).scores(policy) for pool in validator.pools]
    steps = sum(part.steps * len(pool) for part, pool in zip(parts, validator.pools, strict=True))
    assert validator.scores(policy).steps == pytest.approx(steps / 7)


def test_the_time_left_is_that_of_updates_like_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update of imitation takes a second here, one of PPO a hundred."""
    problem, recipe = shipped("mvc"), tiny(trainer="bc+ppo", bc={**TINY["bc"], "updates": 8})
    trainer = make_trainer(problem, recipe, 0)
    now = 0.0

    def update() -> Metrics:
        nonlocal now
        now += 1 if trainer.done < 8 else 100
        return really_update()

    really_update = trainer.update
    monkeypatch.setattr(trainer, "update", update)
    monkeypatch.setattr("gnarl_runtime.training.loop.time.monotonic", lambda: now)
    config = make_config(problem, recipe, "tiny", 0, 1, "cpu", None, {})
    run = RunFolder.create(tmp_path / "run", config)
    reports: list[Report] = []
    Loop(trainer, run, config, problem, make_validator(problem, recipe, 0)).train(reports.append)
    assert [report.left for report in reports] == [7, 6, 5, 4, 3, 2, 1, 0, 200, 100, 0]
    first, *_, last = map(describe, reports)
    assert first.endswith("0:07 left, then PPO (3 updates)")
    assert last.endswith("0:00 left")


def test_ctrl_c_stops_and_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = subprocess.Popen(
        command(out, "--set", "bc.updates=100000"), stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 100
    while not (out / "state.safetensors").is_file() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"gnarl-train --resume {out}" in said
    assert "Traceback" not in said
