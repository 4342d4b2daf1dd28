"""What a level promises is tried on small graphs: claims that are too bold are found."""

from __future__ import annotations

from dataclasses import replace

import pytest
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_dsl.levels.levels import Measure, Measures, Use, levels_of
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ORDINAL, RATIO, Level
from gnarl_runtime.checks.explore.small_graphs import plan_instances
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.properties import level_properties
from gnarl_runtime.checks.properties.level_properties import check_levels
from gnarl_runtime.checks.witness import witness_levels
from gnarl_runtime.checks.witness.witness_levels import level_matters


def failing(problem: Problem, use: Use) -> list[tuple[str, bool]]:
    """What is found on graphs of three nodes, and whether the interpreter says so, too."""
    told = []
    plan = plan_instances(problem, 3, 400, 0)
    for space, found in check_levels(problem, use, plan.instances[:12]):
        for state in found.states[:1]:
            instance = space.board.instances[int(space.instance[state])]
            picks = space.picks_to(int(state))
            message = str(found.message)
            failure = Failure("level-broken", message, instance, picks, None, found.expert)
            told.append((message, level_matters(problem, failure)))
    return told


@pytest.mark.parametrize(
    "name",
    ["bellman_ford", "mst_prim", "mvc", "dijkstra", "mst_kruskal", "split_delivery"],
)
def test_nothing_is_found_where_the_analysis_is_right(name: str) -> None:
    problem = gnarl.load(name)
    assert failing(problem, Use((problem.experts[0].name,))) == []


@pytest.mark.parametrize(
    ("name", "claimed"),
    [("bellman_ford", ORDINAL), ("dijkstra", ORDINAL), ("orienteering", RATIO)],
)
def test_a_claim_that_is_too_bold_is_found(
    name: str, claimed: Level, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bold(problem: Problem, use: Use) -> Measures:
        true = levels_of(problem, use)
        unit = next(iter(true))
        return {
            feature: replace(measure, level=claimed, powers=((unit, 1),))
            if measure.powers in ((), ((unit, 1),))
            else measure
            for feature, measure in true.items()
        }

    monkeypatch.setattr(level_properties, "levels_of", bold)
    monkeypatch.setattr(witness_levels, "levels_of", bold)
    problem = gnarl.load(name)
    found = failing(problem, Use((problem.experts[0].name,)))
    assert found
    assert all(shown for _, shown in found)


def test_a_param_goes_along_with_its_unit() -> None:
    problem = shipped("mst_prim_thorough")
    measures = levels_of(problem, Use(("thorough",)))
    assert measures["A"] == Measure(RATIO, (("A", 1),))
    assert failing(problem, Use(("thorough",))) == []
