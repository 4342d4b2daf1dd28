"""Specs of 0.1 still mean what they meant: to the front end, the interpreter and the kernels."""

from __future__ import annotations

import json
from typing import Any

import answers
import pytest
from old_files import OLD, ask_plainly, cases, differences, recorded

REFUSALS = json.loads((OLD / "refusals.json").read_text("utf-8"))


@pytest.mark.parametrize(("asked", "answer"), cases("problems"))
def test_a_spec_is_checked_to_the_same_problem(asked: dict[str, Any], answer: Any) -> None:
    """Checkpoints carry the hash of their problem: if it moved, none would fit its spec."""
    assert differences(answer, answers.problem(**asked)) == []


@pytest.mark.parametrize(("asked", "answer"), cases("traces"))
def test_a_seed_gives_the_same_episode(asked: dict[str, Any], answer: Any) -> None:
    assert differences(answer, answers.trace(**asked)) == []


@pytest.mark.parametrize(("asked", "answer"), cases("interpreted"))
def test_the_interpreter_plays_the_same(asked: dict[str, Any], answer: Any) -> None:
    assert differences(answer, answers.interpreted(**asked)) == []


def test_the_kernels_play_the_same() -> None:
    known = recorded("compiled")
    found = ask_plainly([("compiled", asked) for asked, _ in known])
    for (asked, answer), now in zip(known, found, strict=True):
        assert (asked, differences(answer, now)) == (asked, [])


def test_interpreter_and_kernels_agreed() -> None:
    """The records themselves: all that both tell is equal."""
    for (asked, left), (same, right) in zip(
        recorded("interpreted"), recorded("compiled"), strict=True
    ):
        assert asked == same
        told = {name: left[name] for name in ("masks", "picks", "rewards", "ended")}
        assert differences(told, right) == []


@pytest.mark.parametrize(("asked", "answer"), cases("refused"))
def test_a_spec_plays_the_same_or_is_refused_with_a_way_out(
    asked: dict[str, Any], answer: Any
) -> None:
    refusal = REFUSALS[asked["spec"]]
    found = answers.mistakes(asked["spec"])
    if not found:
        assert differences(answer, answers.trace(**asked)) == []
        return
    assert len(found) == 1, "one mistake, one message"
    told = f"{found[0]['message']} {found[0]['fix']}"
    assert [word for word in refusal["names"] if word not in told] == []
    assert any(word in told for word in refusal["remedies"]), told
