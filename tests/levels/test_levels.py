"""Units and levels: what the shipped specs come to, and that no claim is too bold."""

from __future__ import annotations

import numpy as np
import pytest
from episodes import random_pick
from random_specs.generator import instances_for, seeded_spec

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import SpecRunError
from gnarl_dsl.levels.levels import Use, default_use, levels_of, units_of
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import ABSOLUTE, ORDINAL, RATIO, Level
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.witness.witness_levels import level_matters

SPEC = """
gnarl 1
problem tried
graph undirected
features
  A  input   edge  scalar  ~ uniform(0, 1)
  w  input   node  scalar  ~ uniform(0, 1)
  c  input   node  scalar  ~ uniform(0, 1)
  d  state   node  scalar  = 0
  r  derived node(x) scalar = {derived}
  b  oracle  node  mask    = min_vertex_cover(w)
phase pick(v)
  allow {allow}
  update
    d[v] := {value}
horizon n rounds
objective total = {objective}
expert one
  pick: uniform v {expert}
"""
USUAL = {
    "derived": "0",
    "allow": "true",
    "value": "w[v]",
    "objective": "-sum(x in nodes: w[x] * d[x])",
    "expert": "minimising w[v]",
}


def tried(**parts: str) -> Problem:
    return gnarl.loads(SPEC.format(**{**USUAL, **parts}))


def levels(problem: Problem, use: Use | None = None) -> dict[str, tuple[Level, str]]:
    use = use or Use(("one",))
    return {name: (m.level, m.unit) for name, m in levels_of(problem, use).items()}


@pytest.mark.parametrize(
    ("name", "expert", "expected"),
    [
        ("mst_prim", "prim", {"A": ORDINAL, "key": ORDINAL}),
        ("mst_prim", "extract_min", {"A": ORDINAL, "key": ORDINAL}),
        ("mst_prim_thorough", "thorough", {"A": RATIO, "key": RATIO}),
        ("mst_prim_wide", "thorough", {"A": ORDINAL, "key": ORDINAL}),
        ("bellman_ford", "sticky", {"A": RATIO, "d": RATIO}),
        ("tsp", "nearest", {"A": ORDINAL}),
        ("tsp", "optimal", {"A": RATIO}),
        ("mst_kruskal", "optimal", {"A": ORDINAL, "light": ORDINAL}),
        ("steiner_tree", "cheapest_first", {"A": ORDINAL, "price": ORDINAL}),
        ("steiner_tree", "optimal", {"A": RATIO, "price": RATIO}),
        ("max_cut", "optimal", {"A": ABSOLUTE, "gain": ABSOLUTE}),
        ("rgc", "weak", {"left": ABSOLUTE}),
    ],
)
def test_shipped_specs(name: str, expert: str, expected: dict[str, Level]) -> None:
    found = levels_of(gnarl.load(name), Use((expert,)))
    assert {feature: measure.level for feature, measure in found.items()} == expected


def test_comparing_is_ordinal_adding_is_ratio() -> None:
    assert levels(tried())["w"] == (ORDINAL, "w")
    assert levels(tried())["d"] == (ORDINAL, "w")
    assert levels(tried(value="w[v] + d[v]"))["d"] == (RATIO, "w")
    assert levels(tried(value="2 * w[v]"))["d"] == (RATIO, "w")
    assert levels(tried(expert="maximising -w[v]"))["w"] == (RATIO, "w")


def test_a_number_of_the_spec_makes_what_it_meets_absolute() -> None:
    problem = tried(allow="w[v] > 0.5")
    found = levels_of(problem, Use(("one",)))
    assert found["w"].level is found["d"].level is ABSOLUTE
    assert found["w"].why is not None
    assert problem.text_of(found["w"].why) == "w[v] > 0.5"
    assert found["c"].level is ORDINAL  # nothing reads it


def test_zero_and_infinity_have_every_unit() -> None:
    assert levels(tried(allow="w[v] >= 0 and d[v] < inf"))["w"] == (ORDINAL, "w")


def test_what_is_compared_has_one_unit() -> None:
    found = levels(tried(allow="w[v] >= c[v]"))
    assert found["w"] == found["c"] == (ORDINAL, "w")
    problem = tried(allow="w[v] >= c[v]")
    assert units_of(problem, levels_of(problem, Use(("one",))))["w"] == ("w", "c")


def test_products_are_units_of_their_own() -> None:
    found = levels(tried(value="w[v] * c[v]"))
    assert found["d"] == (RATIO, "c * w")
    assert found["w"] == (RATIO, "w")
    assert levels(tried(value="w[v] / c[v]"))["d"] == (RATIO, "w / c")
    assert levels(tried(value="w[v] / sum(x in nodes: w[x])"))["d"] == (ABSOLUTE, "")


def test_rounding_makes_absolute() -> None:
    assert levels(tried(value="ceil(w[v])"))["w"] == (ABSOLUTE, "")


def test_tolerance_is_relative() -> None:
    assert levels(tried(allow="w[v] ~= d[v] or w[v] > d[v]"))["w"] == (RATIO, "w")


def test_only_what_is_used_counts() -> None:
    problem = tried(objective="-sum(x in nodes where w[x] > 0.5: c[x])")
    assert levels(problem)["w"] == (ORDINAL, "w")
    assert levels(problem, Use(goals=("total",)))["w"] == (ABSOLUTE, "")
    assert levels(problem, Use(goals=("total",)))["c"] == (RATIO, "c")


def test_what_only_judges_read_does_not_count() -> None:
    text = SPEC.format(**USUAL).replace("  b  ", "  far hidden graph scalar = 0\n  b  ")
    text = text.replace(":= w[v]", ":= w[v]\n    far := far + w[v]")
    judged = text.replace(USUAL["objective"], "-far")
    assert levels(gnarl.loads(judged))["w"] == (ORDINAL, "w")
    assert levels(gnarl.loads(judged), Use(goals=("total",)))["w"] == (RATIO, "w")
    followed = judged.replace("minimising w[v]", "where far > w[v]")
    assert levels(gnarl.loads(followed))["w"] == (RATIO, "w")


def test_an_oracle_counts_where_it_is_read() -> None:
    assert levels(tried(expert="where b[v]"))["w"] == (RATIO, "w")


def test_lets_pass_units_on() -> None:
    text = SPEC.format(**{**USUAL, "value": "twice(w[v])"})
    problem = gnarl.loads(text.replace("phase", "let twice(x : scalar) = x + x\nphase", 1))
    assert levels(problem)["d"] == (RATIO, "w")


def test_a_param_with_a_unit_scales_along() -> None:
    text = SPEC.format(**{**USUAL, "allow": "w[v] + slack > 0"})
    plain = text.replace("graph", "param slack = 0.5\ngraph", 1)
    assert levels(gnarl.loads(plain))["w"] == (ABSOLUTE, "")
    given = text.replace("graph", "param slack in w = 0.5\ngraph", 1)
    assert levels(gnarl.loads(given))["w"] == (RATIO, "w")
    assert gnarl.loads(given).hash != gnarl.loads(plain).hash


@pytest.mark.parametrize("block", range(4))
def test_claims_about_random_specs_hold(block: int) -> None:
    """What is claimed of a spec is tried in the interpreter, whatever the spec says."""
    claims = 0
    for seed in range(40 * block, 40 * block + 40):
        problem = gnarl.loads(seeded_spec(seed)).without_planned()
        uses = [Use((expert.name,)) for expert in problem.experts] or [default_use(problem)]
        if not any(m.powers for use in uses for m in levels_of(problem, use).values()):
            continue
        claims += 1
        rng = np.random.default_rng(seed)
        game = Interpreter(problem)
        for instance in instances_for(problem, rng, 2):
            picks: list[int] = []
            try:
                state = game.reset(instance)
                while state.ended is None and len(picks) < 5 and game.mask(state).any():
                    picks.append(random_pick(game, state, rng))
                    state = game.step(state, picks[-1]).state
                failure = Failure("level-broken", "", instance, tuple(picks), None)
                assert not level_matters(problem, failure), seed
            except SpecRunError:
                continue
    assert claims > 2
