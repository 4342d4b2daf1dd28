"""Several lines of a split, several laws of an input, laws of a set: each drawn as it says."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import gnarl_dsl as gnarl
from gnarl_compiler.instances.draw import (
    choose_split,
    draw_instance,
    draw_split,
    families,
    family_of,
)
from gnarl_compiler.instances.sources import could_draw
from gnarl_runtime.evaluation.evaluate import split_sizes
from gnarl_runtime.instances.pools import draw_pool
from tests.helpers.shipped_specs import shipped

SPEC = """gnarl 1
problem several
graph undirected
features
  A  input  edge  scalar  ~ {law}
  w  input  node  scalar  ~ uniform(0, 1)
  on  state  node  mask  = false
phase pick(v)
  allow not on[v]
  update
    on[v] := true
horizon n rounds
objective few = -count(x in nodes where on[x])
instances plain
  train 30  er(n = 8, p = 0.5)
  {more}
  valid 10  er(n = {{8, 10}}, p = 0.5)
  test  20  er(n = {{8, 10}}, p = 0.5)
  test  10  path(n = {{8, 12}})
instances heavy
  A ~ integers(5, 9)
  train 30  er(n = 8, p = 0.5)
  {more}
  valid 10  er(n = 8, p = 0.5)
  test  10  er(n = 8, p = 0.5)
"""


def several(law: str = "uniform(0, 1)", more: str = "train 12  path(n = 9)"):
    return gnarl.loads(SPEC.format(law=law, more=more))


def test_lines_share_a_split_in_proportion() -> None:
    split = choose_split(several(more="train 12  path(n = 9)\n  train 3  tree(n = 9)"), "train")
    assert split.count == 45
    assert len(families(split)) == 3
    drawn = [family_of(split, k).generator for k in range(450)]
    assert Counter(drawn[:45]) == {"er": 30, "path": 12, "tree": 3}
    assert drawn[45:90] == drawn[:45]
    for k in range(450):  # never far from its share, wherever one looks
        assert abs(drawn[:k].count("er") - k * 30 / 45) <= 2


def test_families_of_a_line_take_turns() -> None:
    split = choose_split(several(), "test")
    drawn = Counter(family_of(split, k).label() for k in range(60))
    assert drawn == {
        "er(n=8, p=0.5)": 20,
        "er(n=10, p=0.5)": 20,
        "path(n=8)": 10,
        "path(n=12)": 10,
    }
    assert split_sizes(several(), "test") == [8, 10, 12]


def test_one_line_goes_on_as_before() -> None:
    for name in ("mvc", "rgc", "bfs"):
        for part in ("train", "valid", "test"):
            split = choose_split(shipped(name), part)
            kinds = families(split)
            for k in range(3 * len(kinds)):
                assert family_of(split, k) == kinds[k % len(kinds)]


@pytest.mark.parametrize("law", ["uniform(0, 1)", "exponential | integers(2, 4)"])
def test_an_instance_depends_on_its_number_alone(law: str) -> None:
    problem = several(law)
    split = choose_split(problem, "train")
    pool = draw_pool(problem, count=80, seed=3)  # many at once
    part = draw_pool(problem, count=5, first=40, seed=3)  # a few
    for k in (0, 1, 2, 40, 44, 79):
        alone = draw_instance(problem, family_of(split, k), 3, k)
        near = [part.instance(k - 40)] if 40 <= k < 45 else []
        for other in [pool.instance(k), *near]:
            assert (alone.graph.adjacency == other.graph.adjacency).all()
            for name, value in alone.inputs.items():
                assert (value == other.inputs[name]).all()


def test_each_instance_has_one_law() -> None:
    problem = several("uniform(10, 11) | integers(2, 4) | uniform(-3, -2)", "train 1 tree(n = 4)")
    kinds = Counter()
    for instance in draw_split(problem, "train", 300, seed=1):
        drawn = instance.inputs["A"][instance.graph.adjacency]
        kinds[
            "high" if (drawn >= 10).all()
            else "low" if (drawn < 0).all()
            else "whole" if set(drawn.tolist()) <= {2.0, 3.0, 4.0}
            else "mixed"
        ] += 1  # fmt: skip
    assert set(kinds) == {"high", "low", "whole"}
    assert min(kinds.values()) > 70


def test_a_set_has_its_own_law_and_the_same_graphs() -> None:
    problem = several()
    plain, heavy = (list(draw_split(problem, "train", 20, 4, name)) for name in ("plain", "heavy"))
    for one, other in zip(plain, heavy, strict=True):
        assert (one.graph.adjacency == other.graph.adjacency).all()
        assert set(other.inputs["A"][other.graph.adjacency].tolist()) <= {5, 6, 7, 8, 9}
        assert one.inputs["A"].max() < 1
        assert other.inputs["w"].max() < 1
    pool = draw_pool(problem, count=80, seed=4, instances="heavy")
    assert np.isin(pool.instance(3).inputs["A"], [0, 5, 6, 7, 8, 9]).all()
    assert "A ~ integers(5, 9)" in pool.provenance.recipe


def test_defaults_are_the_same_law() -> None:
    assert several("normal").hash == several("normal(0, 1)").hash
    assert several("normal").hash != several("normal | exponential").hash


def test_new_words_are_ordinary_names() -> None:
    words = ["path", "regular", "bipartite", "powerlaw", "geometric", "delaunay"]
    words += ["exponential", "integers", "normal", "lognormal", "any_category", "position"]
    for word in words:
        text = SPEC.format(law="uniform(0, 1)", more="").replace("on[", f"{word}[")
        problem = gnarl.loads(text.replace("  on  state", f"  {word}  state"))
        assert problem.feature(word).is_truth
        text = SPEC.format(law="uniform(0, 1)", more="").replace("  w  ", f"  {word}  ")
        assert gnarl.loads(text.replace("pick(v)", f"{word}(v)")).feature(word).is_number


# What a source can draw


@pytest.mark.parametrize(
    "law",
    ["uniform(0, 1)", "clrs_weight", "euclidean", "exponential", "integers(1, 4)", "lognormal"],
)
@pytest.mark.parametrize("seed", range(3))
def test_what_was_drawn_could_be_drawn(law: str, seed: int) -> None:
    problem = several(law)
    for drawn in draw_split(problem, "train", 6, seed=seed):
        feature = problem.feature("A")
        assert could_draw(feature, drawn.graph, drawn.inputs["A"])
        negative = drawn.inputs["A"] - 9.0 * drawn.graph.adjacency
        assert not could_draw(feature, drawn.graph, negative) or not drawn.graph.m


def test_distances_of_a_plane_and_positions_along_a_path() -> None:
    """From a node to itself there is no way; positions are all different."""
    text = SPEC.format(law="euclidean", more="train 12  path(n = 9)")
    text = text.replace("A  input  edge", "A  input  pair").replace(
        "uniform(0, 1)\n  on", "position\n  on"
    )
    problem = gnarl.loads(text.replace("integers(5, 9)", "euclidean"))
    for drawn in draw_split(problem, "train", 12):
        far, place = drawn.inputs["A"], drawn.inputs["w"]
        assert could_draw(problem.feature("A"), drawn.graph, far)
        assert could_draw(problem.feature("w"), drawn.graph, place)
        assert not could_draw(problem.feature("A"), drawn.graph, far + np.eye(len(far)))
        assert not could_draw(problem.feature("A"), drawn.graph, far + np.triu(far, 1))
        assert not could_draw(problem.feature("w"), drawn.graph, np.zeros_like(place))
        if drawn.graph.m == drawn.graph.n - 1 and drawn.graph.adjacency.sum(axis=0).max() <= 2:
            assert not could_draw(problem.feature("w"), drawn.graph, np.roll(place, 3)[::-1])
