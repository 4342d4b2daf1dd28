"""Explored spaces go in, parts of a spec without which everything would be the same come out.

A part is an assignment that every pick makes, or one operand of an `and` or `or` at the top of
`correct`. (Assignments under an `if` may be there for rare cases; lints look at those.)
Each is left out in turn and the same states are played on: what then never makes a difference is
a slip of the pen, or a line that its author believes to matter and that does not.

Two kinds are worth a note only, since the spec is right with them: an operand that does say
something, which the others imply, and one of several equal lines, which unroll a loop that larger
graphs need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.build.artifact import Artifact
from gnarl_compiler.emit.abi import Role
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.support.endings import RUNNING
from gnarl_dsl import model
from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.explore.artifacts import artifact_of
from gnarl_runtime.checks.explore.board import Board, Index, Rows
from gnarl_runtime.checks.explore.explore import explore
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import follow_expert
from gnarl_runtime.checks.findings.findings import Failure, Lint
from gnarl_runtime.checks.sample.sample_instances import sample_instances

ENOUGH = 30  # states in which a part must have had a chance to matter
_LOOKED_AT = 20_000  # states of one space
_LARGER, _NODES, _PLAYS = 40, 8, 4  # random instances, their nodes, plays of each


@dataclass(eq=False)
class Part:
    """A place in a spec, and the spec without it; `phase` is None for a part of `correct`.

    `alone` is then the spec with nothing else of `correct`. `again`: the same line stands in the
    update once more.
    """

    span: Span
    without: Problem
    phase: int | None
    alone: Problem | None = None
    again: bool = False
    says_something: bool = False  # an operand that is not what it would be to no effect
    looked_at: int = 0  # states; some of them are remembered as witnesses
    seen: list[tuple[Instance, tuple[int, ...]]] = field(default_factory=list)

    @cached_property
    def artifact(self) -> Artifact:
        return artifact_of(self.without, jit=False)


def parts_of(problem: Problem) -> Iterator[Part]:
    """Every assignment that does not hang on a condition, and the operands of `correct`."""
    for number, phase in enumerate(problem.phases):
        lines = list(_lines(problem, phase.update))
        for (span, update), line in zip(shortened(phase.update), lines, strict=True):
            phases = list(problem.phases)
            phases[number] = phase.model_copy(update={"update": update})
            without = problem.model_copy(update={"phases": tuple(phases)})
            yield Part(span, without, number, again=lines.count(line) > 1)
    whole = problem.correct
    if isinstance(whole, model.Logic):
        for number, operand in enumerate(whole.args):
            if isinstance(operand, model.ClauseRef):
                continue  # `correct valid and …` says that the one implies the other
            left = whole.args[:number] + whole.args[number + 1 :]
            rest = left[0] if len(left) == 1 else whole.model_copy(update={"args": left})
            without = problem.model_copy(update={"correct": rest})
            alone = problem.model_copy(update={"correct": operand})
            yield Part(operand.span, without, None, alone)


def shortened(
    statements: tuple[model.Statement, ...],
) -> Iterator[tuple[Span, tuple[model.Statement, ...]]]:
    """The statements with one assignment left out, and where it stands."""
    for number, statement in enumerate(statements):
        before, after = statements[:number], statements[number + 1 :]
        if isinstance(statement, model.Assign | model.SetEdge):
            yield statement.span, (*before, *after)
        if isinstance(statement, model.ForEach) and statement.where is None:
            for span, body in shortened(statement.body):
                yield span, (*before, statement.model_copy(update={"body": body}), *after)


def _lines(problem: Problem, statements: tuple[model.Statement, ...]) -> Iterator[tuple[str, ...]]:
    """The words of each of these assignments, with those of the loop around it."""
    for statement in statements:
        text = problem.text_of(statement.span)
        if isinstance(statement, model.Assign | model.SetEdge):
            yield (text,)
        if isinstance(statement, model.ForEach) and statement.where is None:
            yield from ((text, *line) for line in _lines(problem, statement.body))


class IdleParts:
    """The parts of a spec that have made no difference so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.waiting = list(parts_of(problem))

    def add(self, space: Space) -> None:
        """Look at some more states; parts that matter in one of them are done with."""
        if len(space):
            self.waiting = [part for part in self.waiting if not matters(part, space)]

    def failures(self) -> Iterator[Failure]:
        """One failure for each part that had its chances."""
        for part in self._idle():
            if not part.again and not part.says_something:
                instance, picks = min(part.seen, key=_size)
                what = f"{self._named(part)} in any of {part.looked_at:,} states"
                yield Failure("idle", what, instance, picks, part.span, None, part.looked_at)

    def notes(self) -> Iterator[Lint]:
        """Those that the spec is right to have."""
        for part in self._idle():
            if part.again or part.says_something:
                why = "the rest implies it" if part.phase is None else "it stands there again"
                what = f"{self._named(part)} in any of {part.looked_at:,} states; {why}"
                yield Lint("idle", what, {"states": part.looked_at}, part.span)

    def _idle(self) -> Iterator[Part]:
        return (part for part in self.waiting if part.looked_at >= ENOUGH)

    def _named(self, part: Part) -> str:
        text = self.problem.text_of(part.span)
        if part.phase is None:
            return f"`correct` would be the same without `{text}`"
        return f"the update `{text}` changes nothing"


def _size(seen: tuple[Instance, tuple[int, ...]]) -> tuple[bool, int, int, int]:
    """Small instances first; but one of a single node shows nothing."""
    graph, picks = seen[0].graph, seen[1]
    return graph.n == 1, graph.n, graph.m, len(picks)


def matters(part: Part, space: Space) -> bool:
    """Whether leaving the part out makes a difference; if not, its chances are remembered."""
    board = Board(part.without, space.board.solved(), part.artifact)
    if not {c.name for c in board.columns} <= {c.name for c in space.board.columns}:
        return True  # its kernels keep a table that these states lack: they cannot tell
    if part.phase is None:
        return _decides(part, space, board)
    chances = np.flatnonzero(
        (space.field("phase")[space.source] == part.phase) & (space.target >= 0)
    )
    chances = chances[:: 1 + len(chances) // _LOOKED_AT]
    if not len(chances):
        return False
    source, picks = space.source[chances], space.picks[chances]
    other = board.step(translated(space, board, source), space.instance[source], picks)
    mine = space.rows[space.target[chances]]
    differs = other.fault > 0
    for name in state_arrays(space.board):
        both = space.board.field(mine, name), board.field(other.rows, name)
        differs |= (both[0] != both[1]).reshape(len(mine), -1).any(axis=1)
    part.looked_at += len(chances)
    for state, pick in zip(source[: 2 * ENOUGH], picks, strict=False):
        _remember(part, space, int(state), (int(pick),))
    return bool(differs.any())


def _decides(part: Part, space: Space, board: Board) -> bool:
    """Whether `correct` has another value without the part, where it is asked for.

    That is at the ends of episodes, and in every round if the spec itself refers to it.
    """
    asked = space.ended != RUNNING
    if refers_to_correct((space.problem.terminate, space.problem.rewards)):
        asked = asked | space.board.opening(space.rows)
    states = np.flatnonzero(asked)
    states = states[:: 1 + len(states) // _LOOKED_AT]
    rows = translated(space, board, states)
    other = board.value(Role.JUDGE.of("correct"), rows, space.instance[states])
    part.looked_at += len(states)
    part.says_something |= _says_something(part, space, states)
    for state in states[: 2 * ENOUGH]:
        _remember(part, space, int(state), ())
    return bool((other != space.value(Role.JUDGE.of("correct"), states)).any())


def _says_something(part: Part, space: Space, states: Index) -> bool:
    """Whether an operand is false somewhere, which tells in an `and`; in an `or`, true."""
    whole = space.problem.correct
    if part.alone is None or not isinstance(whole, model.Logic):
        return False
    artifact = artifact_of(part.alone, jit=False)
    board = Board(part.alone, space.board.solved(), artifact)
    if not {c.name for c in board.columns} <= {c.name for c in space.board.columns}:
        return False
    rows = translated(space, board, states)
    values = board.value(Role.JUDGE.of("correct"), rows, space.instance[states])
    return bool(((values != 0) != (whole.op == "and")).any())


def refers_to_correct(node: object) -> bool:
    """Whether a formula asks before the end: a reward at the end does not."""
    match node:
        case model.ClauseRef(clause="correct"):
            return True
        case model.Reward(kind="terminal"):
            return False
        case model.Model():
            return any(refers_to_correct(value) for value in vars(node).values())
        case tuple():
            return any(refers_to_correct(value) for value in node)
        case _:
            return False


def _remember(part: Part, space: Space, state: int, last: tuple[int, ...]) -> None:
    instance = space.board.instances[int(space.instance[state])]
    picks = map(space.board.as_picked, last)
    part.seen.append((instance, (*space.picks_to(state), *picks)))


def state_arrays(board: Board) -> tuple[str, ...]:
    """The arrays of a batch that updates write."""
    own = board.artifact.abi.state_arrays
    return (*own, "adjacency") if board.problem.graph.mutable else own


def translated(space: Space, board: Board, states: Index) -> Rows:
    """Rows of states for the board of a shorter spec, which may keep fewer tables."""
    rows = space.rows[states]
    kept = {column.name: column for column in space.board.columns}
    parts = [kept[column.name] for column in board.columns]
    return np.concatenate([rows[:, c.start : c.start + c.width] for c in parts], axis=1)


def wander(problem: Problem, seed: int) -> Space:
    """Plays on larger random instances: some follow an expert, some nobody."""
    rng = stream(seed, "check idle")
    examples = sample_instances(problem, _LARGER, _NODES, seed)
    instances = [example.instance for example in examples for _ in range(_PLAYS)]
    followed = rng.random(len(instances)) < 0.5

    def choose(board: Board, rows: Rows, instance: Index) -> NDArray[np.bool_]:
        allowed = np.asarray(board.field(rows, "legal"))
        if problem.experts:
            advice = follow_expert(problem.experts[0].name, board, rows, instance)
            obeys = followed[instance][:, None] & advice.any(axis=1, keepdims=True)
            allowed = np.where(obeys, advice, allowed)
        lot = np.where(allowed, rng.random(allowed.shape), -1.0)
        return np.asarray(allowed & (lot == lot.max(axis=1, keepdims=True)))

    return explore(problem, instances, choose=choose)
