"""A small spec with experts that are made for each instance, for several tests."""

from __future__ import annotations

from gnarl_dsl.loading import loads
from gnarl_dsl.model import Problem

COVER = """gnarl 1
problem cover
graph undirected
features
  w   input  node  scalar  ~ uniform(0, 1)
  on  state  node  mask    = false
phase pick(v)
  allow not on[v]
  update
    on[v] := true
horizon n rounds
terminate when forall (x, y) in edges: on[x] or on[y]
valid forall (x, y) in edges: on[x] or on[y]
objective lit = -sum(x in nodes where on[x]: w[x])
"""
RULES = """
expert heavy
  pick: uniform v where exists y in neighbors(v): not on[y] maximising degree(v)
expert light
  pick: uniform v where exists y in neighbors(v): not on[y] minimising w[v]
"""
MADE = """
expert better = best of heavy, light
expert found = search lit work 300
instances er
  train 40  er(n = 8, p = 0.4)
  valid 20  er(n = 8, p = 0.4)
  test 20  er(n = 8, p = 0.4)
"""


def made_problem() -> Problem:
    return loads(COVER + RULES + MADE)
