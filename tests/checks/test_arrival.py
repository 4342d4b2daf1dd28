"""Experts off their own path: an answer must lead somewhere, and it must be worth following."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shipped_specs import shipped

from gnarl_dsl.loading import loads
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import find_spec
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.properties.arrival import NEVER, longest
from gnarl_runtime.checks.run import check_problem
from gnarl_runtime.checks.witness import witness_files
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.checks.witness.telling import render

QUICK = Options(max_nodes=3, examples=0, jit=False, lints=False)
LARGER = replace(QUICK, max_nodes=4)

# One node is lit at a time: by a pick of a node that is dark, or by a pick of the lit one, which
# lights nothing. The lamp of `s` must be lit at the end.
LAMP = """
gnarl 1
problem lamp
graph undirected connected
features
  s    input  node     mask_one  ~ any_node
  lit  state  node(x)  mask      = false
phase press(v)
  update
    for x in nodes
      lit[x] := x == v and not lit[v]
horizon 3 rounds
terminate when correct
correct lit[s]
expert guide
  press: uniform v where {advice}
instances er
  train 10  er(n = 4, p = 0.5)
  valid 10  er(n = 4, p = 0.5)
  test  10  er(n = 4, p = 0.5)
"""
GOOD = "s[v]"
ROUND = "(if exists x in nodes: lit[x] then not s[v] and (n == 2 or not lit[v]) else s[v])"


def lost(problem: Problem, options: Options = QUICK) -> list[Failure]:
    failures = check_problem(problem, options).failures
    return [failure for failure in failures if failure.property == "expert-lost"]


def test_an_expert_that_finds_back_passes() -> None:
    assert check_problem(loads(LAMP.format(advice=GOOD)), QUICK).passed


def test_an_expert_that_goes_round_in_circles_is_lost(tmp_path: Path) -> None:
    """Right from the start; once another node is lit, it presses a third one, and so on."""
    problem = loads(LAMP.format(advice=ROUND))
    (failure,) = lost(problem)
    assert (failure.instance.graph.n, failure.instance.graph.m, len(failure.picks)) == (3, 2, 1)
    assert failure.expert == "guide"
    assert failure.span is not None
    assert holds(problem, failure)
    assert not holds(loads(LAMP.format(advice=GOOD)), failure)
    text = render(problem, failure)
    assert "has not arrived" in text
    assert f":{problem.line_of(failure.span)} |" in text
    witness_files.write(tmp_path / "w.json", problem, failure)
    assert witness_files.replay(tmp_path / "w.json").happens


def test_being_lost_is_a_lint_for_the_lenient() -> None:
    problem = loads(LAMP.format(advice=ROUND))
    report = check_problem(problem, replace(QUICK, lenient=True, lints=True))
    assert report.passed
    assert [lint.name for lint in report.lints if lint.name.startswith("expert-l")] == [
        "expert-lost"
    ]


def test_time_that_others_lost_is_not_held_against_an_expert() -> None:
    """It first puts out what is lit: two presses, also where one round is left."""
    advice = "s[v] and not (exists x in nodes: lit[x])"
    slow = LAMP.format(advice=f"{advice}\n         else uniform v where lit[v]")
    report = check_problem(loads(slow), QUICK)
    assert report.passed
    (expert,) = report.experts
    assert expert.recoverable < expert.winnable


def test_a_wrong_end_is_an_end() -> None:
    """A root that was chosen badly stays one in `dfs`: that is a figure, not a failure."""
    report = check_problem(shipped("dfs"), QUICK)
    assert report.passed
    assert all(expert.recoverable < expert.winnable for expert in report.experts)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20), st.data())
def test_the_longest_play_is_what_a_search_finds(
    steps: list[tuple[int, int]], data: st.DataObject
) -> None:
    ends = data.draw(st.lists(st.booleans(), min_size=8, max_size=8))
    steps = [(source, target) for source, target in steps if not ends[source]]
    source = np.array([step[0] for step in steps], np.int64)
    target = np.array([step[1] for step in steps], np.int64)
    found = longest(source, target, np.array(ends, np.bool_))
    assert found.tolist() == [search(steps, ends, state, ()) for state in range(8)]


def search(
    steps: list[tuple[int, int]], ends: list[bool], state: int, path: tuple[int, ...]
) -> int:
    """The same by following every play until it ends, stops or comes back."""
    if ends[state]:
        return 0
    after = [target for source, target in steps if source == state]
    if not after or state in path:
        return NEVER
    most = max(search(steps, ends, target, (*path, state)) for target in after)
    return NEVER if most == NEVER else most + 1


# Experts that are worth following

NEAREST = "expert nearest\n  visit: uniform v minimising A[here, v]"


def tours(advice: str) -> Problem:
    text = shipped("tsp").sources[0].text
    assert text.count(NEAREST) == 1
    return loads(text.replace(NEAREST, f"expert nearest\n  visit: {advice}"))


@pytest.mark.parametrize(
    "advice",
    ["uniform v", "uniform v minimising A[here, s]", "uniform v maximising A[here, v]"],
    ids=["anything", "a criterion that is the same for all", "the wrong way round"],
)
def test_an_expert_that_is_no_better_than_chance_is_aimless(advice: str, tmp_path: Path) -> None:
    problem = tours(advice)
    (failure,) = check_problem(problem, LARGER).failures
    assert (failure.property, failure.expert) == ("expert-aimless", "nearest")
    assert failure.instance.graph.n == 4
    assert holds(problem, failure)
    assert not holds(shipped("tsp"), failure)
    witness_files.write(tmp_path / "w.json", problem, failure)
    assert witness_files.replay(tmp_path / "w.json").happens


def test_an_expert_is_aimless_too_where_all_plays_are_worth_the_same() -> None:
    """All orders of inserting four nodes give the same tour, but not every order is farthest."""
    path = find_spec("tsp_insertion")
    assert path is not None
    text = path.read_text("utf-8")
    problem = loads(text.replace("where in_tour[x]: A[x, v])\n", "where in_tour[v]: A[x, v])\n"))
    (failure,) = check_problem(problem, LARGER).failures
    assert (failure.property, failure.expert) == ("expert-aimless", "farthest")
    assert "never prefers" in failure.message
    assert holds(problem, failure)
    assert not holds(shipped("tsp_insertion"), failure)


def test_experts_of_three_nodes_are_not_compared_with_chance() -> None:
    assert check_problem(tours("uniform v"), QUICK).passed


# Rewards that tell plays apart

SAMPLED = replace(QUICK, max_nodes=2, examples=30)


def test_a_reward_that_is_the_same_for_all_plays_is_flat(tmp_path: Path) -> None:
    """Every node is followed by some node, so all plays add up the distances from s."""
    text = shipped("tsp").sources[0].text
    flat = loads(text.replace("sum(x in nodes: A[x, next[x]])", "sum(x in nodes: A[s, next[x]])"))
    (failure,) = check_problem(flat, SAMPLED).failures
    assert failure.property == "reward-flat"
    assert failure.instance.graph.n >= 4
    assert failure.span is not None
    assert flat.text_of(failure.span) == "-length"
    assert holds(flat, failure)
    assert not holds(shipped("tsp"), failure)
    witness_files.write(tmp_path / "w.json", flat, failure)
    assert witness_files.replay(tmp_path / "w.json").happens


def test_a_graph_that_is_left_as_it_was_earns_nothing() -> None:
    text = shipped("rgc").sources[0].text
    forgotten = loads(text.replace("    edge(u, v) := true\n", ""))
    failures = check_problem(forgotten, SAMPLED).failures
    assert [failure.property for failure in failures] == ["reward-flat"]
