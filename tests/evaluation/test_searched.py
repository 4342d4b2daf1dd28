"""Searches beside a policy in an evaluation, and how far everybody is from the optimum."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from checkpoints import untrained_run
from shipped_specs import shipped

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.api.evaluate_policy import evaluate as evaluated
from gnarl_runtime.commands.eval import main
from gnarl_runtime.evaluation import evaluate as evaluation
from gnarl_runtime.evaluation.evaluate import Plan, evaluate
from gnarl_runtime.evaluation.searched import Best, gaps_by_size, gaps_text
from gnarl_runtime.network.policy import Policy, PolicyConfig
from gnarl_runtime.search.outcomes import Outcomes, blank_outcomes
from gnarl_runtime.search.strategy import parse_searches

SEARCHES = parse_searches("picks,sample:8,work:100,exact")


@pytest.fixture(scope="module")
def policy() -> Policy:
    return Policy(shipped("mvc"), PolicyConfig(width=8, rounds=1))


def test_searches_play_the_same_graphs_and_are_never_worse(
    policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = shipped("mvc")
    plan = Plan(sizes=(7, 9), graphs=6, search=SEARCHES, optimum=True, against=("optimal",))
    whole = evaluate(policy, problem, plan)
    assert list(whole.searches) == ["sample:8", "work:100", "exact"]
    for size in range(2):
        best = whole.baselines["optimal"][size].objective
        assert whole.searches["exact"][size].objective == pytest.approx(best)
        assert whole.searches["exact"][size].ratio <= whole.rows[size].ratio + 1e-9
        assert whole.rows[size].objective - 1e-9 <= whole.searches["work:100"][size].objective
        assert whole.gaps[size].best == pytest.approx(best)
        assert whole.gaps[size].proven == 6
        assert whole.gaps[size].gaps["optimal"] == pytest.approx(0.0, abs=1e-9)
        missing = 100 * (best - whole.rows[size].objective) / abs(best)
        assert whole.gaps[size].gaps[whole.name] == pytest.approx(missing)
    monkeypatch.setattr(evaluation, "part_size", lambda compiled, nodes: 4)
    parts = evaluate(policy, problem, plan)
    assert [own.gaps for own in parts.gaps] == [own.gaps for own in whole.gaps]


def outcomes(objective: list[float], right: list[bool]) -> Outcomes:
    count = len(objective)
    blank = blank_outcomes(np.arange(count), np.zeros(count, int), np.full(count, 5), ())
    blank.objective[:] = objective
    blank.correct[:] = right
    return blank


def test_gaps_are_to_the_best_of_all_and_on_right_ends() -> None:
    best = Best(np.array([-2.0, np.nan, -4.0]), np.array([True, False, False]))
    players = {
        "a": outcomes([-3.0, -5.0, -4.0], [True, True, True]),
        "b": outcomes([-1.0, -4.0, -3.0], [False, True, True]),
    }
    [found] = gaps_by_size(players, best)
    assert found.best == pytest.approx(-3.0)  # of -2, -4 and -3: an end that is not right is none
    assert found.gaps["a"] == pytest.approx(100 * (4 - 3) / 3)
    assert found.gaps["b"] == pytest.approx(0.0)
    assert "best known (proven on 1 of 3 graphs) -3" in gaps_text(found)
    [all_of_them] = gaps_by_size(players, Best(best.objective, np.ones(3, np.bool_)))
    assert "optimum (proven)" in gaps_text(all_of_them)


def test_the_command_shows_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    untrained_run(tmp_path, "mvc")
    file = tmp_path / "a.json"
    asked = ["--search", "picks,beam:4", "--optimum", "--sizes", "6", "--graphs", "4"]
    assert main([str(tmp_path / "mvc"), *asked, "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "beam:4" in out
    assert "6 nodes, optimum (proven)" in out
    document = json.loads(file.read_text("utf-8"))
    assert [row["graphs"] for row in document["searches"]["beam:4"]] == [4]
    assert document["optimum"][0]["proven"] == 4
    assert main([str(tmp_path / "mvc"), "--search", "beam"]) == 2
    assert "expected beam:W" in capsys.readouterr().err


def test_without_an_objective_nothing_is_optimal() -> None:
    with pytest.raises(UsageError, match="bfs has no objective, which optimum compares"):
        evaluated("bfs", optimum=True)
