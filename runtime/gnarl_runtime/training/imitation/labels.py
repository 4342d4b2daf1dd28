"""An expert's distributions as the engine pads them, in the order of a pack or as picks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.support.jit import njit
from gnarl_runtime.batch.pack import Packed


def label_rows(labels: NDArray[np.float64], packed: Packed) -> NDArray[np.float32]:
    """Padded distributions (graphs, N) as one row (choices,) in the order of the pack.

    What an expert would pick outside of a window is left out.
    """
    row: NDArray[np.float32] = packed.of_choices(labels).astype("f4")
    if packed.node is None:
        return row
    total = np.bincount(packed.choice_graph, row, packed.graphs).astype("f4")  # (graphs,)
    row /= np.where(total > 0, total, 1)[packed.choice_graph]
    return row


def count_outside(labels: NDArray[np.float64], packed: Packed) -> int:
    """In how many graphs the expert would pick only nodes that the network does not read."""
    inside = np.bincount(packed.choice_graph, packed.of_choices(labels), packed.graphs) > 0
    return int((labels.any(axis=1) & ~inside).sum())


def draw_labelled(
    labels: NDArray[np.float64], legal: NDArray[np.bool_], uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """A pick of each graph drawn from its label; without a label, from what is legal."""
    picks = np.zeros(len(labels), np.int64)  # (graphs,)
    _draw(labels, legal, uniform, picks)
    return picks


@njit
def _draw(labels, legal, uniform, picks):  # type: ignore[no-untyped-def]
    for b in range(len(picks)):
        chosen = labels[b] > 0
        if not chosen.any():
            chosen = legal[b]
        # Experts weigh their nodes equally, so a node is a matter of counting.
        wanted = int(uniform[b] * np.count_nonzero(chosen))
        for node in range(len(chosen)):
            if chosen[node]:
                picks[b] = node
                if wanted == 0:
                    break
                wanted -= 1
