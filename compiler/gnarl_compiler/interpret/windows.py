"""A state in, what the network reads of it out: the nodes of its window, and its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.state import State
from gnarl_dsl import model
from gnarl_dsl.language.operators import nearly_equal
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import NODE, PAIR

Truths = NDArray[np.bool_]


def window_of(problem: Problem, state: State, legal: Truths) -> Truths:
    """Which nodes the network reads: what any `observe` shows; with none, all.

    Where none of the legal nodes would be among them, all of these are.
    """  # (n,)
    if not problem.windows:
        return np.ones(state.n, np.bool_)
    shown = np.zeros(state.n, np.bool_)
    for window in problem.windows:
        shown[_window(state, window)] = True
    return shown if (shown & legal).any() else shown | legal


def _window(state: State, window: model.Window) -> list[int]:
    read, where = Evaluator(state), window.where
    nodes = [{window.variable: v} for v in range(state.n)]
    chosen = [v for v, b in enumerate(nodes) if where is None or read.truth(where, b)]
    nearest = window.nearest
    if nearest is None:
        return chosen
    scores = {v: nearest.sign * read.number(nearest.value, nodes[v]) for v in chosen}
    return first_of(scores, state.episode.instance.tags.tolist(), nearest.count)


def first_of(scores: Mapping[int, float], tags: Sequence[int], count: int) -> list[int]:
    """The nodes with the least scores; each time, ties go to the lowest hidden rank."""
    left, chosen = dict(scores), list[int]()
    while left and len(chosen) < count:
        best = min(left.values())
        tied = [node for node, score in left.items() if nearly_equal(score, best)]
        chosen.append(min(tied, key=lambda node: tags[node]))
        del left[chosen[-1]]
    return chosen


def messages_of(problem: Problem, state: State, window: Truths) -> Truths:
    """From whom to whom messages run, between the nodes of a window.

    Every node sends one to itself, and whoever points to a node hears it and is heard.
    """  # (n, n) sender, receiver
    pairs = _pairs(problem, state, window) | np.eye(state.n, dtype=np.bool_)
    read = Evaluator(state)
    for feature in problem.features:
        if feature.observed and feature.points and feature.place is NODE:
            for node, other in enumerate(read.stored(feature.name)):
                pairs[node, int(other)] = pairs[int(other), node] = True
    return pairs & window[:, None] & window[None, :]


def _pairs(problem: Problem, state: State, window: Truths) -> Truths:
    """Along edges both ways; all pairs where pairs have features; or what `messages` says."""
    if problem.messages:
        return told_in(problem, state, window)
    if any(feature.observed and feature.place is PAIR for feature in problem.features):
        return np.ones((state.n, state.n), np.bool_)
    return state.adjacency | state.adjacency.T


def told_in(problem: Problem, state: State, window: Truths) -> Truths:
    """The pairs of nodes of a window that the lines of `messages` say."""
    pairs = np.zeros((state.n, state.n), np.bool_)  # sender, receiver
    for messages in problem.messages:
        _add_messages(state, messages, window, pairs)
    return pairs | pairs.T if problem.graph.directed else pairs  # who is told answers


def _add_messages(state: State, messages: model.Messages, window: Truths, pairs: Truths) -> None:
    """Each edge by itself; an undirected one is two. The first are those of the window."""
    read, where, nearest = Evaluator(state), messages.where, messages.nearest
    for receiver in np.flatnonzero(window).tolist():
        senders = np.flatnonzero(state.adjacency[:, receiver] & window).tolist()
        bound = {u: {messages.sender: u, messages.receiver: receiver} for u in senders}
        chosen = [u for u in senders if where is None or read.truth(where, bound[u])]
        if nearest is not None:
            scores = {u: nearest.sign * read.number(nearest.value, bound[u]) for u in chosen}
            chosen = first_of(scores, state.episode.instance.tags.tolist(), nearest.count)
        pairs[chosen, receiver] = True
