"""One problem instance: a graph, its input features, and the hidden ranks of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.graph import Graph
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE

Array = NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class Instance:
    """Inputs by name: node (n,), edge and pair (n, n), graph (); a mask_one is its node.

    A point is a complex number x + i y.

    `tags` are hidden random labels, one per node, that travel with the nodes when they
    are relabelled: whatever must break a tie or draw an order reads them, never an index.
    `oracles` holds labels that came with the instance; missing ones are computed.
    `plans` holds what was found for experts that are made for each instance, by their names: the
    picks (steps,) of an episode for `search`, the number () of a member for `best of`.
    Numbers are rounded to float32 and kept as float64, so that sums of them rarely round.
    """

    graph: Graph
    inputs: Mapping[str, Array]
    tags: NDArray[np.uint64]  # (nodes,)
    oracles: Mapping[str, Array] = field(default_factory=dict)
    plans: Mapping[str, NDArray[np.int64]] = field(default_factory=dict, kw_only=True)

    def __post_init__(self) -> None:
        rounded = {name: _single(np.asarray(value)) for name, value in self.inputs.items()}
        object.__setattr__(self, "inputs", rounded)

    def relabel(self, problem: Problem, permutation: NDArray[np.int64]) -> Instance:
        """The same instance with old node v renamed to permutation[v]."""
        joined = self.graph.adjacency
        inputs = relabel_features(problem, self.inputs, permutation, joined)
        oracles = relabel_features(problem, self.oracles, permutation, joined)
        old = np.argsort(permutation)
        plans = {k: permutation[plan] if plan.ndim else plan for k, plan in self.plans.items()}
        graph, tags = self.graph.relabel(permutation), self.tags[old]
        return Instance(graph, inputs, tags, oracles, plans=plans)


def _single(values: Array) -> Array:
    if np.issubdtype(values.dtype, np.complexfloating):
        return values.astype(np.complex64).astype(np.complex128)
    if not np.issubdtype(values.dtype, np.floating):
        return values
    return values.astype(np.float32).astype(np.float64)


def relabel_features(
    problem: Problem,
    values: Mapping[str, Array],
    permutation: NDArray[np.int64],
    joined: NDArray[np.bool_],
) -> dict[str, Array]:
    """Every named feature's values after renaming the nodes."""
    return {
        name: relabel_values(problem.feature(name), value, permutation, joined)
        for name, value in values.items()
    }


def relabel_values(
    feature: Feature, value: Array, permutation: NDArray[np.int64], joined: NDArray[np.bool_]
) -> Array:
    """One feature's values after renaming the nodes, its own and those it points to.

    `joined` are the edges before that: off them a pointer is 0, which is no node.
    """
    old = np.argsort(permutation)
    moved = value[np.ix_(*[old] * feature.width)] if feature.width else value
    if not feature.type.names_nodes:
        return moved
    renamed = np.asarray(permutation[moved])
    if feature.place is EDGE:
        return np.where(joined[np.ix_(old, old)], renamed, 0)
    return renamed
