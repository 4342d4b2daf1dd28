"""`search` and `best of`: what they are in the model, that their words stay free, `extends`."""

from __future__ import annotations

import pytest
from made_experts import COVER, MADE, RULES, made_problem

from gnarl_compiler.describe.summary import render_summary
from gnarl_dsl.check.cost import describe
from gnarl_dsl.format.house_style import format_text
from gnarl_dsl.loading import check_text, loads
from gnarl_dsl.model import BestExpert, Problem, SearchExpert


def test_model() -> None:
    problem = made_problem()
    better, found = problem.expert("better"), problem.expert("found")
    assert isinstance(better, BestExpert)
    assert better.members == ("heavy", "light")
    assert isinstance(found, SearchExpert)
    assert (found.objective, found.work) == ("lit", 300)
    assert [expert.name for expert in problem.own_experts] == ["heavy", "light"]
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


def test_defaults_and_correct() -> None:
    text = f"{COVER}correct forall x in nodes: on[x]\nexpert found = search correct\n"
    found = loads(text).expert("found")
    assert isinstance(found, SearchExpert)
    assert (found.objective, found.work) == (None, 2000)


def test_members_may_come_later_and_order_is_kept() -> None:
    problem = loads(f"{COVER}expert better = best of heavy, light\n{RULES}")
    assert [expert.name for expert in problem.experts] == ["better", "heavy", "light"]
    costs = dict(problem.costs.experts)
    assert costs["better"] == costs["heavy"]


def test_the_words_stay_names() -> None:
    text = """gnarl 1
problem search
param work = 2
graph undirected
features
  best  state  node  mask    = false
  of    input  node  scalar  ~ uniform(0, 1)
phase greedy(v)
  allow not best[v]
  update
    best[v] := true
horizon work rounds
objective search = sum(x in nodes where best[x]: of[x])
expert best
  greedy: uniform v maximising of[v]
expert work = greedy search
expert of = best of best, work
expert search = search search work 7
"""
    problem = loads(text)
    assert [e.name for e in problem.experts] == ["best", "work", "of", "search"]
    assert problem.expert("of").members == ("best", "work")  # type: ignore[union-attr]


@pytest.mark.parametrize("own", [COVER + RULES + MADE])
def test_formatting_keeps_the_meaning(own: str) -> None:
    spaced = own.replace("best of heavy, light", "best  of heavy ,light").replace(
        " work 3", "  work   3"
    )
    once = format_text(spaced)
    assert "expert better = best of heavy, light\n" in once
    assert "expert found = search lit work 300\n" in once
    assert format_text(once) == once
    assert loads(once).hash == loads(own).hash


def test_budget_and_members_are_meaning() -> None:
    texts = [MADE, MADE.replace("300", "301"), MADE.replace("heavy, light", "light, heavy")]
    assert len({loads(COVER + RULES + text).hash for text in texts}) == 3


def test_extends() -> None:
    base = "gnarl 1\nproblem more extends tsp\n"
    problem = loads(base + "expert better = best of nearest, weak\n")
    assert problem.experts[-1].name == "better"
    replaced = loads(base + "expert weak = search tour\nexpert more = greedy tour\n")
    assert isinstance(replaced.expert("weak"), SearchExpert)
    lost = check_text(base + "drop expert weak\nexpert better = best of nearest, weak\n")
    assert [diagnostic.code for diagnostic in lost.diagnostics] == ["GN507"]


def test_oracles() -> None:
    problem = loads(
        "gnarl 1\nproblem more extends tsp\nexpert a = best of nearest, weak\n"
        "expert b = best of optimal, weak\nexpert c = search tour\n"
    )
    assert [problem.reads_oracle(name) for name in "abc"] == [False, True, False]
    summary = render_summary(problem)
    assert "a: the best of nearest, weak on each instance, which read no oracle" in summary
    assert "c: search for tour, 2,000 picks per instance" in summary


def test_greed_costs_what_it_tries() -> None:
    """Every pick is made in a copy of the state; later phases need their masks, too."""
    text = """gnarl 1
problem p
graph undirected
features
  on    state  node  mask  = false
  near  state  pair  mask  = false
phase one(u)
  allow not on[u]
phase two(v)
  allow exists x in nodes: near[x, v] or v != u
  update
    on[u] := true
    for x in nodes, y in nodes where on[x] and on[y]
      near[x, y] := true
horizon n rounds
objective o = count(x in nodes where on[x])
expert greed = greedy o
"""
    costs = loads(text).costs
    assert describe(dict(costs.experts)["greed"]) == "O(n^4)"
    plain = text.replace("    for x in nodes, y in nodes where on[x] and on[y]\n", "")
    plain = plain.replace("      near[x, y] := true\n", "")
    plain = plain.replace("  near  state  pair  mask  = false\n", "")
    plain = plain.replace("exists x in nodes: near[x, v] or v != u", "v != u")
    assert describe(dict(loads(plain).costs.experts)["greed"]) == "O(n^3)"
