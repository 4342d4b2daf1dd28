"""A fixed sample of mutants: made deterministically, judged rightly, found by the check."""

from __future__ import annotations

import pytest
from behaviour import Budget, first_difference
from mutants import all_mutants, problem_of, read_lines, some_mutants
from mutation import BEGIN, END, put_between
from mutation_score import FOUND, Verdict, judge, score, table
from shipped_specs import SHIPPED, shipped


def test_mutants_check_and_mean_something_else() -> None:
    original = shipped("mvc").hash
    mutants = all_mutants("mvc")
    assert len(mutants) > 10
    assert len({mutant.problem.hash for mutant in mutants} | {original}) == len(mutants) + 1
    assert [m.describe() for m in mutants] == [m.describe() for m in all_mutants("mvc")]


def test_what_describes_a_problem_is_left_alone() -> None:
    text = 'gnarl 1\nproblem p\n  "x < y"\nparam a = 1\nhorizon n rounds  # n < 2\nmetric b = 1\n'
    assert [line.code for line in read_lines(text)] == ["horizon n rounds"]


@pytest.mark.long
def test_most_mutants_of_a_sample_are_found() -> None:
    """A guard against losing properties; the score itself is in docs/mutation.md.

    The same number from every spec, so also from variants that state hardly anything which could
    be held against them: the share is lower than the score.
    """
    mutants = [mutant for spec in SHIPPED for mutant in some_mutants(spec, 2, seed=7)]
    verdicts = [judge(mutant, lints=False) for mutant in mutants]
    assert score(verdicts, FOUND) >= 0.5, [v.described for v in verdicts if v.outcome == "survived"]
    assert all(verdict.by for verdict in verdicts if verdict.outcome != "same")


def test_a_mutant_that_does_the_same_is_told_apart() -> None:
    text = shipped("bfs").sources[0].text
    same = problem_of(text.replace("allow edge(u, v)", "allow edge(v, u)"))
    other = problem_of(text.replace("allow edge(u, v)", "allow edge(v, u) or u == v"))
    assert same is not None
    assert other is not None
    assert first_difference(shipped("bfs"), same) is None
    assert str(first_difference(shipped("bfs"), other)).startswith("mask")


def test_a_potential_that_is_shifted_by_a_constant_pays_the_same() -> None:
    """Up to rounding, which is no change of behaviour; one that counts double is one."""
    text = shipped("bellman_ford").sources[0].text
    shifted = problem_of(text.replace("dist[x] - min(found", "dist[s] - min(found"))
    doubled = problem_of(text.replace("dist[x] - min(found", "dist[x] - 2 * min(found"))
    assert shifted is not None
    assert doubled is not None
    few = Budget(sizes=((2, 4), (3, 6)), states=30, drawn=12, plays=1, picks=8)
    assert first_difference(shipped("bellman_ford"), shifted, few) is None
    assert str(first_difference(shipped("bellman_ford"), doubled, few)).startswith("reward gap")


def test_a_change_that_shows_on_more_than_four_nodes_is_seen() -> None:
    """A budget of n (n + 1) / 2 pairs instead of n (n - 1) / 2 is larger from six nodes on."""
    text = shipped("rgc").sources[0].text
    more = problem_of(text.replace("(n - 1)", "(n + 1)"))
    assert more is not None
    change = first_difference(shipped("rgc"), more, Budget(sizes=((4, 2),)))
    assert change is not None
    assert change.nodes == 6


def verdict(outcome: str) -> Verdict:
    return Verdict("bfs", "sign", "x", outcome, "", 2, 0.1)  # type: ignore[arg-type]


def test_the_score_leaves_out_what_does_the_same() -> None:
    outcomes = ("killed", "killed", "random", "lint", "survived", "same", "same")
    verdicts = [verdict(outcome) for outcome in outcomes]
    assert score(verdicts) == 0.4
    assert score(verdicts, FOUND) == 0.6
    last = list(table(verdicts, "spec"))[-1]
    assert last == "| **all** | 7 | 2 | 5 | 2 | 1 | 1 | 1 | 40 % | 60 % |"


def test_the_table_goes_between_its_markers(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "m.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    put_between(path, "new")
    assert path.read_text() == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
