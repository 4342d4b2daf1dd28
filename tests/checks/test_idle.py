"""Parts of a spec that make no difference, and rewards that make the wrong difference."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from shipped_specs import SHIPPED, shipped

from gnarl_compiler.describe.summary import render_summary
from gnarl_dsl import model
from gnarl_dsl.loading import loads
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import find_spec
from gnarl_runtime.checkpoints.spec_texts import params_of, problem_from, texts_of
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.findings.waived import Waivers
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.properties.idle import parts_of
from gnarl_runtime.checks.report.report_json import document
from gnarl_runtime.checks.report.report_text import report_text
from gnarl_runtime.checks.run import check_problem
from gnarl_runtime.checks.witness import witness_files
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.checks.witness.telling import render

QUICK = Options(max_nodes=3, examples=0, jit=False, lints=False)
FOUR = replace(QUICK, max_nodes=4)


def changed(spec: str, before: str, after: str) -> Problem:
    text = shipped(spec).sources[0].text
    assert text.count(before) == 1
    return loads(text.replace(before, after))


def only_failure(problem: Problem, options: Options = QUICK) -> Failure:
    (failure,) = check_problem(problem, options).failures
    return failure


def test_unconditional_assignments_and_operands_of_correct_are_parts() -> None:
    problem = shipped("mst_prim")
    found = {problem.text_of(part.span) for part in parts_of(problem)}
    assert found == {
        "mark[u] := true",
        "in_queue[u] := false",
        "(forall x in nodes: depth(pred, x, s) < inf)",
        "sum(x in nodes: A[pred[x], x]) ~= best",
    }


@pytest.mark.parametrize(
    ("spec", "before", "after", "idle"),
    [
        ("bfs", "reach[u] := true", "reach[s] := true", "reach[s] := true"),
        ("bfs", "mask      = s[x] ", "mask      = true ", "reach[u] := true"),
        (
            "mst_prim",
            "correct (forall x in nodes: depth(pred, x, s) < inf)",
            "correct (forall x in nodes: depth(pred, x, s) <= inf)",
            "forall x in nodes: depth(pred, x, s) <= inf",
        ),
        (
            "dfs",
            "and forall x in nodes: reach",
            "and exists x in nodes: reach",
            "exists x in nodes",
        ),
    ],
    ids=["another node", "true from the start", "always true", "true after the first pick"],
)
def test_a_part_that_changes_nothing_is_idle(
    spec: str, before: str, after: str, idle: str, tmp_path: Path
) -> None:
    problem = changed(spec, before, after)
    failure = only_failure(problem)
    assert failure.property == "idle"
    assert failure.span is not None
    assert idle in problem.text_of(failure.span)
    assert holds(problem, failure)
    witness_files.write(tmp_path / "w.json", problem, failure)
    assert witness_files.replay(tmp_path / "w.json").happens


@pytest.mark.parametrize("spec", SHIPPED)
def test_every_part_of_the_shipped_specs_matters(spec: str) -> None:
    nodes = 4 if shipped(spec).graph.complete else 3
    assert check_problem(shipped(spec), replace(QUICK, max_nodes=nodes)).passed


# One of the two updates changes something from five nodes on only.
LATE = """
gnarl 1
problem late
graph undirected connected
features
  s     input  node     mask_one  ~ any_node
  lit   state  node     mask      = false
  tired state  node     mask      = false
phase press(v)
  allow not lit[v]
  update
    lit[v] := true
    tired[v] := n > 4
horizon n rounds
terminate when correct
correct lit[s]
expert guide
  press: uniform v where s[v]
instances er
  train 10  er(n = 4, p = 0.5)
  valid 10  er(n = 4, p = 0.5)
  test  10  er(n = 4, p = 0.5)
"""


def test_what_matters_on_larger_graphs_is_not_idle() -> None:
    problem = loads(LATE)
    assert only_failure(problem, FOUR).property == "idle"
    assert check_problem(problem, replace(FOUR, examples=20)).passed


# What is right, though it makes no difference


def notes_of(problem: Problem) -> list[str]:
    report = check_problem(problem, FOUR)
    assert report.passed, [failure.message for failure in report.failures]
    return [lint.message for lint in report.lints if lint.name == "idle"]


def test_a_clause_that_another_implies_is_a_note() -> None:
    problem = loads(
        LATE.replace("    tired[v] := n > 4\n", "")
        .replace("  tired state  node     mask      = false\n", "")
        .replace("correct lit[s]", "correct lit[s] and exists x in nodes: lit[x]")
    )
    (note,) = notes_of(problem)
    assert "`exists x in nodes: lit[x]`" in note
    assert "the rest implies it" in note


def test_one_of_the_lines_of_an_unrolled_loop_is_a_note() -> None:
    step = "    for x in nodes\n      near[x] := near[x] or exists y in neighbors(x): near[y]\n"
    text = LATE.replace("  tired state  node     mask      = false\n", "").replace(
        "    tired[v] := n > 4\n", "    near[v] := true\n" + 4 * step
    )
    text = text.replace("  lit ", "  near  state  node     mask      = false\n  lit ")
    notes = notes_of(loads(text))
    assert notes
    assert all("it stands there again" in note for note in notes)


WAIVED = "tired[v] := n > 4   # waives idle: it shows on larger graphs"


def test_a_comment_waives_a_property_for_its_line() -> None:
    problem = loads(LATE.replace("tired[v] := n > 4", WAIVED))
    report = check_problem(problem, FOUR)
    assert report.passed
    ((failure, waiver),) = report.waived
    assert (failure.property, waiver.reason) == ("idle", "it shows on larger graphs")
    told = report_text(report, QUICK)
    assert "it shows on larger graphs" in told
    assert "1 waived" in told
    (spec,) = json.loads(document([report], QUICK))["specs"]
    assert [entry["property"] for entry in spec["waived"]] == ["idle"]
    assert "it shows on larger graphs" in render_summary(problem)
    assert problem.hash == loads(LATE).hash


def test_a_comment_above_a_line_speaks_for_it_and_for_no_other() -> None:
    above = "# waives idle\n    tired[v] := n > 4"
    assert check_problem(loads(LATE.replace("tired[v] := n > 4", above)), FOUR).passed
    elsewhere = LATE.replace("lit[v] := true", "lit[v] := true  # waives idle")
    assert only_failure(loads(elsewhere), FOUR).property == "idle"
    other = LATE.replace("tired[v] := n > 4", "tired[v] := n > 4  # waives dead-end")
    assert only_failure(loads(other), FOUR).property == "idle"


def test_what_is_waived_hides_nothing_else() -> None:
    """Two dead ends: one is waived, so the other is told."""
    text = """
gnarl 1
problem two
graph undirected
features
  lit  state  node  mask  = false
phase one(u)
phase two(v)
  allow edge(u, v) and not lit[v]  # waives dead-end: {why}
phase three(w)
  allow {allow}
  update
    lit[w] := true
horizon n rounds
objective o = count(x in nodes where lit[x])
"""
    fine = check_problem(loads(text.format(why="known", allow="not lit[w]")), QUICK)
    assert [f.property for f in fine.failures] == []
    assert [(f.property, w.reason) for f, w in fine.waived] == [("dead-end", "known")]
    both = check_problem(loads(text.format(why="known", allow="edge(u, w) and lit[w]")), QUICK)
    assert "dead-end" in [f.property for f in both.failures]
    assert "dead-end" in [f.property for f, _ in both.waived]


def test_waivers_that_say_nothing_are_told() -> None:
    misspelt = LATE.replace("tired[v] := n > 4", "tired[v] := n > 4  # waives idel")
    report = check_problem(loads(misspelt), FOUR)
    assert not report.passed
    (lint,) = [lint for lint in report.lints if lint.name == "unknown-waiver"]
    assert "did you mean `idle`" in lint.message.lower()
    needless = LATE.replace("lit[v] := true", "lit[v] := true  # waives idle")
    report = check_problem(loads(needless), replace(FOUR, examples=20))
    assert report.passed
    assert [lint.name for lint in report.lints] == ["needless-waiver"]


def test_a_checkpoint_keeps_waivers() -> None:
    problem = loads(LATE.replace("tired[v] := n > 4", WAIVED))
    again = problem_from(texts_of(problem), params_of(problem))
    assert Waivers(again).all == Waivers(problem).all != ()


# Rewards


def test_a_reward_that_pays_for_dawdling_misleads(tmp_path: Path) -> None:
    problem = changed("bellman_ford", "step      -1", "step      1")
    failures = check_problem(problem, QUICK).failures
    assert {failure.property for failure in failures} == {"reward-misleads"}
    assert {failure.expert for failure in failures} == {"sticky", "printed"}
    for failure in failures:
        assert failure.span is not None
        assert problem.text_of(failure.span) == "1"
        assert holds(problem, failure)
        assert not holds(shipped("bellman_ford"), failure)
        witness_files.write(tmp_path / "w.json", problem, failure)
        assert witness_files.replay(tmp_path / "w.json").happens
        assert "ends right" in render(problem, failure)


def test_a_reward_for_every_pick_misleads_nobody_where_all_plays_are_equally_long() -> None:
    assert check_problem(changed("bfs", "step      -1", "step      1"), QUICK).passed


def test_correct_may_say_that_it_implies_valid() -> None:
    path = find_spec("topological_sort")
    assert path is not None
    problem = loads(path.read_text("utf-8"))
    assert isinstance(problem.correct, model.Logic)
    assert any(isinstance(operand, model.ClauseRef) for operand in problem.correct.args)
    assert check_problem(problem, QUICK).passed
