"""What every trainer offers, so that one loop can run, save, validate and resume any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.network.policy import Policy

Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Stretch:
    """Updates of one kind, each of which takes about as long as the others."""

    begin: int  # the number of updates before it
    end: int  # and after it
    then: str = ""  # what follows it, in words


class Trainer(Protocol):
    """A training run between two updates.

    Everything random is drawn from counter-based streams keyed by (seed, purpose, update), so
    `arrays` and the number of updates done are all that is needed to continue exactly.
    """

    updates: int  # in the whole run

    @property
    def done(self) -> int:
        """Updates so far."""
        ...

    @property
    def stretch(self) -> Stretch:
        """The updates that are like the next one."""
        ...

    @property
    def policy(self) -> Policy:
        """The weights that learn."""
        ...

    def update(self) -> Metrics:
        """Play, learn, and tell: at least `loss` and `states` (decisions learned from)."""
        ...

    def best_policy(self) -> Policy:
        """The weights to judge and to keep: averaged ones where there are any."""
        ...

    def arrays(self) -> Arrays:
        """Weights, optimizer, environment: whatever the next update depends on.

        Of the graphs of all processes in the hands of the one that leads a team.
        """
        ...

    def restore(self, arrays: Arrays, done: int) -> None:
        """Continue where `arrays` were taken."""
        ...
