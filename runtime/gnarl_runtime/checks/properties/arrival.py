"""A view and an expert go in, from which states its play does not arrive comes out.

An expert that is asked for advice after somebody else's mistakes should lead somewhere. In a state
that can still be won its play ends well in the time that is left, or else, since time lost before
is not its fault, it gets the whole horizon again, and no limit. Then its play must arrive where
the episode is over, or where the expert has nothing more to say and all is well. Circles, silence
and detours longer than the horizon do not arrive.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_compiler.support.endings import RUNNING
from gnarl_runtime.checks.explore.board import Board, Index, Rows
from gnarl_runtime.checks.explore.explore import distinct
from gnarl_runtime.checks.explore.worths import ExpertView, Truths, View, follow_expert
from gnarl_runtime.checks.properties.expert_properties import rule_span
from gnarl_runtime.checks.properties.found import Found

NEVER = np.iinfo(np.int64).max
_MOST = 400_000  # states of all plays together; beyond, nothing is held against an expert
_TIME = ("rounds", "potential")  # what no expert can read


def check_arrival(view: View, name: str) -> Iterator[Found]:
    """In all states that can still be won: the expert's play arrives within the horizon."""
    space, problem, play = view.space, view.problem, view.expert(name)
    asked = np.flatnonzero(space.live & view.win.yes & play.labelled & ~play.outcome.maybe)
    if not len(asked):
        return
    board, phases = timeless(space.board), space.field("phase")[asked]
    left = space.board.home.batch.horizon[space.instance[asked]] * len(problem.phases) - phases
    plays = Plays(board, play, space.rows[asked], space.instance[asked])
    if not plays.follow(int(left.max()) + 1):
        return
    late = plays.needed() > left
    for number, phase in enumerate(problem.phases):
        what = (
            f"the expert `{name}`, asked in phase `{phase.name}` of a state that can still be won, "
            "does not arrive: with the whole horizon before it again, its play neither ends the "
            "episode nor finds an answer"
        )
        span = rule_span(problem, play.expert, number)
        yield Found("expert-lost", asked[late & (phases == number)], what, span, name)


def timeless(board: Board) -> Board:
    """The same instances and labels with episodes that end only for reasons other than time."""
    other = Board(board.problem, board.solved(), board.artifact)
    other.home.batch.horizon[:] = np.inf
    other.home.batch.limit[:] = np.inf
    return other


class Plays:
    """All plays of one expert from some states on; a state is the same whenever it is met."""

    def __init__(self, board: Board, expert: ExpertView, rows: Rows, instance: Index) -> None:
        self.board, self.expert = board, expert
        self.rows, self.instance = self._undated(rows), instance
        self.first = self._merge()  # (states given,) which of the rows each is
        self.arrived = np.zeros(0, np.bool_)
        self.sources: list[Index] = []
        self.targets: list[Index] = []

    def follow(self, most: int) -> bool:
        """Follow all plays for so many picks; False if there are too many of them."""
        new = np.arange(len(self.rows))
        for _ in range(most):
            new = self._advance(new)
            if not len(new) or len(self.rows) > _MOST:
                break
        return len(self.rows) <= _MOST

    def needed(self) -> Index:
        """How many picks the longest play from each state given takes; NEVER if one goes on."""
        beyond = np.zeros(len(self.rows) - len(self.arrived), np.bool_)
        ends = np.concatenate([self.arrived, beyond])
        return longest(_joined(self.sources), _joined(self.targets), ends)[self.first]

    def _advance(self, new: Index) -> Index:
        """One pick from each of the newest states; the states that had not been met before."""
        wanted = self._wanted(self.rows[new], self.instance[new])
        here, picks = np.nonzero(wanted)
        if not len(here):
            return here
        source, known = new[here], len(self.rows)
        stepped = self.board.step(self.rows[source], self.instance[source], picks)
        failed = stepped.fault > 0
        after = np.where(failed[:, None], self.rows[source], self._undated(stepped.rows))
        self.rows = np.concatenate([self.rows, after])
        self.instance = np.concatenate([self.instance, self.instance[source]])
        places = self._merge()
        self.sources.append(source)
        self.targets.append(np.where(failed, -1, places[known:]))
        return np.arange(known, len(self.rows))

    def _merge(self) -> Index:
        """Keep equal states once, in the order of their first; which one each has become."""
        first, places = distinct(self.rows[:, : self.board.key_width], self.instance)
        self.rows, self.instance = self.rows[first], self.instance[first]
        return places

    def _undated(self, rows: Rows) -> Rows:
        """States without what tells how late it is."""
        rows = rows.copy()
        for column in self.board.columns:
            if column.name in _TIME:
                rows[:, column.start : column.start + column.width] = 0
        return rows

    def _wanted(self, rows: Rows, instance: Index) -> Truths:
        """The expert's picks in the newest states; which of these have arrived is noted."""
        board = self.board
        over = board.field(rows, "ended") != RUNNING
        wanted = follow_expert(self.expert.expert.name, board, rows, instance)
        wanted &= board.field(rows, "legal") & ~over[:, None]
        done = ~wanted.any(axis=1) & board.opening(rows)
        arrived = over | (done & self._good(rows, instance))
        self.arrived = np.concatenate([self.arrived, arrived])
        return wanted

    def _good(self, rows: Rows, instance: Index) -> Truths:
        clauses = ["valid"] if self.expert.greedy else ["valid", "correct"]
        kernels = [Role.JUDGE.of(clause) for clause in clauses]
        good = np.ones(len(rows), np.bool_)
        for kernel in filter(self.board.artifact.abi.has, kernels):
            good &= self.board.value(kernel, rows, instance) != 0
        return good


def longest(source: Index, target: Index, ends: Truths) -> Index:
    """Per state: picks of the longest play that is sure to arrive; NEVER if one does not."""
    size = len(ends)
    needed = np.where(ends, 0, NEVER)
    picks = np.bincount(source, minlength=size)
    while True:
        sure = (target >= 0) & (needed[target] < NEVER)
        ready = (needed == NEVER) & (picks > 0)
        ready &= np.bincount(source[sure], minlength=size) == picks
        if not ready.any():
            return needed
        most = np.zeros(size, np.int64)
        np.maximum.at(most, source[sure], needed[target[sure]])
        needed[ready] = most[ready] + 1


def _joined(parts: list[Index]) -> NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
