"""Views of explored spaces in; out: states that a window makes look alike, though they are not.

What a network reads of a state is its pack. Where two states of an instance, in the same round,
have the same one, the same pick must earn the same, end the episode or not, and lead to states
that look alike again: then the window has lost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.emit.abi import Role
from gnarl_dsl.language.operators import ABSOLUTE, RELATIVE
from gnarl_dsl.model import Problem
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.checks.explore.board import Index
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.found import Found

_MOST = 20_000  # states of one space; beyond, nothing is said
_DIGITS = 5  # of derived features: sums in another order are the same
_OVER = -1  # how an episode that has ended looks


def claims_nothing_lost(problem: Problem) -> bool:
    """A window with a number leaves something out on purpose."""
    return bool(problem.windows) and all(window.nearest is None for window in problem.windows)


def check_window(view: View) -> Iterator[Found]:
    """States that look the same through the window go on in the same way."""
    space, problem = view.space, view.problem
    if not claims_nothing_lost(problem) or not 0 < len(space) <= _MOST:
        return
    look, shown = looks_of(space)
    led = np.flatnonzero(space.target >= 0)
    led = led[shown[space.source[led], space.picks[led]]]
    source, target, pick = space.source[led], space.target[led], space.picks[led]
    order = np.lexsort((source, pick, look[source]))
    source, target, pick = source[order], target[order], pick[order]
    if not len(source):
        return
    new = np.ones(len(source), np.bool_)
    new[1:] = (look[source[1:]] != look[source[:-1]]) | (pick[1:] != pick[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(source)), 0))
    paid = space.rewards[led][order]
    size = np.maximum(np.abs(paid), np.abs(paid[first]))
    pays = np.abs(paid - paid[first]) > np.maximum(RELATIVE * size, ABSOLUTE)
    differs = pays | (look[target] != look[target[first]])
    where = np.flatnonzero(differs)

    def what(position: int) -> str:
        at = int(where[position])
        other = int(source[first[at]])
        told = "what it earns" if pays[at] else "what comes next"
        picks = " ".join(map(str, space.picks_to(other))) or "none"
        return (
            "what `observe` leaves out matters: the state before the last pick looks the same "
            f"after the picks: {picks}; but {told} is not the same there; likely fix: observe "
            "more nodes"
        )

    yield Found("window-loses", source[where], what, problem.windows[0].span, last=pick[where])


def looks_of(space: Space) -> tuple[Index, NDArray[np.bool_]]:
    """A number for each state, the same where a network reads the same; what each window shows."""
    board, batch = space.board, space.board.work.batch
    look = np.full(len(space), _OVER)
    shown = np.ones((len(space), board.choices), np.bool_)  # no window hides that it may be ended
    known: dict[tuple[int, int, bytes], int] = {}
    states, rounds = np.flatnonzero(space.live), space.field("rounds")
    for start in range(0, len(states), board.room):
        own = states[start : start + board.room]
        _load(space, own)
        packed = pack(batch, np.arange(len(own)))
        table = np.zeros((len(own), board.nodes), np.bool_)
        packed.spread(np.ones(len(packed.graph), np.bool_), table)
        shown[own, : board.nodes] = table
        for number, seen in zip(own.tolist(), seen_in(packed), strict=True):
            key = int(space.instance[number]), int(rounds[number]), seen
            look[number] = known.setdefault(key, len(known))
    return look, shown


def _load(space: Space, states: Index) -> None:
    """Put states into slots with all that is packed of them."""
    board, count = space.board, len(states)
    work, instance = board.work, space.instance[states]
    for name in [*board.home.arrays]:
        if name not in board.changing and name not in board.scratch:
            work.arrays[name][:count] = board.home.arrays[name][instance]
    for column in board.columns:
        rows = space.rows[states][:, column.start : column.start + column.width]
        board.bytes_of(column.name)[:count] = rows
    board.run(Role.OBSERVE.of(), count, np.arange(count), np.zeros(count, np.int32))
    for name in (Role.WINDOW.of(), Role.MESSAGES.of(), Role.MESSAGES.of("reset")):
        if board.artifact.abi.has(name):
            board.run(name, count, np.arange(count))


def seen_in(packed: Packed) -> Iterator[bytes]:
    """What a network reads of each graph, as bytes."""
    for g in range(packed.graphs):
        first, end = packed.offsets[g], packed.offsets[g + 1]
        messages = slice(packed.rowptr[first], packed.rowptr[end])
        parts = (
            packed.nodes[first:end],
            packed.legal[first:end],
            np.round(packed.x[first:end], _DIGITS) + 0.0,
            packed.src[messages] - first,
            packed.dst[messages] - first,
            np.round(packed.edge_raw[messages], _DIGITS) + 0.0,
            np.round(packed.graph_raw[g], _DIGITS) + 0.0,
        )
        yield b"|".join(np.ascontiguousarray(part).tobytes() for part in parts)
