"""Outcomes of many episodes go in, one Row of figures per graph size comes out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnarl_runtime.search.outcomes import Outcomes

Z95 = 1.959963984540054  # the normal distribution's 97.5 % quantile


@dataclass(frozen=True)
class Sampling:
    """What several attempts at each graph brought; means over graphs."""

    samples: int
    temperature: float
    correct: float  # attempts that succeed
    unique: float  # different end states among these
    solved: float  # share of graphs with at least one
    best_objective: float  # of the successful attempts; NaN if there is no objective


@dataclass(frozen=True)
class Row:
    """How well graphs of one size went; NaN where a figure does not exist."""

    nodes: int
    graphs: int
    success: float  # share of episodes
    ci95: tuple[float, float]
    objective: float
    ratio: float  # the spec's metric of that name, else objective over the reference's
    steps: float
    seconds_per_graph: float  # wall time of playing, all samples of a graph together
    valid: float
    truncated: float
    reward: float
    to_reference: float  # objective over that of the reference expert
    metrics: Mapping[str, float]
    standard_errors: Mapping[str, float]  # of the means over graphs, metrics among them
    sampling: Sampling | None = None

    def document(self) -> dict[str, Any]:
        """The row as JSON has it."""
        own = {**vars(self), "sampling": self.sampling and vars(self.sampling)}
        tidy: dict[str, Any] = plain(own)
        if self.sampling is None:
            del tidy["sampling"]
        return tidy


def plain(value: Any) -> Any:
    """The same with null for what is not a number: JSON has neither NaN nor infinity."""
    match value:
        case Mapping():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value


def wilson(successes: float, total: float, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval of a share; unlike the textbook's it is right near 0 and 1."""
    if total <= 0:
        return 0.0, 1.0
    share, spread = successes / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    low = 0.0 if successes <= 0 else max(0.0, centre - half)
    high = 1.0 if successes >= total else min(1.0, centre + half)
    return low, high


def rows_by_size(
    outcomes: Outcomes,
    temperature: float | None = None,
    reference: NDArray[np.float64] | None = None,
) -> list[Row]:
    """One row per number of nodes; `reference` (instances,) are objectives to compare with."""
    sizes = np.unique(outcomes.nodes)
    parts = [select(outcomes, outcomes.nodes == size) for size in sizes]
    return [summarise(part, temperature, reference) for part in parts]


def select(outcomes: Outcomes, chosen: NDArray[np.bool_]) -> Outcomes:
    """Some of the episodes; time is divided by picks, whose cost grows with the graph."""
    arrays = {k: v[chosen] for k, v in vars(outcomes).items() if isinstance(v, np.ndarray)}
    picks = max(1, int(outcomes.steps.sum()))
    return replace(
        outcomes,
        **arrays,
        metrics={name: values[chosen] for name, values in outcomes.metrics.items()},
        seconds=outcomes.seconds * int(outcomes.steps[chosen].sum()) / picks,
        picks=None,
        phases=None,
        states=None,
    )


def summarise(
    outcomes: Outcomes,
    temperature: float | None = None,
    reference: NDArray[np.float64] | None = None,
) -> Row:
    """The figures of all episodes together, as if their graphs had one size."""
    graphs = len(np.unique(outcomes.instance))
    success = float(outcomes.success.mean())
    metrics = {name: mean(values) for name, values in outcomes.metrics.items()}
    shares = to_reference(outcomes, reference)
    compared = mean(shares)
    measured = {
        "objective": outcomes.objective,
        "reward": outcomes.reward,
        "to_reference": shares,
        "ratio": shares,
        **outcomes.metrics,
    }
    return Row(
        nodes=round(float(outcomes.nodes.mean())),
        graphs=graphs,
        success=success,
        # Attempts at one graph are not independent; graphs are.
        ci95=wilson(success * graphs, graphs),
        objective=mean(outcomes.objective),
        ratio=metrics.get("ratio", compared),
        steps=float(outcomes.steps.mean()),
        seconds_per_graph=outcomes.seconds / graphs,
        valid=float(outcomes.valid.mean()),
        truncated=float(outcomes.truncated.mean()),
        reward=mean(outcomes.reward),
        to_reference=compared,
        metrics=metrics,
        standard_errors={
            name: standard_error(values, outcomes.instance) for name, values in measured.items()
        },
        sampling=None if temperature is None else summarise_samples(outcomes, temperature),
    )


def to_reference(outcomes: Outcomes, reference: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Objective over reference of each episode, NaN where that is 0 or unknown."""
    shares = np.full(len(outcomes), np.nan)
    if reference is not None:
        own = reference[outcomes.instance]
        np.divide(outcomes.objective, own, out=shares, where=own != 0)
    return shares


def mean(values: NDArray[np.float64]) -> float:
    """The mean of the numbers among the values; NaN if there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def standard_error(values: NDArray[np.float64], instance: NDArray[np.int64]) -> float:
    """How far the mean may be off; attempts at one graph count as one. NaN below two graphs."""
    known = ~np.isnan(values)
    _, graph = np.unique(instance[known], return_inverse=True)
    attempts = np.bincount(graph)
    if len(attempts) < 2:
        return math.nan
    each = np.bincount(graph, values[known]) / attempts
    return float(each.std(ddof=1) / math.sqrt(len(each)))


def summarise_samples(outcomes: Outcomes, temperature: float) -> Sampling:
    """Means over graphs of what their samples brought."""
    graphs = np.unique(outcomes.instance)
    correct, unique, best = (np.full(len(graphs), np.nan) for _ in range(3))
    for k, graph in enumerate(graphs):
        good = (outcomes.instance == graph) & outcomes.success
        correct[k] = good.sum()
        unique[k] = np.nan if outcomes.solutions is None else len(set(outcomes.solutions[good]))
        best[k] = outcomes.objective[good].max() if good.any() else np.nan
    return Sampling(
        samples=int(outcomes.sample.max()) + 1,
        temperature=temperature,
        correct=mean(correct),
        unique=mean(unique),
        solved=float((correct > 0).mean()),
        best_objective=mean(best),
    )
