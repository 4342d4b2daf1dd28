"""A process, alone or one of several, in; out: its share of the work, and sums over all shares.

The processes are torch's: `torchrun` starts them, gloo or NCCL carries what they tell each other,
`DistributedDataParallel` averages gradients. What is random is keyed by the number of a graph in
all shares together, so that as many graphs learn the same however many processes share them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.checkpoints.arrays import Arrays
from gnarl_runtime.network.policy import Policy

R = TypeVar("R")
Work = Callable[[Policy], R]  # reads a policy: a loss to go back from, and numbers beside it
Learn = Callable[[Work[Any]], Any]


@dataclass(frozen=True)
class Share:
    """Those of `total` numbered things that one process takes care of: `count` from `first` on."""

    first: int
    count: int
    total: int

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.count)

    def of(self, arrays: Mapping[str, Any]) -> Arrays:
        """The own rows of arrays of all; what belongs to nobody in particular stays whole."""
        own = {name: np.asarray(values) for name, values in arrays.items()}
        return {name: a[self.rows] if a.ndim else a for name, a in own.items()}


def share_of(total: int, rank: int, size: int) -> Share:
    """Blocks that differ by one at the most."""
    first, end = total * rank // size, total * (rank + 1) // size
    return Share(first, end - first, total)


class Team(Protocol):
    """The processes of a run, as one of them sees them. All call the same methods in turn."""

    rank: int
    size: int

    @property
    def leads(self) -> bool:
        """Whether this process saves, validates, draws and speaks."""
        ...

    def sums(self, *values: float) -> list[float]:
        """Each value, added up over all processes."""
        ...

    def everyone(self, value: R) -> list[R]:
        """What each process has, by rank."""
        ...

    def told(self, value: R) -> R:
        """What the leader has; the others' is ignored."""
        ...

    def gathered(self, arrays: Arrays) -> Arrays:
        """The rows of all, in the leader's hands; others get their own back."""
        ...

    def learning(self, policy: Policy) -> Learn:
        """Run work on a policy so that gradients are those of the mean of all processes' losses."""
        ...

    def wait(self) -> None:
        """Until everybody is here, however long that takes."""
        ...


class Alone:
    """One process, which does everything. Fulfils `Team`."""

    rank, size = 0, 1

    @property
    def leads(self) -> bool:
        return True

    def sums(self, *values: float) -> list[float]:
        return list(values)

    def everyone(self, value: R) -> list[R]:
        return [value]

    def told(self, value: R) -> R:
        return value

    def gathered(self, arrays: Arrays) -> Arrays:
        return arrays

    def learning(self, policy: Policy) -> Learn:
        return lambda work: work(policy)

    def wait(self) -> None:
        pass


ALONE = Alone()


def take_share(team: Team, total: int, what: str) -> Share:
    """The own share; `what` names the setting that says how many there are."""
    if total < team.size:
        raise UsageError(
            f"{team.size} workers cannot share {what} = {total}; expected at most {total} workers, "
            f"or --set {what}={team.size} or more"
        )
    return share_of(total, team.rank, team.size)


def weight_of(team: Team, count: float) -> float:
    """What a mean over `count` own things counts, so that the mean over processes is that of all.

    Exactly 1 for a process on its own.
    """
    (total,) = team.sums(float(count))
    return count * team.size / total if total else 0.0


def merged(
    team: Team, metrics: Mapping[str, float], count: float, added: Sequence[str]
) -> dict[str, float]:
    """Means over all processes, each counting as much as it has; those `added` are summed up."""
    if team.size == 1:
        return dict(metrics)
    parts = team.everyone((dict(metrics), float(count)))
    names = dict.fromkeys(name for told, _ in parts for name in told)
    return {name: _merge(name, parts, name in added) for name in names}


def _merge(name: str, parts: Sequence[tuple[dict[str, float], float]], added: bool) -> float:
    known = [(told[name], weight) for told, weight in parts if name in told]
    if added:
        return sum(value for value, _ in known)
    whole = sum(weight for _, weight in known)
    # Where nobody has anything, a plain mean says that there is nothing to say.
    weights = [weight / whole if whole else 1 / len(known) for _, weight in known]
    return sum(value * weight for (value, _), weight in zip(known, weights, strict=True))
