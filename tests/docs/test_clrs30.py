"""CLRS-30: thirty specs that are sound, an index that shows them, a study that measures them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from duel import Duel
from duel import play as duel_play
from house import ROOT
from random_specs.generator import random_instance
from shipped_specs import GALLERY, SHIPPED, shipped

from benchmarks.suites import clrs30
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_file
from gnarl_dsl.specs import clrs30_specs, clrs_specs

DOCS = ROOT / "docs"
OWN = tuple(path.stem for path in clrs_specs())
# One for each kind of state that the others have, too; the rest are checked by the long tests.
FEW = ("bridges", "insertion_sort", "jarvis_march", "minimum")
MANY = [pytest.param(name, marks=() if name in FEW else pytest.mark.long) for name in OWN]


def test_there_are_thirty_and_a_name_is_used_once() -> None:
    assert len(clrs30_specs()) == 30
    assert not set(OWN) & {*SHIPPED, *GALLERY}


@pytest.mark.parametrize("path", clrs_specs(), ids=lambda path: path.stem)
def test_a_spec_is_formatted_and_without_warnings(path: Path) -> None:
    text = path.read_text("utf-8")
    assert format_text(text) == text
    checked = check_file(path)
    assert checked.diagnostics == ()
    assert checked.problem is not None
    assert checked.problem.name == path.stem
    assert checked.problem.correct is not None
    assert len(checked.problem.doc.split()) > 25, "a paragraph says what is left to learn"
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", MANY)
def test_small_graphs_hold_no_counterexample(name: str) -> None:
    assert clrs30.check_all([name]) == 0


@pytest.mark.parametrize("name", MANY)
def test_experts_are_right_on_instances_of_the_samplers_law(name: str) -> None:
    """On 9 nodes, larger than those that are explored."""
    problem = shipped(name)
    family = families(choose_split(problem, "valid"))[0]
    for expert in problem.experts:
        for number in range(2):
            game, rng = Interpreter(problem), np.random.default_rng(0)
            state = game.reset(draw_instance(problem, family, 5, number, nodes=9))
            while state.ended is None:
                chances = game.expert(state, expert.name)
                state = game.step(state, int(rng.choice(9, p=chances))).state
            assert game.correct(state), expert.name


@pytest.mark.parametrize("name", MANY)
def test_generated_code_equals_the_interpreter(name: str) -> None:
    problem, rng = shipped(name), np.random.default_rng(1)
    duel = Duel(problem, [random_instance(problem, nodes, rng) for nodes in (2, 4, 6)])
    duel_play(duel, rng, 10)
    assert duel.checks > 8


def test_an_unsound_spec_is_named(tmp_path: Path) -> None:
    path = tmp_path / "minimum.gnarl"
    text = next(p for p in clrs_specs() if p.stem == "minimum").read_text("utf-8")
    path.write_text(text.replace("minimising key[v]", "maximising key[v]"), "utf-8")
    assert "expert-fails" in list(clrs30.faults(path))


# The index


@pytest.fixture(scope="module")
def make_clrs30():
    sys.path.insert(0, str(DOCS))
    try:
        import make_clrs30

        yield make_clrs30
    finally:
        sys.path.remove(str(DOCS))


def test_the_index_is_current(make_clrs30) -> None:
    wanted = make_clrs30.page()
    assert (DOCS / "clrs30.md").read_text("utf-8") == wanted, "run `python docs/make_clrs30.py`"
    assert all(f"## {path.stem}\n" in wanted for path in clrs30_specs())


# The study


def test_node_accuracy_is_one_where_the_answer_is_the_experts_and_micro_f1_of_masks() -> None:
    features = clrs30.output_features(shipped("jarvis_march"))
    assert {feature.name for feature in features} == {"hull", "next"}
    right = {"hull": np.array([True, True, False, False]), "next": np.array([1, 0, 2, 3])}
    assert clrs30.agreement(features, right, right) == 1
    own = {"hull": np.array([True, False, True, True]), "next": np.array([1, 0, 2, 0])}
    assert clrs30.agreement(features, own, right) == (2 / 5 + 3 / 4) / 2
