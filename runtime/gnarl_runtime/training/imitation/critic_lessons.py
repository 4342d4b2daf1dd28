"""States that imitation passes through in, lessons for the critic out, so that PPO can start warm.

The critic learns what the next state is worth plus what was paid on the way (TD(0), gamma 1).
Only its own weights do: it reads the embeddings as imitation leaves them, and changes none.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gnarl_compiler.support.endings import RUNNING
from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.network.policy import Output, Policy


class CriticLessons:
    """What was seen in the latest step of every graph."""

    def __init__(self, graphs: int, width: int) -> None:
        self.pooled = np.zeros((graphs, width), np.float32)
        self.paid = np.zeros(graphs, np.float32)
        self.over = np.ones(graphs, np.bool_)
        self.broken_off = np.zeros(graphs, np.bool_)  # nothing is known of what follows
        self.seen = np.zeros((), np.bool_)  # nothing before the first step

    def note(self, output: Output, engine: Engine, broken_off: NDArray[np.int64]) -> None:
        """After a step, before finished episodes and those in slots `broken_off` restart."""
        self.pooled[:] = output.pooled.detach().cpu().numpy()
        self.paid[:] = engine.rewards
        self.over[:] = engine.batch.ended != RUNNING
        self.broken_off[:] = False
        self.broken_off[broken_off] = True
        self.seen[...] = True

    def loss(self, policy: Policy, output: Output) -> Tensor:
        """Mean squared error of the values of the states before, given those of the states now."""
        if not self.seen:
            return output.values.new_zeros(())
        device = output.values.device
        given = self.pooled, self.paid, self.over, self.broken_off & ~self.over
        pooled, paid, over, unknown = (torch.from_numpy(values).to(device) for values in given)
        following = output.values.detach().masked_fill(over, 0.0)
        error: Tensor = policy.critic(pooled.clone()) - (paid + following)
        return error.masked_fill(unknown, 0.0).square().mean()

    def arrays(self) -> Arrays:
        return {name: values.copy() for name, values in vars(self).items()}

    def restore(self, arrays: Arrays) -> None:
        for name, values in vars(self).items():
            values[...] = arrays[name]
