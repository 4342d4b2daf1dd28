"""The name of a run in, what answers graphs for it out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.api.asked import PYTHON, chosen_search
from gnarl_runtime.api.policies import load_policy
from gnarl_runtime.api.solve_graphs import Solution, general_notes, preferred_searches, run_solve
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.readers.node_link import graph_of_json
from gnarl_runtime.readers.raw import Imported, build_instance
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.serving.batches import Batcher, Limits

_BOUNDED = ("picks", "sample", "beam", "starts", "work", "time")  # ways that end by themselves
_MOST = 100_000  # episodes or decisions that one request may ask for


@dataclass(frozen=True)
class Bounds:
    """What a request may ask for."""

    nodes: int
    seconds: float


@dataclass(eq=False)
class ServedPolicy:
    """A trained policy with its queue."""

    name: str
    trained: TrainedPolicy
    bounds: Bounds
    limits: Limits

    def __post_init__(self) -> None:
        self.batcher: Batcher[Solution] = Batcher(self._solve, self.limits)

    def graph(self, data: Any, where: str, seed: int) -> Imported:
        """A graph as JSON has it: nodes and edges (docs/instances.md)."""
        raw = graph_of_json(data, where)
        if len(raw.labels) > self.bounds.nodes:
            raise Failure(
                f"{where}: {len(raw.labels):,} nodes; this server takes {self.bounds.nodes:,}"
            )
        return build_instance(self.trained.problem, raw, seed=seed)

    def attempts(self, graph: Imported, search: str | None, seed: int, rescale: bool) -> Attempts:
        """How it is solved: as asked, else as `gnarl-solve` would."""
        strategy = chosen_search(PYTHON, search, None, None, True)
        if search is None:
            (strategy,), _ = preferred_searches(self.trained, [graph], strategy, PYTHON)
        self._verify(strategy)
        return Attempts(strategy, self.trained.temperature(None), seed, rescale)

    def _verify(self, strategy: Strategy) -> None:
        amount = strategy.amount or 0
        most = self.bounds.seconds if strategy.name == "time" else _MOST
        if strategy.name not in _BOUNDED or amount > most:
            raise UsageError(
                f"{strategy}: expected one of {', '.join(_BOUNDED)}, time up to "
                f"{self.bounds.seconds:g} s, others up to {_MOST:,}"
            )

    def _solve(self, graphs: Sequence[Imported], attempts: Attempts) -> list[Solution]:
        until = time.monotonic() + self.bounds.seconds * max(1, len(graphs) / 8)

        def look(what: str, done: int, total: int) -> None:
            if time.monotonic() > until:
                raise Failure(f"not solved within {self.bounds.seconds:g} s")

        notes = general_notes(self.trained, graphs, attempts.rescale, PYTHON)
        each = [attempts] * len(graphs)
        found = run_solve(self.trained, graphs, each, "", (), PYTHON, look)
        return [replace(solution, notes=(*solution.notes, *notes)) for solution in found]

    def warm(self) -> None:
        """Compile before the first request comes."""
        two = {"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}
        graph = build_instance(self.trained.problem, graph_of_json(two, "warming up"))
        self._solve([graph], self.attempts(graph, None, 0, False))


def load_served(given: str, bounds: Bounds, limits: Limits) -> ServedPolicy:
    """A run folder, a checkpoint, or the name of shipped weights; called after its folder."""
    trained = load_policy(given)
    name = given.rstrip("/").rsplit("/", 1)[-1].removesuffix(".safetensors")
    return ServedPolicy(name, trained, bounds, limits)
