"""A problem in, trajectories as tensors out, and a judge of what networks answer.

Graphs of a batch have one size. A row of hints is the state at the start of a round: what happens
between its picks is no step of the algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gnarl_compiler.emit.abi import Role
from gnarl_dsl.model import Problem
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.instances.pools import Pool, draw_pool
from gnarl_runtime.search.players import ExpertPlayer
from gnarl_runtime.trajectories.expert_episodes import record
from gnarl_runtime.trajectories.probes import Probe
from gnarl_runtime.trajectories.trajectory import Trajectories

Probes = dict[Probe, Tensor]


@dataclass(frozen=True, eq=False)
class Episodes:
    """B episodes of T rows each; rows behind the end of an episode repeat its last."""

    inputs: Probes  # (B, …)
    hints: Probes  # (T, B, …)
    outputs: Probes  # (B, …)
    lengths: Tensor  # (B,) rows
    adjacency: Tensor  # (B, n, n) who hears whom

    @property
    def nodes(self) -> int:
        return int(self.adjacency.shape[1])

    @property
    def rows(self) -> int:
        return int(self.lengths.max())

    def some(self, chosen: NDArray[np.int64]) -> Episodes:
        """These episodes, without the rows that none of them needs."""
        own, lengths = torch.from_numpy(chosen), self.lengths[torch.from_numpy(chosen)]
        rows = int(lengths.max())
        return Episodes(
            {probe: values[own] for probe, values in self.inputs.items()},
            {probe: values[:rows, own] for probe, values in self.hints.items()},
            {probe: values[own] for probe, values in self.outputs.items()},
            lengths,
            self.adjacency[own],
        )


@dataclass(frozen=True, eq=False)
class Task:
    """Instances, an expert's episodes on them, and what the spec needs to judge answers."""

    compiled: Compiled
    pool: Pool
    episodes: Episodes


def draw_task(problem: Problem, nodes: int, count: int, split: str, seed: int) -> Task:
    """Instances of one size, played by the first expert; ties go to the first node, as in CLRS."""
    expert = problem.experts[0].name
    compiled = compile_for(problem, None, (expert,))
    pool = draw_pool(
        problem,
        count=count,
        nodes=nodes,
        seed=seed,
        split=split,
        oracles=compiled.oracles,
        artifact=compiled.artifact,
    )
    found = record(compiled, pool, ExpertPlayer(expert, seed, first=True))
    return Task(compiled, pool, episodes_of(found, len(problem.phases)))


def episodes_of(found: Trajectories, phases: int) -> Episodes:
    """Every first row of a round, and the last row of all."""
    rounds = (found.lengths - 1 + phases - 1) // phases  # an episode may end within a round
    places = np.arange(rounds.max() + 1)[:, None] * phases  # (T, 1)
    rows = np.minimum(places, found.lengths - 1)  # (T, B)
    episodes = np.arange(len(found))
    hints = {
        probe: _tensor(probe, values[rows, episodes])
        for probe, values in found.hints.items()
        if probe.name != "phase"
    }
    inputs = {probe: _tensor(probe, values) for probe, values in found.inputs.items()}
    outputs = {probe: _tensor(probe, values) for probe, values in found.outputs.items()}
    adjacency = next(values for probe, values in inputs.items() if probe.name == "adj") > 0
    lengths = torch.from_numpy(rounds + 1)
    # Along directed edges messages go both ways; which one is told by the probe itself.
    return Episodes(inputs, hints, outputs, lengths, adjacency | adjacency.transpose(1, 2))


def _tensor(probe: Probe, values: NDArray[np.generic]) -> Tensor:
    kind = np.int64 if probe.kind == "pointer" else np.float32
    return torch.from_numpy(values.astype(kind))


class Judge:
    """Whether answers are right, as the spec says it."""

    def __init__(self, task: Task) -> None:
        self.engine = Engine(task.compiled, task.pool, len(task.pool))
        self.slots = np.arange(len(task.pool))
        self.engine.load(self.slots, self.slots)

    def right(self, answers: Mapping[Probe, Tensor]) -> NDArray[np.bool_]:
        """For every instance; `answers` (B, …) are written where the state would be."""
        batch, problem = self.engine.batch, self.engine.problem
        for probe, values in answers.items():
            own = values.numpy() > 0.5 if probe.kind == "mask" else values.numpy()
            for slot in self.slots.tolist():
                adjacency = batch.read_adjacency(slot)
                batch.load_feature(slot, problem.feature(probe.name), own[slot], adjacency)
        again = Role.RECOUNT.of()  # what kernels keep from writes knows nothing of these
        if self.engine.compiled.artifact.abi.has(again):
            self.engine.kernels.run(again, self.slots)
        return np.asarray(self.engine.judge("correct", self.slots))
