"""Training as a user meets it: runs, resuming, checkpoints, recipes, and that it learns."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import SHIPPED, shipped
from hypothesis import given
from hypothesis import strategies as st

import gnarl_dsl as gnarl
from gnarl_runtime.engine import compile_for
from gnarl_runtime.evaluation.rollout import play
from gnarl_runtime.pack import Packed, pack
from gnarl_runtime.policy import Policy
from gnarl_runtime.pools import draw_pool
from gnarl_runtime.training import session
from gnarl_runtime.training.checkpoint import (
    CheckpointError,
    load_checkpoint,
    make_meta,
    read_arrays,
    save_checkpoint,
    write_arrays,
)
from gnarl_runtime.training.cli import main
from gnarl_runtime.training.display import describe
from gnarl_runtime.training.imitation import ImitationTrainer
from gnarl_runtime.training.imitation_loss import imitation_loss
from gnarl_runtime.training.labels import draw_labelled
from gnarl_runtime.training.loop import Loop, Report
from gnarl_runtime.training.making import make_trainer
from gnarl_runtime.training.recipe import Recipe
from gnarl_runtime.training.recipe_files import (
    RecipeError,
    change_recipe,
    default_recipe,
    load_recipe,
    shipped_recipes,
)
from gnarl_runtime.training.run_folder import RunFolder, make_config
from gnarl_runtime.training.trainer import Metrics
from gnarl_runtime.training.validate import Scores, Validator, make_validator

TINY = {
    "data": {"pool": 24, "nodes": 5},
    "policy": {"width": 8},
    "bc": {"updates": 30, "graphs": 8},
    "ppo": {"updates": 3, "graphs": 8, "steps": 4, "epochs": 2, "minibatch": 16},
    "validation": {"graphs": 4, "nodes": 5, "every": 5, "stop_when_perfect": False},
}


def tiny(**changes: object) -> Recipe:
    return Recipe.model_validate({**TINY, **changes})


def weights(path: Path) -> dict[str, np.ndarray]:
    return read_arrays(path)[0]


def same(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)


# It learns


def test_bfs_is_learned_in_a_minute() -> None:
    problem = shipped("bfs")
    recipe = load_recipe("bfs")
    shorter = recipe.model_copy(update={"bc": recipe.bc.model_copy(update={"updates": 250})})
    trainer = ImitationTrainer(problem, shorter, 0)
    for _ in range(250):
        trainer.update()
    compiled = compile_for(problem)
    pool = draw_pool(problem, count=50, nodes=16, seed=5, split="test", oracles=compiled.oracles)
    assert play(trainer.best_policy(), compiled, pool).success.all()


# Losses


def some_states() -> tuple[Packed, np.ndarray, Policy]:
    problem = shipped("bfs")
    trainer = ImitationTrainer(problem, tiny(), 0)
    engine = trainer.engine
    labels = engine.expert()
    labels[2] = 0.0  # an expert without an answer
    return pack(engine.batch, engine.environments), labels, trainer.policy


def test_losses_are_those_of_their_definitions() -> None:
    packed, labels, policy = some_states()
    with torch.no_grad():
        logits = policy(packed).logits.double().numpy()
    parts = {"set": [], "kl": [], "ce": []}
    label = np.concatenate(
        [labels[g, : packed.offsets[g + 1] - packed.offsets[g]] for g in range(8)]
    )
    log_chance = np.zeros(len(logits))
    for g in range(packed.graphs):
        own = slice(packed.offsets[g], packed.offsets[g + 1])
        shifted = logits[own] - logits[own].max()
        log_p = shifted - np.log(np.exp(shifted).sum())
        log_chance[own] = log_p
        wanted = label[own] > 0
        if not wanted.any():
            continue
        q = label[own][wanted]
        parts["set"].append(-np.log(np.exp(log_p[wanted]).sum()))
        parts["kl"].append((q * (np.log(q) - log_p[wanted])).sum())
        parts["ce"].append(-(q * log_p[wanted]).sum())
    for kind, expected in parts.items():
        loss, labelled = imitation_loss(
            kind, torch.from_numpy(log_chance), torch.from_numpy(label), packed
        )
        assert labelled == 7
        assert float(loss) == pytest.approx(np.mean(expected), rel=1e-6)


@given(st.integers(0, 10**6))
def test_drawn_picks_are_the_experts_and_else_legal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    legal = rng.random((6, 5)) < 0.6
    legal[:, 0] |= ~legal.any(axis=1)
    chosen = legal & (rng.random((6, 5)) < 0.5)
    labels = chosen / np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    picks = draw_labelled(labels, legal, rng.random(6))
    for row, pick in enumerate(picks):
        assert (chosen if chosen[row].any() else legal)[row, pick]


def test_drawn_picks_are_uniform() -> None:
    labels = np.tile([0.0, 0.5, 0.0, 0.5], (4000, 1))
    legal = np.ones(labels.shape, np.bool_)
    picks = draw_labelled(labels, legal, (np.arange(4000) + 0.5) / 4000)
    assert np.bincount(picks, minlength=4).tolist() == [0, 2000, 0, 2000]


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
    text = (Path(__file__).parent.parent / "specs" / "bfs.gnarl").read_text("utf-8")
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


def command(out: Path, *more: str) -> list[str]:
    flat = ["bc.updates=60", "bc.graphs=8", "data.pool=24", "data.nodes=5", "policy.width=8"]
    flat += ["validation.every=5", "validation.graphs=4", "stop_when_perfect=false"]
    sets = [part for entry in flat for part in ("--set", entry)]
    module = [sys.executable, "-m", "gnarl_runtime.training.cli"]
    return [*module, "--spec", "bfs", "--out", str(out), *sets, *more]


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


# Checkpoints


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    problem, recipe = shipped("tsp_insertion"), tiny()
    path = tmp_path / "own.safetensors"
    policy = Policy(problem, recipe.policy)
    save_checkpoint(path, policy, make_meta(problem, recipe, 0, 0, {}, {}))
    return path


def test_a_checkpoint_brings_its_spec(checkpoint: Path) -> None:
    loaded = load_checkpoint(checkpoint)
    assert loaded.problem.hash == shipped("tsp_insertion").hash
    names = [source.name for source in loaded.problem.sources]
    assert names == [source.name for source in shipped("tsp_insertion").sources]
    assert same({k: v.numpy() for k, v in loaded.policy.state_dict().items()}, weights(checkpoint))


def test_damaged_and_foreign_files_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    whole = checkpoint.read_bytes()
    arrays, text = read_arrays(checkpoint)
    broken = tmp_path / "broken.safetensors"
    cases: list[tuple[bytes | None, str]] = [
        (whole[: len(whole) // 2], "damaged or no checkpoint"),
        (b"", "damaged or no checkpoint"),
        (b"\x80\x04pickled", "damaged or no checkpoint"),
        (
            whole.replace(b'"version', b'"Version', 1).replace(b'\\"version', b'\\"Version'),
            "version",
        ),
    ]
    for content, what in cases:
        broken.write_bytes(content or b"")
        with pytest.raises(CheckpointError, match=what):
            load_checkpoint(broken)
    name = next(name for name, values in arrays.items() if values.ndim == 2)
    write_arrays(broken, {**arrays, name: arrays[name][..., :1].copy()}, text)
    with pytest.raises(CheckpointError, match="another policy"):
        load_checkpoint(broken)
    told = json.loads(text)
    told["spec"][0]["text"] = "gnarl 1\nproblem x\n"
    write_arrays(broken, arrays, json.dumps(told))
    with pytest.raises(CheckpointError, match="mistakes"):
        load_checkpoint(broken)
    with pytest.raises(CheckpointError, match="there is no file"):
        load_checkpoint(tmp_path / "nothing.safetensors")


@given(st.integers(0, 10**9), st.integers(1, 255))
def test_no_damage_gets_through_as_anything_but_an_error(where: int, change: int) -> None:
    """One byte of the header changed: it loads to the same weights, or is refused by name."""
    content = bytearray(_small_checkpoint())
    size = 8 + int.from_bytes(content[:8], "little")
    content[where % size] ^= change
    path = Path(_scratch()) / "damaged.safetensors"
    path.write_bytes(content)
    with suppress(CheckpointError):
        load_checkpoint(path)


def _scratch() -> str:
    import tempfile

    return tempfile.mkdtemp()


_KEPT: list[bytes] = []


def _small_checkpoint() -> bytes:
    if not _KEPT:
        problem, recipe = shipped("bfs"), tiny()
        path = Path(_scratch()) / "small.safetensors"
        meta = make_meta(problem, recipe, 0, 0, {}, {})
        save_checkpoint(path, Policy(problem, recipe.policy), meta)
        _KEPT.append(path.read_bytes())
    return _KEPT[0]


# Recipes and mistakes on the command line


@pytest.mark.parametrize("name", shipped_recipes())
def test_shipped_recipes_are_for_shipped_specs(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.doc
    if name.startswith("gallery_"):  # these serve any spec of the gallery
        return
    fitting = [spec for spec in SHIPPED if name == spec or name.startswith(f"{spec}_")]
    problem = gnarl.load(max(fitting, key=len), **recipe.params)
    rewards = {entry.name for entry in (*problem.objectives, *problem.rewards)}
    assert recipe.bc.expert in {None, *(expert.name for expert in problem.experts)}
    assert recipe.ppo.reward in {None, *rewards}
    assert recipe.data.instances in {None, *(one.name for one in problem.instances)}


@pytest.mark.parametrize(
    ("spec", "name"), [("bfs", "bfs"), ("tsp", "tsp_bc"), ("rgc", "rgc_ppo"), ("mvc_rich", "")]
)
def test_a_spec_has_a_default_recipe(spec: str, name: str) -> None:
    found, recipe = default_recipe(shipped(spec))
    assert found == (name or "default_bc")
    assert recipe == (load_recipe(name) if name else Recipe(trainer="bc"))


@pytest.mark.parametrize(
    ("trainer", "updates"), [("bc", (4800, 300)), ("ppo", (2000, 240)), ("bc+ppo", (1200, 180))]
)
def test_minutes_are_shared_by_the_parts_of_a_recipe(
    trainer: str, updates: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update of PPO takes much longer than one of imitation: each is timed by itself."""
    seconds = {"bc": 0.1, "ppo": 2.0}
    monkeypatch.setattr(session, "seconds_per_update", lambda request, part: seconds[part])
    recipe = change_recipe(tiny(trainer=trainer), ["bc.updates=2000", "ppo.updates=300"])
    fitted = session.fit_to_minutes(session.Request(shipped("mvc"), recipe, "tiny"), 8)
    assert (fitted.bc.updates, fitted.ppo.updates) == updates


def test_both_parts_of_a_recipe_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "CALIBRATION", 0.0)
    request = session.Request(shipped("mvc"), tiny(trainer="bc+ppo"), "tiny")
    assert all(session.seconds_per_update(request, part) > 0 for part in ("bc", "ppo"))


def test_changes_find_their_key() -> None:
    recipe = change_recipe(Recipe(), ["lr=1e-3", "rounds=3", "data.nodes=[4, 9]", "loss=kl"])
    assert recipe.bc.lr == 1e-3
    assert recipe.policy.rounds == 3
    assert recipe.data.nodes == (4, 9)
    assert recipe.bc.loss == "kl"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("learning=1", "a recipe has no key learning"),
        ("data.nodes=[50, 10]", r"data: expected nodes = \[low, high\] .* found \[50, 10\]$"),
        ("data.nodes=0", "data: expected nodes from 1 up, found 0"),
        ("raunds=3", r"did you mean policy\.rounds\?"),
        ("lr=-1", r"bc\.lr: .*greater than 0"),
        ("lr", "expected KEY=VALUE"),
        ("loss=huber", r"bc\.loss"),
        ("aggregation=mean", "aggregation"),
        ("validation.nodes=[]", r"^--set: validation: expected a graph .* graphs = 100$"),
        ("validation.nodes=[4, x]", r"validation\.nodes"),
        ("data.scale=[3, 1]", r"^--set: data: expected scale = \[low, high\], found \[3.*\]$"),
    ],
)
def test_wrong_changes_are_explained(change: str, what: str) -> None:
    with pytest.raises(RecipeError, match=what):
        change_recipe(Recipe(), [change])


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "expected --spec SPEC, or --resume RUN"),
        (["--spec", "bsf"], "Did you mean bfs?"),
        (["--spec", "bfs", "--recipe", "bsf"], "did you mean bfs?"),
        (["--spec", "bfs", "--minutes", "-1"], "--minutes -1"),
        (["--spec", "bfs", "--set", "expert=deepest"], "it has: shallowest"),
        (["--spec", "mst_prim", "--set", "trainer=ppo"], "no reward or objective"),
        (["--resume", "nowhere"], "nowhere is no run folder"),
        (["--resume", "x", "--seed", "3"], "--seed cannot change a run"),
        (["--spec", "bfs", "--device", "tpu"], "--device tpu cannot be used"),
        (["--resume", "x", "--from", "y"], "--from cannot change a run"),
        (["--spec", "bfs", "--from", "nowhere"], "expected a run folder or a .safetensors file"),
        (["--spec", "bfs", "--pretrained", "bsf"], "did you mean bfs?"),
        (["--spec", "bfs", "--from", "x", "--pretrained", "bfs"], "expected one of them"),
        (["--spec", "bfs", "--pretrained", "bfs", "--set", "width=8"], "leave it out"),
        (["--spec", "tsp", "--pretrained", "tsp", "--set", "rounds=2"], "the weights of"),
    ],
)
def test_mistakes_are_explained(
    arguments: list[str], what: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        assert main(arguments) == 2
    finally:
        os.chdir(here)
    assert what in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_folder_in_use_is_left_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert main(["--spec", "bfs", "--out", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_page_about_training_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its Python, with fewer updates."""
    page = (Path(__file__).parent.parent / "docs" / "training.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    assert "bc.updates=150" in code
    exec(code.replace("bc.updates=150", "bc.updates=3"), {})
    assert 0 <= float(capsys.readouterr().out) <= 1
