"""An explored space goes in, what its states are worth comes out: judged, won, played by experts.

Whether a state can still be won is decided backwards, layer by layer. Where exploration was
bounded, three answers are possible: yes, no, and undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl.model import Expert, GreedyExpert, Problem
from gnarl_runtime.checks.explore.board import Board, Index, Rows
from gnarl_runtime.checks.explore.space import Space, ask_expert

Truths = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Verdict:
    """Per state: certainly so, and possibly so."""

    yes: Truths
    maybe: Truths

    @property
    def undecided(self) -> Truths:
        return self.maybe & ~self.yes


class View:
    """A space and, computed when asked for, everything that properties are about."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._experts: dict[str, ExpertView] = {}

    @property
    def problem(self) -> Problem:
        return self.space.problem

    def _judged(self, clause: Literal["correct", "valid"]) -> Truths:
        kernel = Role.JUDGE.of(clause)
        if not self.space.has(kernel):
            return np.ones(len(self.space), np.bool_)
        return np.asarray(self.space.value(kernel) != 0)

    @cached_property
    def correct(self) -> Truths:
        """`correct` in every state; true if there is no such clause."""
        return self._judged("correct")

    @cached_property
    def valid(self) -> Truths:
        return self._judged("valid")

    @cached_property
    def good(self) -> Truths:
        """What an end should be: correct and valid."""
        return self.correct & self.valid

    @cached_property
    def starting(self) -> Truths:
        """At the start of a round."""
        return self.space.board.opening(self.space.rows)

    @cached_property
    def win(self) -> Verdict:
        """Whether some legal play ends well."""
        over = (self.space.ended != RUNNING) & self.good
        open_end = self.space.live & ~self.space.expanded
        return Verdict(self._some(over), self._some(over | open_end))

    def _some(self, ends: Truths) -> Truths:
        """States from which some pick leads on to these."""
        result = ends.copy()
        for own, source, target, _ in self.space.backwards():
            reached = (target >= 0) & result[target]
            count = np.bincount(source[reached], minlength=own.stop - own.start)
            result[own] |= count > 0
        return result

    def expert(self, name: str) -> ExpertView:
        if name not in self._experts:
            self._experts[name] = ExpertView(self, self.problem.expert(name))
        return self._experts[name]

    def close(self) -> None:
        """Let go of what refers back to this view, so that its arrays are freed at once."""
        self._experts.clear()


class ExpertView:
    """What one expert does in every state of a space, and where its play ends."""

    def __init__(self, view: View, expert: Expert) -> None:
        self.view, self.expert = view, expert

    @cached_property
    def distribution(self) -> NDArray[np.float64]:
        return self.view.space.expert(self.expert.name)

    @cached_property
    def support(self) -> Truths:
        """(states, choices) what the expert may pick."""
        return self.distribution > 0

    @cached_property
    def labelled(self) -> Truths:
        return np.asarray(self.support.any(axis=1))

    @property
    def greedy(self) -> bool:
        return isinstance(self.expert, GreedyExpert)

    @cached_property
    def good(self) -> Truths:
        """What can be asked of its ends: of a greedy expert only that they are valid."""
        return self.view.valid if self.greedy else self.view.good

    @cached_property
    def done(self) -> Truths:
        """Nothing to say at the start of a round, and nothing left to do."""
        return self.view.space.live & ~self.labelled & self.view.starting & self.good

    @cached_property
    def outcome(self) -> Verdict:
        """Whether its play ends well whichever of its picks it makes."""
        space = self.view.space
        over = ((space.ended != RUNNING) & self.good) | self.done
        unknown = space.live & ~space.expanded & self.labelled
        return Verdict(self._all(over, unknown, False), self._all(over, unknown, True))

    def _all(self, ends: Truths, unknown: Truths, hope: bool) -> Truths:
        space = self.view.space
        result = ends | (unknown & hope)
        followed = self.support[space.source, space.picks]
        for own, source, target, edges in space.backwards():
            wanted = followed[edges]
            bad = wanted & ((target < 0) | ~result[target])
            size = own.stop - own.start
            some = np.bincount(source[wanted], minlength=size) > 0
            lost = np.bincount(source[bad], minlength=size) > 0
            result[own] |= some & ~lost
        return result


def follow_expert(name: str, board: Board, rows: Rows, instance: Index) -> Truths:
    """The picks of an expert, for an exploration of its own play."""
    wanted = np.zeros((len(rows), board.choices), np.bool_)
    for start in range(0, len(rows), board.room):
        part = slice(start, start + board.room)
        board.load(rows[part], instance[part], Role.EXPERT.of(name))
        wanted[part] = ask_expert(board, name, len(rows[part])) > 0
    return wanted
