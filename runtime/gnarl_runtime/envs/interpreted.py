"""A slot of a batch in, the interpreter's view of it out, and back: for messages and tests."""

from __future__ import annotations

import numpy as np

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.evaluate import Evaluator
from gnarl_compiler.interpret.explain import why_illegal
from gnarl_compiler.interpret.state import Ending, Episode, IllegalPick, State
from gnarl_dsl.model.kinds import INPUT, ORACLE
from gnarl_runtime.batch.batch import Batch, pack_bits

_ENDINGS: tuple[Ending | None, ...] = (None, "terminated", "truncated")


def load_state(batch: Batch, slot: int, state: State) -> None:
    """Copy a state of the interpreter into a slot, whatever was there before."""
    batch.load_graph(slot, state.adjacency)
    _load_progress(batch, slot, state)
    game = Interpreter(batch.layout.problem)
    values = game.observation(state)
    for feature in batch.layout.stored():
        known = values.get(feature.name)
        dense = Evaluator(state).stored(feature.name) if known is None else known
        batch.load_feature(slot, feature, np.asarray(dense), state.adjacency)
    batch.legal[slot] = False
    batch.legal[slot, : state.n] = game.mask(state)
    if batch.layout.problem.may_stop:
        batch.legal[slot, -1] = game.may_stop(state)
    if batch.layout.problem.windows:
        batch.window[slot] = False
        batch.window[slot, : state.n] = game.window(state)
    if batch.layout.problem.messages:
        batch.heard[slot] = pack_bits(game.heard(state), batch.layout.nodes)


def _load_progress(batch: Batch, slot: int, state: State) -> None:
    batch.tags[slot] = 0
    batch.tags[slot, : state.n] = state.episode.instance.tags
    batch.phase[slot] = state.phase
    batch.last[slot] = state.last
    if batch.layout.problem.may_skip:
        batch.picked[slot] = False
        batch.picked[slot, : len(state.picks)] = np.array(state.picks, np.int64) >= 0
    batch.rounds[slot] = state.rounds
    batch.horizon[slot] = state.episode.horizon
    batch.limit[slot] = state.episode.limit
    batch.potential[slot] = state.potential
    batch.ended[slot] = _ENDINGS.index(state.ended)


def state_of(batch: Batch, slot: int) -> State:
    """The state in a slot; a mutable graph stands for itself at reset."""
    problem = batch.layout.problem
    adjacency = batch.read_adjacency(slot)
    stored = {f: batch.read_feature(slot, f.name) for f in batch.layout.stored()}
    inputs = {f.name: values for f, values in stored.items() if f.stage is INPUT}
    oracles = {f.name: values for f, values in stored.items() if f.stage is ORACLE}
    written = {f.name: values for f, values in stored.items() if f.stage.written}
    graph = Graph(problem.graph.directed, adjacency)
    tags = batch.tags[slot, : graph.n].copy()
    instance = Instance(graph, inputs, tags)
    bounds = float(batch.horizon[slot]), float(batch.limit[slot])
    episode = Episode(problem, instance, oracles, *bounds)
    phase, last = int(batch.phase[slot]), tuple(int(v) for v in batch.last[slot])
    made = batch.picked[slot] if problem.may_skip else np.ones(len(last), np.bool_)
    return State(
        episode=episode,
        features=written,
        adjacency=np.array(adjacency),
        phase=phase,
        last=last,
        picks=tuple(node if made[k] else -1 for k, node in enumerate(last[:phase])),
        rounds=int(batch.rounds[slot]),
        potential=float(batch.potential[slot]),
        ended=_ENDINGS[int(batch.ended[slot])],
    )


def illegal_pick(batch: Batch, slot: int, node: int) -> IllegalPick:
    """An error that says which clause of which line forbids the pick."""
    state, problem = state_of(batch, slot), batch.layout.problem
    phase = problem.phases[state.phase].name
    if problem.may_stop and node == batch.layout.nodes:
        why = Interpreter(problem).stop_rule(state)
        return IllegalPick(f"the episode cannot be ended here{why}")
    if not 0 <= node < state.n:
        return IllegalPick(f"there is no node {node} in a graph of {state.n} nodes")
    reasons = why_illegal(Interpreter(problem), state, node)
    why = "; ".join(reason.describe(problem) for reason in reasons) or "the episode has ended"
    return IllegalPick(f"node {node} is not allowed in phase {phase}: {why}")
