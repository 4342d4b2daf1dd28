"""What a recipe was chosen by, as data: who plays how well, who won which race, and why."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

RANDOM = "random"


class Standing(BaseModel):
    """How somebody plays the validation graphs, on average."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    success: float
    reward: float
    steps: float
    objective: float | None = None
    reads_oracle: bool = False  # or is made for each graph, by playing or searching it
    graphs: int | None = None  # that were played; None where nobody kept that

    @property
    def order(self) -> tuple[float, ...]:
        """As validation orders policies."""
        return self.success, self.reward, -self.steps


class Heat(BaseModel):
    """One setting in one round of the race."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    setting: dict[str, str | int | float | bool]
    seconds: float
    updates: int
    success: float
    reward: float
    steps: float

    @property
    def order(self) -> tuple[float, ...]:
        return self.success, self.reward, -self.steps


class Choice(BaseModel):
    """Everything that decided a default recipe, for the record of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    standings: tuple[Standing, ...]
    why: str
    expert: str | None = None  # who is imitated first
    heats: tuple[Heat, ...] = ()
    keys: tuple[str, ...] = ()  # what experts compare, which the network reads besides

    @property
    def free(self) -> Standing | None:
        """The best expert that reads no oracle: who is to be beaten."""
        return best_of([s for s in self.standings if s.name != RANDOM and not s.reads_oracle])


def best_of(standings: Sequence[Standing]) -> Standing | None:
    """The first of the best; None of none."""
    return max(standings, key=lambda standing: standing.order, default=None)
