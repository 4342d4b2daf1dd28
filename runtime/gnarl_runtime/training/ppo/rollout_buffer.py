"""States and what was done in them go in, minibatches that the policy reads come out.

States are kept as slots of a Batch and packed anew for every minibatch. Measured on 256 graphs:
packing takes 1% of a forward and backward pass, and a slot a quarter (MVC, n = 16) to a fifth
(TSP, n = 20: 15 MB for 20 steps) of the bytes that its pack takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import BatchLayout
from gnarl_runtime.batch.pack import Packed, pack
from gnarl_runtime.batch.signature import Signature
from gnarl_runtime.training.ppo.advantages import Advantages, estimate_advantages


@dataclass(frozen=True, eq=False)
class Samples:
    """Some decisions of a rollout."""

    packed: Packed  # the states, a graph each
    picks: Tensor  # (samples,) the picks, numbered through the choices of the pack
    log_chances: Tensor  # (samples,) of the picks when they were made
    advantages: Tensor  # (samples,)
    returns: Tensor  # (samples,)
    wanted: bool = True  # false: a stand-in, where all of a minibatch are others' graphs

    @property
    def count(self) -> int:
        return self.packed.graphs


class RolloutBuffer:
    """`steps` decisions of each of the graphs of a layout; step t of graph g is t * graphs + g."""

    def __init__(self, layout: BatchLayout, steps: int) -> None:
        shape = steps, layout.slots
        self.states = Batch.allocate(replace(layout, slots=steps * layout.slots))
        self.actions = np.zeros(shape, np.int64)  # (steps, graphs) numbered within the graph
        self.log_chances = np.zeros(shape, np.float32)  # (steps, graphs)
        self.values = np.zeros(shape)  # (steps, graphs)
        self.next_values = np.zeros(shape)  # (steps, graphs) before any restart
        self.rewards = np.zeros(shape)  # (steps, graphs)
        self.done = np.zeros(shape, np.bool_)  # (steps, graphs)
        self.terminated = np.zeros(shape, np.bool_)  # (steps, graphs)

    def __len__(self) -> int:
        return self.actions.size

    def store_states(self, step: int, batch: Batch) -> None:
        """Copy all slots of the environment, in which picks are about to be made."""
        graphs = batch.layout.slots
        rows = slice(step * graphs, (step + 1) * graphs)
        for spec in batch.layout.core():
            getattr(self.states, spec.name)[rows] = getattr(batch, spec.name)
        for name, values in batch.features.items():
            self.states.features[name][rows] = values

    def advantages(self, gamma: float, lam: float) -> Advantages:
        """Of all decisions, once every row is filled."""
        return estimate_advantages(
            self.rewards,
            self.values,
            self.next_values,
            self.done,
            self.terminated,
            gamma,
            lam,
        )

    def samples(
        self,
        chosen: NDArray[np.int64],
        estimates: Advantages,
        signature: Signature | None = None,
    ) -> Samples:
        """The decisions with these numbers, as a network of that signature reads them."""
        packed = pack(self.states, chosen, signature)
        return Samples(
            packed,
            torch.from_numpy(packed.places(self.actions.reshape(-1)[chosen])),
            torch.from_numpy(self.log_chances.reshape(-1)[chosen]),
            _rows(estimates.advantages, chosen),
            _rows(estimates.returns, chosen),
        )


def _rows(values: NDArray[np.float64], chosen: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(values.reshape(-1)[chosen].astype(np.float32))
