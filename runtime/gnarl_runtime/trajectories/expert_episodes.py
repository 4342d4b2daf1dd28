"""A problem, an expert and a pool in, the expert's episodes out, as CLRS-style trajectories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.support.endings import RUNNING, TERMINATED
from gnarl_dsl.model import Problem
from gnarl_runtime.envs.engine import Compiled, Engine
from gnarl_runtime.instances.pools import Pool
from gnarl_runtime.search.players import STOP, ExpertPlayer, Turn
from gnarl_runtime.search.rollout import choose_slots, raise_illegal
from gnarl_runtime.trajectories.probes import (
    FeatureProbe,
    Probe,
    Values,
    free_name,
    hint_probes,
    input_probes,
    one_hot,
    output_probes,
)
from gnarl_runtime.trajectories.trajectory import Trajectories

Index = NDArray[np.int64]
Progress = Callable[[str, int, int], None]
Step = dict[Probe, Values]


@dataclass
class _Episode:
    """What is known of one while it is played."""

    given: Step
    steps: list[Step] = field(default_factory=list)
    end: Step = field(default_factory=dict)
    correct: bool = False


def record(
    compiled: Compiled, pool: Pool, player: ExpertPlayer, progress: Progress | None = None
) -> Trajectories:
    """Every instance of the pool, all of one size, played by an expert to its end."""
    scribe = _Scribe(compiled.problem)
    side_by_side = min(choose_slots(compiled, pool), len(pool))
    episodes: list[_Episode] = []
    for start in range(0, len(pool), side_by_side):
        numbers = np.arange(start, min(start + side_by_side, len(pool)))
        episodes += _played(compiled, pool, numbers, player, scribe)
        if progress is not None:
            progress("episodes", len(episodes), len(pool))
    nodes = int(pool.batch.n[0])
    lengths = np.array([len(episode.steps) for episode in episodes], np.int64)
    return Trajectories(
        problem=compiled.problem.name,
        hash=compiled.problem.hash,
        expert=player.expert,
        seed=player.seed,
        nodes=nodes,
        inputs=_stacked([episode.given for episode in episodes]),
        hints=_padded(scribe.hints, [episode.steps for episode in episodes], nodes),
        outputs=_stacked([episode.end for episode in episodes]),
        lengths=lengths,
        correct=np.array([episode.correct for episode in episodes], np.bool_),
    )


def _stacked(steps: list[Step]) -> dict[Probe, Values]:
    return {probe: np.stack([step[probe] for step in steps]) for probe in steps[0]}


def _padded(probes: list[Probe], episodes: list[list[Step]], nodes: int) -> dict[Probe, Values]:
    longest = max(map(len, episodes))
    hints = {}
    for probe in probes:
        kind = np.int64 if probe.kind == "pointer" else np.float64
        values = np.zeros((longest, len(episodes), *probe.shape(nodes)), kind)
        for number, steps in enumerate(episodes):
            for time, step in enumerate(steps):
                values[time, number] = step[probe]
        hints[probe] = values
    return hints


# Play


def _played(
    compiled: Compiled, pool: Pool, numbers: Index, player: ExpertPlayer, scribe: _Scribe
) -> list[_Episode]:
    """Some instances side by side, each in a slot of its own."""
    engine = Engine(compiled, pool, len(numbers))
    slots, batch = np.arange(len(numbers)), engine.batch
    engine.load(slots, numbers)
    episodes = [_Episode(scribe.given(engine, slot)) for slot in slots.tolist()]
    picks = np.zeros(len(slots), np.int64)  # made so far
    running = slots
    while len(running):
        for slot in running.tolist():
            episodes[slot].steps.append(scribe.state(engine, slot))
        running = running[batch.ended[running] == RUNNING]
        if len(running):
            turn = Turn(running, numbers[running], np.zeros_like(running), picks[running])
            chosen = player.choose(engine, turn)
            running = _stepped(engine, running, chosen)
            picks[running] += 1
    judge = "correct" if compiled.problem.correct is not None else "valid"
    right = engine.judge(judge, slots)
    for slot in slots.tolist():
        episodes[slot].end = scribe.end(engine, slot)
        episodes[slot].correct = bool(right[slot])
    return episodes


def _stepped(engine: Engine, running: Index, chosen: Index) -> Index:
    """The episodes that have moved: an expert that is done stays where it is."""
    actions = np.full(engine.slots, STOP, np.int64)
    actions[running] = chosen
    engine.batch.ended[running[chosen == STOP]] = TERMINATED
    engine.step(actions)
    raise_illegal(engine)
    return np.asarray(running[chosen != STOP])


class _Scribe:
    """Reads the probes of a problem off a slot."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.inputs, self.shown = input_probes(problem), hint_probes(problem)
        self.ends = output_probes(problem)
        taken = {p.probe.name for p in (*self.inputs, *self.shown, *self.ends)}
        self.pos = Probe("pos", "input", "node", "scalar") if "pos" not in taken else None
        graph = problem.graph
        named = free_name("adj", taken)
        self.adjacency = None if graph.complete else Probe(named, "input", "edge", "mask")
        changing = Probe(free_name("adj_h", taken), "hint", "edge", "mask")
        self.changing = changing if graph.mutable else None
        self.built = Probe(free_name("adj_end", taken), "output", "edge", "mask")
        self.picks = [
            Probe(free_name(f"last_{phase.name}", taken), "hint", "node", "mask_one")
            for phase in problem.phases
        ]
        count = len(problem.phases)
        phase = Probe(free_name("phase", taken), "hint", "graph", "categorical", count)
        self.phase = phase if count > 1 else None

    @property
    def hints(self) -> list[Probe]:
        extra = [self.changing, *self.picks, self.phase]
        return [*(shown.probe for shown in self.shown), *(p for p in extra if p is not None)]

    def given(self, engine: Engine, slot: int) -> Step:
        """What an instance consists of."""
        n = int(engine.batch.n[slot])
        step = {} if self.pos is None else {self.pos: np.arange(n) / n}
        if self.adjacency is not None:
            step[self.adjacency] = _with_loops(engine, slot)
        return step | _read(self.inputs, engine, slot)

    def state(self, engine: Engine, slot: int) -> Step:
        """What a network would read now."""
        batch, n = engine.batch, int(engine.batch.n[slot])
        step = _read(self.shown, engine, slot)
        if self.changing is not None:
            step[self.changing] = _with_loops(engine, slot)
        for number, probe in enumerate(self.picks):
            step[probe] = one_hot(int(batch.last[slot, number]), n)
        if self.phase is not None:
            step[self.phase] = one_hot(int(batch.phase[slot]), self.phase.classes)
        return step

    def end(self, engine: Engine, slot: int) -> Step:
        """What is judged, with the graph that was built if it can change."""
        step = _read(self.ends, engine, slot)
        return step | {self.built: _with_loops(engine, slot)} if self.changing else step


def _read(probes: list[FeatureProbe], engine: Engine, slot: int) -> Step:
    n = int(engine.batch.n[slot])
    return {
        shown.probe: shown.values(engine.batch.read_feature(slot, shown.feature.name), n)
        for shown in probes
    }


def _with_loops(engine: Engine, slot: int) -> Values:
    """The current graph; in CLRS every node is next to itself."""
    adjacency = engine.batch.read_adjacency(slot)
    return (adjacency | np.eye(len(adjacency), dtype=np.bool_)).astype(np.float64)
