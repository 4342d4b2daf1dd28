"""The gallery: every spec is formatted, passes the check, and is shown as it is shipped."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from duel import Duel, rewards_of
from duel import play as duel_play
from house import ROOT
from random_specs.generator import random_instance
from shipped_specs import GALLERY, SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_file
from gnarl_dsl.specs import find_spec, gallery_specs
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.run import check_problem

DOCS = ROOT / "docs"
QUICK = Options(max_nodes=3, examples=6, jit=False, lints=False)

# Much like others; played and explored by the long tests only.
FURTHER = (
    *("routing_backhauls", "routing_time_windows", "split_delivery", "multi_agent_tsp"),
    *("flow_shop", "flexible_job_shop", "facility_location", "max_coverage"),
    *("weighted_tardiness", "feedback_vertex_set"),
)
PLAYED = [pytest.param(name, marks=pytest.mark.long if name in FURTHER else ()) for name in GALLERY]


def test_names_are_used_once() -> None:
    assert len(GALLERY) >= 8
    assert not set(GALLERY) & set(SHIPPED)


@pytest.mark.parametrize("path", gallery_specs(), ids=lambda path: path.stem)
def test_a_spec_is_formatted_and_without_warnings(path: Path) -> None:
    text = path.read_text("utf-8")
    assert format_text(text) == text
    checked = check_file(path)
    assert checked.diagnostics == ()
    assert checked.problem is not None
    assert checked.problem.name == path.stem
    assert len(checked.problem.doc.split()) > 25, "a paragraph says what it is and what it shows"


@pytest.mark.parametrize("name", PLAYED)
def test_small_graphs_hold_no_counterexample(name: str) -> None:
    assert check_problem(shipped(name), QUICK).failures == ()


@pytest.mark.parametrize("name", PLAYED)
def test_generated_code_equals_the_interpreter(name: str) -> None:
    problem, rng = shipped(name), np.random.default_rng(1)
    instances = [random_instance(problem, nodes, rng) for nodes in (1, 2, 4, 7)]
    for reward in rewards_of(problem):
        duel = Duel(problem, instances, reward)
        duel_play(duel, rng, 12)
        assert duel.checks > 10


@pytest.mark.parametrize("name", PLAYED)
def test_experts_reach_what_the_spec_asks_for(name: str) -> None:
    """On graphs of 9 nodes, larger than those that are explored: right ends, optima not beaten."""
    problem = shipped(name)
    family = families(choose_split(problem, "valid"))[0]
    for number in range(3):
        ends = {}
        for expert in problem.experts:
            state = play(problem, expert.name, draw_instance(problem, family, 5, number, nodes=9))
            game = Interpreter(problem)
            assert game.valid(state)
            assert problem.correct is None or game.correct(state)
            ends[expert.name] = game.objective(state) if problem.objectives else 0.0
        assert max(ends.values()) <= ends.get("optimal", max(ends.values())) + 1e-9


def test_rl4co_page_names_specs_and_its_variant_can_be_used() -> None:
    text = (DOCS / "rl4co.md").read_text("utf-8")
    assert set(re.findall(r"gallery\.md#(\w+)", text)) <= set(GALLERY)
    variant = gnarl.loads(text.split("```gnarl\n")[1].split("```")[0])
    assert [f.name for f in variant.features if f.source and f.source.name == "given"] == [
        *("opens", "closes", "service"),
    ]


def play(problem: gnarl.Problem, expert: str, instance: object) -> object:
    game, rng = Interpreter(problem), np.random.default_rng(0)
    state = game.reset(instance)
    while state.ended is None:
        chances = game.expert(state, expert)
        state = game.step(state, int(rng.choice(len(chances), p=chances))).state
    return state


# The page


@pytest.fixture(scope="module")
def make_gallery():
    sys.path.insert(0, str(DOCS))
    try:
        import make_gallery

        yield make_gallery
    finally:
        sys.path.remove(str(DOCS))


def test_the_page_is_current(make_gallery) -> None:
    problems = [shipped(name) for name in GALLERY]
    wanted = make_gallery.page(problems, make_gallery.load_results())
    assert (DOCS / "gallery.md").read_text("utf-8") == wanted, "run `python docs/make_gallery.py`"
    for name in GALLERY:
        spec = find_spec(name)
        assert spec is not None
        assert spec.read_text("utf-8") in wanted


@pytest.mark.parametrize("name", GALLERY)
def test_every_spec_has_a_small_picture(name: str) -> None:
    from PIL import Image

    content = (DOCS / "pictures" / f"{name}.png").read_bytes()
    assert len(content) < 40_000
    assert Image.open(io.BytesIO(content)).size[0] > 300


@pytest.mark.parametrize("name", GALLERY)
def test_figures_are_those_of_the_spec_as_it_is(name: str) -> None:
    """A spec that means something else now needs `python docs/gallery_results.py NAME`."""
    results = json.loads((DOCS / "results" / "gallery.json").read_text("utf-8"))
    if name in results:
        assert results[name]["spec_hash"] == shipped(name).hash
        assert results[name]["rows"]["policy"]


def test_a_picture_can_be_drawn(make_gallery) -> None:
    from gallery_pictures import draw, solved

    assert draw(solved(shipped("steiner_tree"))).startswith(b"\x89PNG")
