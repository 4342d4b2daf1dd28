"""Explored spaces go in, masks that say which nodes are done for good come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import DERIVED, MASK, NODE, STATE
from gnarl_runtime.checks.explore.space import Space

_MOST = 20_000  # states of one space; in a larger one, nothing is said
LEAST = 0.2  # share of the nodes of all states that are done: a window must be worth its line


def finished_masks(problem: Problem, spaces: Sequence[Space]) -> Iterator[tuple[Feature, float]]:
    """Masks whose nodes are never legal again, and the share of nodes that have one."""
    if any(len(space) > _MOST for space in spaces):
        return
    for feature in problem.features:
        if (
            feature.stage in (STATE, DERIVED)
            and feature.place is NODE
            and feature.type is MASK
            and (share := _share(feature, spaces)) >= LEAST
        ):
            yield feature, share


def _share(feature: Feature, spaces: Sequence[Space]) -> float:
    """How many of the nodes are done, in states where picks are made; 0 if one is legal again."""
    done = nodes = 0
    for space in spaces:
        if not len(space):
            continue
        seen, _ = space.observe((feature.name,), np.arange(len(space)))
        mask = np.asarray(seen[feature.name], np.bool_) & _there(space)
        nodes_legal = space.legal[:, : space.board.nodes]  # without the choice of an end
        if (mask & nodes_legal).any() or _undone(space, mask):
            return 0.0
        done += int(mask[space.live].sum())
        nodes += int(_there(space)[space.live].sum())
    return done / max(nodes, 1)


def _there(space: Space) -> NDArray[np.bool_]:
    """Which cells of nodes are in use."""  # (states, N)
    sizes = space.board.home.batch.n[space.instance]
    return np.asarray(np.arange(space.board.nodes) < sizes[:, None])


def _undone(space: Space, mask: NDArray[np.bool_]) -> bool:
    """Whether some pick takes a mask away."""
    led = space.target >= 0
    return bool((mask[space.source[led]] & ~mask[space.target[led]]).any())
