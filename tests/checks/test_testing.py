"""The helpers for pytest users, and the page that shows how to use them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from house import ROOT
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from shipped_specs import SHIPPED, shipped
from small_instances import ANY_GRAPH, EVERY_TYPE

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import find_spec
from gnarl_dsl.testing import check_spec, instances, oracle, play_expert, spec_cases
from gnarl_runtime.checks.sample.strategies import Case
from gnarl_runtime.instances.instance_checks import verify_instance

PAGE = ROOT / "docs" / "checking.md"
THOROUGH = settings(max_examples=2000, database=None)
GENERATED = settings(THOROUGH, phases=[Phase.generate])

KINDS = [
    ("undirected", "er(n = 5, p = 0.5)"),
    ("undirected connected", "er(n = 5, p = 0.5)"),
    ("undirected complete", "complete(n = 5)"),
    ("undirected acyclic", "tree(n = 5)"),
    ("undirected connected acyclic", "tree(n = 5)"),
    ("directed", "er(n = 5, p = 0.5)"),
    ("directed connected", "er(n = 5, p = 0.5)"),
    ("directed acyclic", "er(n = 5, p = 0.5)"),
    ("directed connected acyclic", "er(n = 5, p = 0.5)"),
    ("directed complete", "complete(n = 5)"),
]


def broken(name: str, old: str, new: str) -> Problem:
    path = find_spec(name)
    assert path is not None
    text = path.read_text("utf-8")
    assert old in text
    return gnarl.loads(text.replace(old, new))


# check_spec


@pytest.mark.parametrize(
    "spec", ["bfs", find_spec("dfs"), gnarl.load("mvc")], ids=["name", "path", "problem"]
)
def test_names_paths_and_problems_can_be_checked(spec: Any) -> None:
    report = check_spec(spec, max_nodes=2, examples=5)
    assert report.passed
    assert [size.nodes for size in report.sizes] == [1, 2]


def test_a_broken_spec_is_an_assertion_error_with_its_counterexample() -> None:
    problem = broken("dfs", "allow edge(u, v) or v == u", "allow edge(u, v)")
    with pytest.raises(AssertionError, match="dead-end") as raised:
        check_spec(problem, max_nodes=2, examples=0)
    text = str(raised.value)
    assert "1 node, 0 edges" in text  # the smallest there is
    assert "allow edge(u, v)" in text


def test_faults_that_only_larger_graphs_show_are_found() -> None:
    problem = broken("bfs", "horizon n - 1 rounds", "horizon min(n - 1, 3) rounds")
    assert check_spec(problem, max_nodes=3, examples=0).passed
    with pytest.raises(AssertionError, match="expert-late"):
        check_spec(problem, max_nodes=3, examples=30)


# Instances


@pytest.mark.parametrize(("kind", "generator"), KINDS)
def test_instances_are_of_every_kind_of_graph(kind: str, generator: str) -> None:
    problem = gnarl.loads(ANY_GRAPH.format(kind=kind, generator=generator))

    @settings(max_examples=25)
    @given(instances(problem, min_nodes=2, max_nodes=6))
    def holds(instance: Instance) -> None:
        verify_instance(problem, instance, "drawn")
        assert 2 <= instance.graph.n <= 6

    holds()


@given(instances(gnarl.loads(EVERY_TYPE), max_nodes=5))
def test_instances_have_inputs_of_every_type(instance: Instance) -> None:
    verify_instance(gnarl.loads(EVERY_TYPE), instance, "drawn")


@pytest.mark.parametrize(
    "wanted",
    [
        lambda i: i.graph.n == 12,
        lambda i: i.graph.n > 4 and i.graph.m == 0,
        lambda i: i.graph.n > 4 and 2 * i.graph.m == i.graph.n * (i.graph.n - 1),
        lambda i: i.graph.n > 3 and len(np.unique(i.inputs["w"])) == 1,
        lambda i: i.graph.n > 3 and len(np.unique(i.inputs["w"])) == i.graph.n,
        lambda i: (i.inputs["w"] * 8 % 1 != 0).any(),
        lambda i: (np.diff(i.tags.astype(int)) < 0).any(),
    ],
    ids=["large", "empty", "complete", "all tie", "none ties", "any number", "other ranks"],
)
def test_instances_are_diverse(wanted: Any) -> None:
    find(instances(shipped("mvc")), wanted, settings=GENERATED)


def test_instances_shrink_to_few_nodes_and_plain_values() -> None:
    small = find(instances(shipped("mvc")), lambda i: i.graph.m >= 3, settings=THOROUGH)
    assert (small.graph.n, small.graph.m) == (3, 3)
    assert small.inputs["w"].tolist() == [1.0, 1.0, 1.0]
    assert small.tags.tolist() == [0, 1, 2]
    assert "edges=[(0, 1), (0, 2), (1, 2)]" in repr(small)


def test_sizes_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="min_nodes=5, max_nodes=4"):
        instances("bfs", 5, 4)


# Plays


@pytest.mark.parametrize("name", SHIPPED)
def test_cases_are_legal_plays(name: str) -> None:
    problem = shipped(name)

    @settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
    @given(spec_cases(problem, max_nodes=4, max_picks=6))
    def holds(case: Case) -> None:
        game = Interpreter(problem)
        state = game.reset(case.instance)
        for pick in case.picks:
            assert game.mask(state)[pick]
            state = game.step(state, pick).state
        assert len(case.states) == len(case.picks) + 1
        assert (state.phase, state.last, state.ended) == (
            case.state.phase,
            case.state.last,
            case.state.ended,
        )

    holds()


def test_the_smallest_play_that_breaks_a_spec_is_found() -> None:
    """A cover that counts as done while one edge is left: a single edge shows it at once."""
    problem = broken(
        "mvc",
        "terminate when forall (x, y) in edges: in_cover[x] or in_cover[y]",
        "terminate when count((x, y) in edges where not (in_cover[x] or in_cover[y])) < 2",
    )

    def ends_invalid(case: Case) -> bool:
        return case.state.ended is not None and not case.game.valid(case.state)

    case = find(spec_cases(problem), ends_invalid, settings=THOROUGH)
    assert (case.instance.graph.n, case.instance.graph.m, case.picks) == (2, 1, ())
    assert "picks=()" in repr(case)
    assert len(repr(spec_cases(problem))) < 100  # Hypothesis prints it with a failing example


def test_a_play_shrinks_to_its_shortest_form() -> None:
    case = find(spec_cases("bfs"), lambda case: case.state.rounds == 2, settings=THOROUGH)
    assert case.instance.graph.n == 3  # the horizon is n - 1
    assert len(case.picks) == 4


# Reference algorithms


@settings(max_examples=25)
@given(st.data())
def test_an_experts_play_ends_as_its_oracle_says(data: st.DataObject) -> None:
    instance = data.draw(instances("mvc", max_nodes=6))
    best = oracle("mvc", instance, "best")
    end = play_expert("mvc", instance)
    assert np.array_equal(end.features["in_cover"], best) or end.rounds == 0


def test_an_oracle_that_is_not_there() -> None:
    instance = find(instances("mvc"), lambda _: True, settings=GENERATED)
    with pytest.raises(ValueError, match="no oracle `bset`; it has: best, approx"):
        oracle("mvc", instance, "bset")


# The page


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


def test_the_pages_code_runs_and_its_tests_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks("python"):
        exec(compile(block, str(PAGE), "exec"), names)
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) >= 4
    for test in tests:
        test()


def test_the_page_shows_what_the_tool_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a change of wording: GNARL_UPDATE=1 pytest tests/checks -k page_shows."""
    from gnarl_runtime.commands.check import main

    path = find_spec("dfs")
    assert path is not None
    text = path.read_text("utf-8").replace("allow edge(u, v) or v == u", "allow edge(u, v)")
    (tmp_path / "my_dfs.gnarl").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["my_dfs.gnarl", "--fast", "--only", "dead-end"]) == 1
    printed = capsys.readouterr().out
    shown = next(block for block in blocks("console") if "my_dfs.gnarl" in block)
    command, _, expected = shown.partition("\n")
    assert command == "$ gnarl-check my_dfs.gnarl --fast --only dead-end"
    if os.environ.get("GNARL_UPDATE"):
        PAGE.write_text(PAGE.read_text("utf-8").replace(expected, printed), "utf-8")
        expected = printed
    assert without_time(printed) == without_time(expected)


def without_time(text: str) -> str:
    return re.sub(r"[\d.]+ s\)", "s)", text).strip()
