"""What a table of the paper is made of: rows to train, and trials to evaluate each of them on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from gnarl_runtime.checkpoints.recipe_files import load_recipe


@dataclass(frozen=True)
class Trial:
    """Fresh graphs to evaluate on."""

    nodes: int
    graphs: int
    options: tuple[str, ...] = ()  # further arguments of gnarl-eval
    label: str = ""  # what is special about them
    one_seed: bool = False  # beyond the paper: the first seed only
    paper: str = ""  # its figure, if it is not the one of the row for so many nodes
    against: str = ""  # other players, on the graphs of the first seed

    @property
    def name(self) -> str:
        plain = re.sub(r"[^\w.]+", "_", self.label).strip("_")
        return f"{plain or 'test'}-{self.nodes}"

    @property
    def file(self) -> str:
        """The name of its results on disk: another one for other options."""
        told = hashlib.sha256("\0".join(self.options).encode()).hexdigest()[:8]
        return f"eval-{self.name}-{told}.json" if self.options else f"eval-{self.name}.json"


@dataclass(frozen=True)
class Row:
    """One method: a spec, a recipe and what it is judged by."""

    name: str
    label: str
    spec: str
    recipe: str
    figure: str  # of a result of gnarl-eval: success, ratio, or the name of a metric
    trials: tuple[Trial, ...]
    seeds: int = 3
    options: tuple[str, ...] = ()  # further arguments of gnarl-train
    paper: Mapping[int, str] = field(default_factory=dict)  # by number of nodes
    paper_steps: Mapping[int, str] = field(default_factory=dict)
    paper_seconds: Mapping[int, str] = field(default_factory=dict)  # per graph
    faithful: bool = False  # follows the paper's protocol
    share: float = 1.0  # of the updates that the recipe asks for
    base: str = ""  # the spec whose variants in families/ it plays; its own unless named

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """All further arguments of gnarl-train; a share is of what the recipe has today."""
        return self.options if self.share == 1 else (*self.options, *part_of(self))


def part_of(row: Row) -> tuple[str, ...]:
    """The arguments that ask for a share of a recipe's updates."""
    whole = load_recipe(row.recipe)
    updates = {part: round(getattr(whole, part).updates * row.share) for part in whole.parts}
    # The paper validates every 100 updates of imitation and each of PPO: longer than they take.
    fewer = [f"{part}.updates={count}" for part, count in updates.items()]
    settings = (*fewer, f"validation.every={min(updates.values()) // 10}")
    return tuple(word for setting in settings for word in ("--set", setting))


@dataclass(frozen=True)
class Table:
    """Rows that belong together."""

    name: str
    title: str
    note: str
    rows: tuple[Row, ...]
    figure: Literal["", "temperatures", "curves"] = ""  # drawn beside the table

    def row(self, name: str) -> Row:
        (found,) = (row for row in self.rows if row.name == name)
        return found


def trials(*sizes: tuple[int, int], options: tuple[str, ...] = ()) -> tuple[Trial, ...]:
    """Test graphs by size and number."""
    return tuple(Trial(nodes, graphs, options) for nodes, graphs in sizes)


def family(name: str) -> str:
    """A spec of benchmarks/paper/families, as it is named in the checkout."""
    return f"benchmarks/paper/families/{name}.gnarl"


def faithful(row: Row, recipe: str, sizes: Sequence[int], share: float = 1.0) -> Row:
    """The paper's way: a share of the updates that a recipe of its protocol asks for."""
    told = "" if share == 1 else f", {100 * share:g} % of it"
    return replace(
        row,
        name=f"{row.name}_paper",
        label=f"{row.label}, the paper's recipe{told}",
        recipe=recipe,
        trials=tuple(trial for trial in row.trials if not trial.label and trial.nodes in sizes),
        seeds=1,
        faithful=True,
        share=share,
    )
