"""Small instances for tests of pools and files, and a problem with inputs of every kind."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_dsl.model import Problem


def few(problem: Problem, count: int = 4) -> list[Instance]:
    """Small instances of several sizes."""
    family = families(choose_split(problem, "train"))[0]
    return [draw_instance(problem, family, 3, k, nodes=4 + k) for k in range(count)]


def oracles_of(problem: Problem) -> tuple[str, ...]:
    return tuple(f.name for f in problem.features if f.stage.name == "oracle")


def assert_same(left: Instance, right: Instance, oracles: bool = False) -> None:
    """Fail unless graph, tags, inputs (and oracles) agree to the bit."""
    assert left.graph.directed == right.graph.directed
    assert np.array_equal(left.graph.adjacency, right.graph.adjacency)
    assert np.array_equal(left.tags, right.tags)
    assert_values(left.inputs, right.inputs)
    if oracles:
        assert_values(left.oracles, right.oracles)


def assert_values(left: Mapping[str, Array], right: Mapping[str, Array]) -> None:
    assert left.keys() == right.keys()
    for name, values in left.items():
        assert values.dtype == right[name].dtype
        assert np.array_equal(values, right[name])


EVERY_TYPE = """
gnarl 1
problem every_type
  "Inputs of every place and type."

graph directed

features
  colour  input   node   categorical(red | green | blue)  ~ given
  level   input   edge   categorical(4)                   ~ given
  near    input   pair   mask                             ~ given
  owner   input   node   pointer                          ~ given
  home    input   graph  pointer                          ~ given
  s       input   node   mask_one                         ~ given
  c       input   graph  scalar                           ~ given
  hint    oracle  edge   mask
  done    state   node   mask                             = false

phase pick(v)
  allow not done[v]
  update
    done[v] := true

horizon n rounds
let special(x) = colour[x] == red or near[x, owner[x]] or x == home or s[x]
terminate when forall x in nodes: done[x] or special(x)
objective total = c * count((x, y) in edges where level[x, y] == 2)
metric hits = count((x, y) in edges where hint[x, y])
"""


def every_type(n: int) -> Instance:
    rng = np.random.default_rng(n)
    graph = Graph(True, (rng.random((n, n)) < 0.5) & ~np.eye(n, dtype=bool))
    inputs = {
        "colour": rng.integers(3, size=n),
        "level": np.where(graph.adjacency, rng.integers(4, size=(n, n)), 0),
        "near": rng.random((n, n)) < 0.5,
        "owner": rng.integers(n, size=n),
        "home": np.asarray(n - 1),
        "s": np.asarray(0),
        "c": np.asarray(0.1),  # not a float32 number: files keep what they are given
    }
    tags = rng.integers(0, 2**63, n).astype(np.uint64)
    return Instance(graph, inputs, tags, {"hint": graph.adjacency.copy()})


ANY_GRAPH = """
gnarl 1
problem any_graph
  "Any kind of graph with any kind of input."

graph {kind}

features
  a     input  edge   scalar    ~ clrs_weight
  b     input  pair   scalar    ~ euclidean
  c     input  graph  scalar    ~ uniform(1, 2)
  w     input  node   scalar    ~ uniform(0, 1)
  s     input  node   mask_one  ~ any_node
  done  state  node   mask      = false

phase pick(v)
  allow not done[v] or s[v]
  update
    done[v] := true

horizon n rounds
objective total = sum(x in nodes: w[x] * c) + sum((x, y) in edges: a[x, y] + b[x, y] + b[y, x])

instances one
  train 9  {generator}
  valid 9  {generator}
  test  9  {generator}
"""
