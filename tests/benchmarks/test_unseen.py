"""Problems that no setting was tuned on: sound, heuristics as experts, and without a recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

import gnarl_dsl as gnarl
from benchmarks.machine import ROOT
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_text
from gnarl_dsl.model.kinds import ORACLE
from gnarl_dsl.specs import gallery_specs, paper_specs

FOLDER = ROOT / "benchmarks" / "studies" / "unseen"
SPECS = sorted(FOLDER.glob("*.gnarl"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_an_unseen_problem_is_sound(path: Path) -> None:
    text = path.read_text("utf-8")
    assert 20 <= len(text.splitlines()) <= 45
    assert format_text(text) == text
    checked = check_text(text, str(path))
    assert not checked.diagnostics
    report = gnarl.check(path, fast=True)
    assert report.ok, str(report)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_experts_of_an_unseen_problem_are_heuristics(path: Path) -> None:
    problem = gnarl.load(path)
    assert problem.objectives
    assert problem.experts
    assert all(feature.stage is not ORACLE for feature in problem.features)


def test_no_unseen_problem_ships_or_has_a_recipe() -> None:
    shipped = {path.stem for path in (*paper_specs(), *gallery_specs())}
    recipes = {path.stem for path in (ROOT / "specs" / "recipes").iterdir()}
    assert len(SPECS) == 5
    assert not {path.stem for path in SPECS} & (shipped | recipes)
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert all(f"`{path.stem}`" in readme for path in SPECS)
