"""Specs, states and slow definitions that the tests of the Batch contract compare with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from episodes import random_instance, random_pick
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import relabel_values
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.model import Feature, Problem
from gnarl_runtime.batch.batch import Batch
from gnarl_runtime.batch.layout import layout_of
from gnarl_runtime.batch.pack import Packed
from gnarl_runtime.envs.interpreted import load_state

# What no shipped spec has: categories, pair and directed edge features, pointers of the graph.
ZOO = """
gnarl 1
problem zoo
  "One feature of every kind."
graph directed
features
  w     input    edge        scalar    ~ uniform(0, 1)
  gap   input    pair        scalar    ~ uniform(0, 1)
  s     input    node        mask_one  ~ any_node
  hue   state    node        categorical(white | grey | black) = white
  used  state    edge        mask      = false
  kind  state    edge        categorical(3) = 1
  top   state    graph       pointer   = s
  mood  state    graph       categorical(2) = 0
  back  state    node(x)     pointer   = x
  heavy derived  edge(x, y)  mask      = w[x, y] > 0.5
  far   derived  pair(x, y)  mask      = gap[x, y] > 0.5
phase tail(u)
  allow hue[u] != black
phase head(v)
  allow v != u
  update
    hue[u] := black
    hue[v] := if hue[v] == white then grey else hue[v]
    if edge(u, v)
      used[u, v] := true
      kind[u, v] := 2
    back[v] := u
    top     := v
    mood    := 1
horizon n rounds
objective blacks = count(x in nodes where hue[x] == black)
instances er
  train 10 er(n = 6, p = 0.4)
  valid 10 er(n = 6, p = 0.4)
  test  10 er(n = 6, p = 0.4)
"""

# A graph that loses edges as well as gaining them: pointers are left without an edge.
FLIP = """
gnarl 1
problem flip
  "Every round joins or parts two nodes."
graph undirected mutable
features
  hot    state    node        mask    = false
  tie    state    node(x)     pointer = x
  loose  derived  edge(x, y)  mask    = hot[x] or hot[y]
phase one(u)
phase other(v)
  allow v != u
  update
    edge(u, v) := not edge(u, v)
    hot[v]     := true
    tie[v]     := u
horizon n rounds
objective edges_left = m
instances er
  train 10 er(n = 6, p = 0.4)
  valid 10 er(n = 6, p = 0.4)
  test  10 er(n = 6, p = 0.4)
"""

# Nodes that edges and pairs point to.
WAYS = """
gnarl 1
problem ways
  "Who stands between two nodes."
graph {kind}
features
  s     input    node        mask_one  ~ any_node
  via   state    edge        pointer   = s
  mid   state    pair(x, y)  pointer   = x
  back  derived  edge(x, y)  pointer   = {back}
phase one(u)
phase other(v)
  allow v != u
  update
    if edge(u, v)
      via[u, v] := mid[s, v]
    for x in nodes where x != v
      mid[x, v] := if edge(x, v) then via[x, v] else mid[x, u]
horizon n rounds
objective own = count(x in nodes, y in nodes where mid[x, y] == x)
metric via_s  = count((x, y) in edges where via[x, y] == s or back[x, y] == s)
instances er
  train 10 er(n = 6, p = 0.4)
  valid 10 er(n = 6, p = 0.4)
  test  10 er(n = 6, p = 0.4)
"""

OWN = {
    "zoo": ZOO,
    "flip": FLIP,
    "ways": WAYS.format(kind="undirected", back="via[x, y]"),
    "one_ways": WAYS.format(kind="directed", back="mid[y, x]"),
}


def visited(problem: Problem, nodes: int, seed: int, steps: int = 9) -> Iterator[State]:
    """The states of an episode of random play, at most `steps` of them."""
    game, rng = Interpreter(problem), np.random.default_rng(seed)
    state = game.reset(random_instance(problem, seed, 0, nodes))
    for _ in range(steps):
        yield state
        if state.ended is not None or game.is_dead_end(state):
            return
        state = game.step(state, random_pick(game, state, rng)).state


def loaded(problem: Problem, states: list[State], nodes: int) -> Batch:
    batch = Batch.allocate(layout_of(problem, len(states), nodes))
    for slot, state in enumerate(states):
        load_state(batch, slot, state)
    return batch


class ByHand:
    """The columns of one state computed from the spec and the interpreter, cell by cell."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.state = problem, state
        self.values = Interpreter(problem).observation(state)
        self.seen = [f for f in problem.features if f.observed]

    def cell(self, feature: Feature, *index: int) -> list[float]:
        value = self.values[feature.name][index]
        if feature.place.name == "edge" and not self.state.adjacency[index]:
            return [0.0] * max(1, feature.categories)
        if feature.type.name == "categorical":
            return [float(value == k) for k in range(feature.categories)]
        return [float(value)]

    def node(self, v: int) -> list[float]:
        row: list[float] = []
        for f in self.seen:
            if f.type.name == "mask_one" or (f.type.name == "pointer" and f.place.name == "graph"):
                row += [float(self.values[f.name] == v)]
            elif f.place.name == "node" and f.type.name != "pointer":
                row += self.cell(f, v)
        return row + [float(last == v) for last in self.state.last]

    def graph(self) -> list[float]:
        plain = [f for f in self.seen if f.place.name == "graph" and f.type.name != "pointer"]
        phases = range(len(self.problem.phases))
        own = [x for f in plain for x in self.cell(f)]
        return own + [float(self.state.phase == k) for k in phases]

    def message(self, u: int, v: int) -> list[float]:
        """What node v hears from node u."""
        directed = self.problem.graph.directed
        row = [float(u == v), float(self.state.adjacency[u, v])]
        row += [float(self.state.adjacency[v, u])] if directed else []
        for f in self.seen:
            if f.type.name == "pointer" and f.place.name == "node":
                pointer = self.values[f.name]
                row += [float(pointer[v] == u), float(pointer[u] == v)]
            elif f.type.name == "pointer" and f.place.name in ("edge", "pair"):
                row += self.between(f, u, v)
            elif f.place.name in ("edge", "pair"):
                row += self.cell(f, u, v)
                row += self.cell(f, v, u) if directed or f.place.name == "pair" else []
        return row

    def between(self, f: Feature, u: int, v: int) -> list[float]:
        """What a message tells of pointers that edges or pairs have."""
        n, edges = self.state.n, f.place.name == "edge"
        ordered = self.problem.graph.directed or not edges

        def to(x: int, y: int) -> int:
            there = not edges or self.state.adjacency[x, y]
            return int(self.values[f.name][x, y]) if there else -1

        def share(named: int, at: int, by_row: bool) -> float:
            found = [to(at, x) if by_row else to(x, at) for x in range(n)]
            return float(np.float32(found.count(named)) / np.float32(n))

        row: list[float] = []
        for end in (u, v):
            row += [float(to(u, v) == end)] + ([float(to(v, u) == end)] if ordered else [])
        marks = [
            int(self.values[g.name])
            for g in self.seen
            if g.type.name == "mask_one" or (g.type.name == "pointer" and g.place.name == "graph")
        ]
        for by_row in (False, True) if ordered else (False,):
            row += [share(u, v, by_row), share(v, u, by_row)]
            for mark in (*marks, *self.state.last):
                for at, named in ((v, u), (u, v)):
                    known = mark >= 0 and (to(mark, at) if by_row else to(at, mark)) == named
                    row.append(float(known))
        return row

    def speaks(self, u: int, v: int) -> bool:
        joined = self.state.adjacency[u, v] or self.state.adjacency[v, u]
        pointers = [
            self.values[f.name]
            for f in self.seen
            if f.type.name == "pointer" and f.place.name == "node"
        ]
        pointed = any(p[v] == u or p[u] == v for p in pointers)
        return u == v or joined or pointed or any(f.place.name == "pair" for f in self.seen)


def joined(packs: list[Packed]) -> Packed:
    """Packs side by side, by the definition of the fields."""
    nodes = np.cumsum([0, *(len(p.x) for p in packs)])
    sent = np.cumsum([0, *(len(p.src) for p in packs)])

    def cat(name: str, shift: NDArray[Any] | None = None, skip: int = 0) -> NDArray[Any]:
        parts = [getattr(p, name)[skip:] for p in packs]
        moves = np.zeros(len(packs), np.int64) if shift is None else shift
        return np.concatenate([np.zeros(skip, np.int64), *map(np.add, parts, moves)])

    return Packed(
        x=np.concatenate([p.x for p in packs]),
        edge_raw=np.concatenate([p.edge_raw for p in packs]),
        graph_raw=np.concatenate([p.graph_raw for p in packs]),
        rowptr=cat("rowptr", sent[:-1], skip=1),
        src=cat("src", nodes[:-1]),
        dst=cat("dst", nodes[:-1]),
        graph=cat("graph", np.arange(len(packs))),
        offsets=cat("offsets", nodes[:-1], skip=1),
        legal=np.concatenate([p.legal for p in packs]),
    )


def relabelled(problem: Problem, state: State, permutation: NDArray[np.int64]) -> State:
    """The same state with old node v renamed to permutation[v], by replaying nothing."""
    game = Interpreter(problem)
    fresh = game.reset(state.episode.instance.relabel(problem, permutation))
    old = np.argsort(permutation)
    values = {
        name: relabel_values(problem.feature(name), value, permutation, state.adjacency)
        for name, value in state.features.items()
    }
    return type(state)(
        episode=fresh.episode,
        features=values,
        adjacency=state.adjacency[np.ix_(old, old)],
        phase=state.phase,
        last=tuple(-1 if v < 0 else int(permutation[v]) for v in state.last),
        picks=tuple(int(permutation[v]) for v in state.picks),
        rounds=state.rounds,
        potential=state.potential,
        ended=state.ended,
    )
