"""Lets with loops that several formulas ask for are functions, and mean what they meant."""

from __future__ import annotations

import re

import numpy as np
from duel import Duel, play
from random_specs.generator import instances_for
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate

SPEC = """gnarl 1
problem lets
graph undirected
features
  w   input  node  scalar  ~ given
  on  state  node  mask    = false
let near(x)       = count(y in neighbors(x) where on[y] and y != (last(pick) otherwise x))
let between(x, z) = exists y in neighbors(x): w[y] > w[z] and on[y]
let share(x)      = w[x] / (1 + sum(y in nodes where on[y]: w[y] * w[y]))
phase pick(v)
  update
    on[v] := not on[v]
horizon 2 * n rounds
valid exists x in nodes: between(x, x) or near(x) > 1
objective best = sum(x in nodes where on[x]: share(x))
expert by_near
  pick: uniform v where near(v) > 0 and between(v, v) minimising share(v)
        else uniform v where near(v) == 0 maximising share(v)
        else uniform v where between(v, last(pick) otherwise v)
"""


PROBLEM = gnarl.loads(SPEC)


def functions(text: str) -> dict[str, str]:
    parts = re.split(r"\n\n\n(?=@)", text)
    return {found[0]: part for part in parts if (found := re.findall(r"def (\w+)", part))}


def test_a_let_is_written_once_whatever_it_is_given() -> None:
    found = functions(generate(shipped("bellman_ford")).python)
    assert "arc" in found["let_active"]
    for expert in ("expert_sticky", "expert_printed"):
        assert found[expert].count("let_active(") > 1
        assert "for arc" not in found[expert]


def test_what_is_the_same_for_all_nodes_is_not_found_for_each() -> None:
    """The sum in `share` does not depend on x, so it is computed before a loop over nodes."""
    found = functions(generate(PROBLEM).python)
    assert "let_near" in found
    assert "let_share" not in found


def test_lets_that_are_functions_mean_what_they_meant() -> None:
    rng = np.random.default_rng(13)
    play(Duel(PROBLEM, instances_for(PROBLEM, rng)), rng, 16)
