"""A spec may declare a name that a registered function has, and then means its own."""

from __future__ import annotations

import numpy as np
import pytest
from duel import Duel, play
from random_specs.generator import instances_for

from gnarl_compiler.describe.oracle_reads import oracles_read_by
from gnarl_dsl import loads
from gnarl_dsl.editing.completion import complete
from gnarl_dsl.editing.document import Document
from gnarl_dsl.editing.hover import describe
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.loading import check_text
from gnarl_dsl.report.source import Source

SPEC = """
gnarl 1
problem own
  "names of registered functions, declared"

param bfs_depth = 2

graph undirected

features
  A           input   edge  scalar                             ~ uniform(0, 1)
  mst_weight  input   node  scalar                             ~ uniform(0, 1)
  side        state   node  categorical(steiner_tree | plain)  = plain
  best        oracle  node  mask                               = max_independent_set(mst_weight)

let max_cut(x, y) = edge(x, y) and side[x] != side[y]

phase pick(max_clique)
  allow side[max_clique] == plain
  update
    let min_vertex_cover = bfs_depth * mst_weight[max_clique]
    if min_vertex_cover > 0.5
      side[max_clique] := steiner_tree

horizon n rounds

objective optimal_tour = sum((x, y) in edges where max_cut(x, y): A[x, y])

metric count_best = count(optimal_colouring in nodes where best[optimal_colouring])

expert near
  pick: uniform max_clique maximising mst_weight[max_clique]
""".lstrip()


def codes(text: str) -> list[str]:
    return [finding.code for finding in check_text(text).diagnostics]


def test_what_a_spec_declares_wins() -> None:
    assert codes(SPEC) == []
    problem = loads(SPEC)
    assert {"bfs_depth", "mst_weight", "max_cut", "optimal_tour"} <= FUNCTIONS.keys()
    assert oracles_read_by(problem, problem.objectives[0].value) == []
    assert oracles_read_by(problem, problem.metrics[0].value) == ["best"]
    for jit in (False, True):
        rng = np.random.default_rng(4)
        play(Duel(problem, instances_for(problem, rng), jit=jit), rng, 8)


def test_its_own_names_are_formatted_and_shown() -> None:
    assert format_text(SPEC) == SPEC
    document = Document(Source("own.gnarl", SPEC), check_text(SPEC))
    for word, told in (
        ("mst_weight[max_clique]\n", "Feature, `input`: a number for each node."),
        ("max_cut(x, y):", "`max_cut(x: node, y: node)` is true or false."),
        ("max_clique] ==", "pick"),
        ("max_independent_set", "heaviest independent set"),
    ):
        place = document.place_at(SPEC.index(word))
        assert place is not None
        assert told in (describe(document, place) or "")
    offered = [entry.text for entry in complete(document, SPEC.index("max_cut(x, y):"))]
    assert offered.count("max_cut") == offered.count("max_independent_set") == 1


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("max_independent_set(mst_weight)", "max_cut(A)", ["GN203"]),  # the let
        ("y): A[x, y]", "y): mst_weight(A)", ["GN202"]),  # the feature
        ("bfs_depth * mst", "bfs_depth(max_clique) * mst", ["GN202"]),  # the param
        ("* mst_weight[max_clique]", "* triangle_packing", ["GN224"]),  # not declared
        ("* mst_weight[max_clique]", "* triangle_packing[max_clique]", ["GN225"]),
        ("mst_weight  input ", "mst_weight  inputs ", ["GN104"]),  # reported once, lost
    ],
)
def test_mistakes_around_them(old: str, new: str, found: list[str]) -> None:
    assert old in SPEC
    assert [code for code in codes(SPEC.replace(old, new)) if code < "GN9"] == found


def test_the_words_of_the_language_stay_reserved() -> None:
    for word in ("n", "edges", "degree", "floor", "neighbors", "depth"):
        assert "GN115" in codes(SPEC.replace("bfs_depth", word))
