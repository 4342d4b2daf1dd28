"""Paired differences: signs, intervals, and ends that do not count."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnarl_runtime.evaluation.comparisons import behind_text, compare_by_size, runs_text
from gnarl_runtime.evaluation.paired import judged, paired
from gnarl_runtime.search.outcomes import Outcomes, blank_outcomes

values = st.lists(st.floats(-100, 100), min_size=2, max_size=9)


def ends(objective: list[float], right: list[bool] | None = None, samples: int = 1) -> Outcomes:
    """Episodes on graphs of 5 nodes, `samples` on each."""
    count = len(objective)
    instance, sample = np.divmod(np.arange(count), samples)
    blank = blank_outcomes(instance, sample, np.full(count, 5), ())
    good = np.array(right or [True] * count)
    return replace(blank, objective=np.array(objective, float), correct=good, valid=good)


@given(values, st.data())
def test_who_is_compared_with_whom_only_turns_the_sign(
    own: list[float], data: st.DataObject
) -> None:
    other = data.draw(st.lists(st.floats(-100, 100), min_size=len(own), max_size=len(own)))
    found, turned = paired(np.array(own), np.array(other)), paired(np.array(other), np.array(own))
    assert (found.mean, found.low, found.high) == pytest.approx(
        (-turned.mean, -turned.high, -turned.low)
    )
    assert found.low <= found.mean <= found.high
    assert paired(np.array(own), np.array(own)).standing == "level"


def test_what_all_graphs_have_in_common_does_not_widen_the_interval() -> None:
    hard = np.array([0.0, 1000.0, -500.0, 20.0])
    found = paired(hard + np.array([1.0, 1.1, 0.9, 1.0]), hard)
    assert (found.standing, round(found.mean, 6)) == ("ahead", 1.0)
    assert found.high - found.low < 0.3


def test_one_graph_tells_nothing() -> None:
    found = paired(np.array([3.0]), np.array([1.0]))
    assert (found.mean, found.low, found.standing) == (2.0, -math.inf, "level")


def test_an_end_that_is_not_right_is_worse_than_the_worst_of_both() -> None:
    own, other = judged([ends([9, -2], [False, True]), ends([-7, -3])], True)
    assert own.tolist() == [-8, -2]
    assert other.tolist() == [-7, -3]


def test_without_an_objective_right_answers_are_counted_over_attempts() -> None:
    (own,) = judged([ends([0, 0, 0, 0], [True, False, True, True], samples=2)], False)
    assert own.tolist() == [0.5, 1.0]


def test_sentences() -> None:
    players = {"a": ends([-3.0, -4.0, -5.0]), "b": ends([-1.0, -2.1, -3.0])}
    first, second = compare_by_size(players, [("a", "b"), ("b", "a")], "cost")
    assert runs_text(first).startswith("5 nodes, a minus b: cost -1.967 per graph, 95 % interval ")
    assert runs_text(first).endswith(": b is better")
    assert (behind_text(first) or "").startswith("a is behind `b`: cost -1.967 per graph")
    assert behind_text(second) is None
    assert first.document()["first_is"] == "behind"
