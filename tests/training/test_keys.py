"""What experts compare becomes a feature of nodes, in the spec's own words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gnarl_dsl as gnarl
from gnarl_compiler.instances.draw import draw_split
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_dsl.model import Problem
from gnarl_runtime.api.train_policy import Request, show_keys
from gnarl_runtime.batch.signature import signature_of
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.checkpoints.recipe_files import set_keys
from gnarl_runtime.checkpoints.spec_texts import params_of, problem_from, texts_of
from gnarl_runtime.network.policy import Policy
from gnarl_runtime.network.policy_config import PolicyConfig
from gnarl_runtime.training.auto.keys import as_read_by, with_keys

ROUNDS = """gnarl 1
problem pairs
graph undirected
features
  w    input node scalar ~ uniform(0, 1)
  A    input edge scalar ~ uniform(0, 1)
  best oracle node mask  = min_vertex_cover(w)
  used state node mask   = false
phase first(u)
  allow not used[u]
phase second(v)
  allow v != u and not used[v]
  update
    used[u] := true
    used[v] := true
horizon n rounds
terminate when count(x in nodes where not used[x]) < 2
objective worth = sum(x in nodes where used[x]: w[x])
expert told
  first:  uniform u minimising w[u] * count(y in neighbors(u) where best[y])
  second: uniform v
expert own
  first:  uniform u minimising w[u], w[u] * degree(u), min(y in neighbors(u) where used[y]: w[y])
  second: uniform v maximising w[u] * w[v]
instances er
  train 10  er(n = 6, p = 0.6)
  valid 10  er(n = 6, p = 0.6)
  test  10  er(n = 6, p = 0.6)
"""


def problem() -> Problem:
    return gnarl.loads(ROUNDS)


def test_only_what_an_expert_without_answers_compares_and_no_feature_shows() -> None:
    keyed, keys = with_keys(problem())
    # `w[u]` is there, the least of none is infinite, and `told` reads `best`.
    assert keys == ("w[u] * degree(u)", "w[u] * w[v]")
    added = [f.name for f in keyed.features if f not in problem().features]
    assert added == ["own_first", "own_second"]


def test_they_are_what_the_expert_would_see_of_who_may_be_picked() -> None:
    keyed, _ = with_keys(problem())
    game, rng = Interpreter(keyed), np.random.default_rng(0)
    for instance in draw_split(keyed, "train", 4):
        state, w = game.reset(instance), instance.inputs["w"]
        while state.ended is None:
            read, legal = Evaluator(state), game.legal(state)
            if state.phase == 0:
                own = w * instance.graph.adjacency.sum(0)
                assert np.allclose(read.stored("own_first"), np.where(legal, own, 0))
            else:
                chosen = state.made[-1]
                assert np.allclose(read.stored("own_second")[legal], (w[chosen] * w)[legal])
            state = game.step(state, int(rng.choice(np.flatnonzero(legal)))).state


def test_the_spec_that_is_kept_says_so_itself() -> None:
    keyed, _ = with_keys(problem())
    again = problem_from(texts_of(keyed), params_of(keyed))
    assert again.hash == keyed.hash != problem().hash


@pytest.mark.parametrize("name", ["graph_colouring", "triangle_packing", "flow_shop", "max_clique"])
def test_gallery_specs_have_keys_that_can_be_read(name: str) -> None:
    keyed, keys = with_keys(gnarl.load(name))
    assert keys
    assert len(keyed.features) == len(gnarl.load(name).features) + len(keys)


def test_a_problem_without_such_experts_stays_as_it_is() -> None:
    own = gnarl.load("mvc")
    assert with_keys(own) == (own, ())


def test_weights_read_what_they_have_learned_to_read() -> None:
    keyed, _ = with_keys(problem())
    small = PolicyConfig(width=8)
    assert signature_of(as_read_by(Policy(keyed, small), problem())) == signature_of(keyed)
    assert as_read_by(Policy(problem(), small), problem()).hash == problem().hash


def test_a_recipe_says_whether_they_are_shown() -> None:
    shown = set_keys(Recipe(), {"data.keys": True})
    asked = Request(problem(), shown, "own")
    assert len(show_keys(asked).problem.features) == len(problem().features) + 2
    assert show_keys(show_keys(asked)).keys == ("w[u] * degree(u)", "w[u] * w[v]")
    assert show_keys(Request(problem(), Recipe(), "own")).problem.hash == problem().hash
    given = Request(problem(), shown, "own", weights=Path("somewhere"))
    assert show_keys(given).problem.hash == problem().hash
