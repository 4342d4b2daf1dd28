"""Recipes, mistakes on the command line of training, and the page about it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from house import ROOT
from shipped_specs import shipped
from training_runs import tiny

import gnarl_dsl as gnarl
from gnarl_dsl.specs import shipped_specs
from gnarl_runtime.api import train_policy as session
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import (
    AUTO,
    RecipeError,
    auto_base,
    change_recipe,
    default_recipe,
    load_recipe,
    shipped_recipes,
)
from gnarl_runtime.commands.train import main


@pytest.mark.parametrize("name", shipped_recipes())
def test_shipped_recipes_are_for_shipped_specs(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.doc
    if name.startswith("gallery_") or name == "clrs30":  # these serve any spec of a folder
        return
    specs = [path.stem for path in shipped_specs()]
    fitting = [spec for spec in specs if name == spec or name.startswith(f"{spec}_")]
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
    assert found == (name or AUTO)  # one is chosen, then
    assert recipe == (load_recipe(name) if name else auto_base())


@pytest.mark.parametrize(
    ("trainer", "updates"), [("bc", (4800, 300)), ("ppo", (2000, 240)), ("bc+ppo", (1200, 180))]
)
def test_minutes_are_shared_by_the_parts_of_a_recipe(
    trainer: str, updates: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update of PPO takes much longer than one of imitation: each is timed by itself."""
    seconds = {"bc": 0.1, "ppo": 2.0}
    monkeypatch.setattr(session, "seconds_per_update", lambda request, part, minutes: seconds[part])
    recipe = change_recipe(tiny(trainer=trainer), ["bc.updates=2000", "ppo.updates=300"])
    fitted = session.fit_to_minutes(session.Request(shipped("mvc"), recipe, "tiny"), 8)
    assert (fitted.bc.updates, fitted.ppo.updates) == updates


def test_both_parts_of_a_recipe_are_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "CALIBRATION", 0.0)
    request = session.Request(shipped("mvc"), tiny(trainer="bc+ppo"), "tiny")
    assert all(session.seconds_per_update(request, part, 1.0) > 0 for part in ("bc", "ppo"))


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
        (["--spec", "bfs", "--set", "trainer=improv"], "--set: trainer: expected bc or ppo"),
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
    page = (ROOT / "docs" / "training.md").read_text("utf-8")
    whole, updates, processor = (part.split("```")[0] for part in page.split("```python\n")[1:])
    assert '"bc.updates": 150' in whole
    names: dict[str, Any] = {}
    exec(whole.replace('"bc.updates": 150', '"bc.updates": 3'), names)
    assert "24" in capsys.readouterr().out
    assert "bc.updates=150" in updates
    exec(updates.replace("bc.updates=150", "bc.updates=3"), names)
    assert names["trainer"].done == 3
    exec(processor, names)
    problem = names["gnarl"].load("bfs")
    trainer = names["make_trainer"](problem, names["recipe"], 0, names["policy"])
    assert trainer.update()["states"] > 0
