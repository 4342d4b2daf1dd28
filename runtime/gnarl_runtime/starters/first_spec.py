"""A name and three answers in, the text of a spec out; each is a small problem of its own.

They are written to be changed: a comment stands where most people will want something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gnarl_dsl.format.house_style import format_text
from gnarl_runtime.starters.choices import Family, Goal, Graphs, Picked

_HEAD = """\
gnarl 1
problem {name}
  "{doc}"

# A start, to be changed. gnarl-compile says what is wrong as you go, gnarl-check what is not meant.
"""
_FEATURES = "# What a graph brings (input) and what picks change (state); the policy sees both."
_PHASES = "# What may be picked, and what picking it does."
_ENDING = "# When it is over, and how an end is judged."
_EXPERT = "# Whom to imitate, or to beat: of these, the most."
_GRAPHS = "# Graphs to learn from, to choose by and to be measured on."


def first_spec(name: str, picked: Picked, goal: Goal, graphs: Graphs) -> str:
    """A spec in house style that compiles, passes its check and can be trained as it is."""
    family = graphs.means
    doc, body = _BODIES[picked, goal](family)
    head = _HEAD.format(name=name, doc=doc)
    instances = f"{_GRAPHS}\n{family.instances()}"
    return format_text(f"{head}{body}\n{instances}")


def _cover(family: Family) -> tuple[str, str]:
    """Nodes, best."""
    if "complete" in family.kind:
        return _centres(family)
    doc = "Pick nodes of little weight until every node is picked or next to a picked one."
    body = f"""
graph {family.kind}

{_FEATURES}
features
  w       input  node  scalar  ~ uniform(0, 1)  "price of a node"
  picked  state  node  mask    = false

let covered(x) = picked[x] or exists y in {family.into}(x): picked[y]
let gain(x)    = count(y in {family.out}(x) where not covered(y)) + (if covered(x) then 0 else 1)

{_PHASES}
phase pick(v)
  allow gain(v) > 0  # `not picked[v]` would allow useless picks, too
  update
    picked[v] := true

{_ENDING}
horizon n rounds
terminate when forall x in nodes: covered(x)
valid          forall x in nodes: covered(x)
objective thrift = -sum(x in nodes where picked[x]: w[x])  # greater is better

{_EXPERT}
expert cheapest
  pick: uniform v minimising w[v] / gain(v)
expert lightest = greedy thrift
"""
    return doc, body


def _centres(family: Family) -> tuple[str, str]:
    """Nodes, best, where all are neighbours."""
    doc = "Open a few places so that the ways of all to their nearest open one are short together."
    body = f"""
param k = 3  "how many"
graph {family.kind}

{_FEATURES}
features
  A     input  edge     scalar  ~ euclidean  "way between two places"
  open  state  node     mask    = false
  near  state  node(x)  scalar  = farthest(x)  "to the nearest open place"

let farthest(x) = max(0, max(y in neighbors(x): A[x, y]))

{_PHASES}
phase choose(v)
  allow not open[v]
  update
    open[v] := true
    near[v] := 0
    for x in neighbors(v)
      near[x] := min(near[x], A[x, v])

{_ENDING}
horizon min(k, n) rounds
objective thrift = -sum(x in nodes: near[x])  # greater is better

{_EXPERT}
expert greedy = greedy thrift
expert farthest
  choose: uniform v maximising near[v]
"""
    return doc, body


def _team(family: Family) -> tuple[str, str]:
    """Nodes, right."""
    near = family.near
    doc = "Pick nodes by weight: no two are neighbours, and who is left out has a heavier one."
    body = f"""
graph {family.kind}

{_FEATURES}
features
  w       input  node  scalar  ~ uniform(0, 1)
  picked  state  node  mask    = false

{family.joined}let beside(x)     = exists {near("x")}picked[y]
let decided(x)    = picked[x] or beside(x)
let outweighed(x) = exists {near("x")}picked[y] and w[y] >= w[x]

{_PHASES}
phase pick(v)
  allow not decided(v)  # a wrong node may be picked: what is right is to be learned
  update
    picked[v] := true

{_ENDING}
horizon n rounds
terminate when forall x in nodes: decided(x)
correct forall x in nodes: if picked[x] then not beside(x) else outweighed(x)

{_EXPERT}
expert heaviest
  pick: uniform v where not exists {near("v")}not decided(y) and w[y] > w[v]
"""
    return doc, body


def _pairs(family: Family) -> tuple[str, str]:
    """Edges, best."""
    source = "euclidean" if "complete" in family.kind else "uniform(0, 1)"
    doc = "Pair nodes along edges of large weight together; nobody is in two pairs."
    body = f"""
graph {family.kind}

{_FEATURES}
features
  A       input  edge  scalar  ~ {source}  "worth of a pair"
  taken   state  node  mask    = false  "is in a pair"
  paired  state  edge  mask    = false

{_PHASES}
# An edge is two picks: where it starts, and where it leads.
phase from(u)
  allow not taken[u] and exists y in {family.out}(u): not taken[y]
phase to(v)
  allow edge(u, v) and not taken[v]
  update
    paired[u, v] := true
    taken[u]     := true
    taken[v]     := true

{_ENDING}
horizon n rounds
objective worth = sum((x, y) in edges where paired[x, y]: A[x, y])  # greater is better

{_EXPERT}
expert dearest
  from: uniform u maximising max(y in {family.out}(u) where not taken[y]: A[u, y])
  to:   uniform v maximising A[u, v]
expert any_pair
  from: uniform u where not taken[u]
  to:   uniform v where not taken[v]
"""
    return doc, body


def _paths(family: Family) -> tuple[str, str]:
    """Edges, right."""
    doc = "Grow a tree of shortest paths from s, one edge per round."
    body = f"""
graph {family.kind}

{_FEATURES}
features
  A        input  edge     scalar    ~ uniform(0, 1)  "length of an edge"
  s        input  node     mask_one  ~ any_node  "where paths start"
  reached  state  node(x)  mask      = s[x]
  d        state  node     scalar    = 0  "length of the path from s"

let open(x)   = reached[x] and exists y in {family.out}(x): not reached[y]
let next(x)   = min(y in {family.out}(x) where not reached[y]: d[x] + A[x, y])

{_PHASES}
# An edge is two picks: where it starts, and where it leads.
phase from(u)
  allow open(u)
phase to(v)
  allow edge(u, v) and not reached[v]  # a wrong edge may be picked: what is right is to be learned
  update
    reached[v] := true
    d[v]       := d[u] + A[u, v]

{_ENDING}
horizon n - 1 rounds
correct forall x in nodes, y in {family.out}(x): not reached[x] or d[y] <= d[x] + A[x, y]

{_EXPERT}
expert nearest
  from: uniform u minimising next(u)
  to:   uniform v minimising A[u, v]
"""
    return doc, body


_ROW = """\
  placed  state  node  mask    = false
  place   state  node  scalar  = 0  "share of the row that was full before the node came"
"""
_NEXT = """\
phase next(v)
  allow not placed[v]
  update
    place[v]  := count(x in nodes where placed[x]) / n
    placed[v] := true
"""


def _row(family: Family) -> tuple[str, str]:
    """An order, best."""
    if "complete" in family.kind:
        return _tour(family)
    if family.directed:
        doc = "Put all nodes in a row so that many edges lead forward."
        objective = (
            "objective forward = count((x, y) in edges where "
            "placed[x] and placed[y] and place[x] < place[y])"
        )
        rule = "minimising count(y in predecessors(v) where not placed[y])"
    else:
        doc = "Put all nodes in a row so that edges are short together."
        objective = (
            "objective shortness = -sum((x, y) in edges where placed[x] and placed[y]:\n"
            "                           max(place[x] - place[y], place[y] - place[x]))"
        )
        rule = (
            "minimising count(y in neighbors(v) where not placed[y])\n"
            "                          - count(y in neighbors(v) where placed[y])"
        )
    body = f"""
graph {family.kind}

{_FEATURES}
features
{_ROW}
{_PHASES}
{_NEXT}
{_ENDING}
horizon n rounds
valid forall x in nodes: placed[x]
{objective}  # greater is better

{_EXPERT}
expert settling
  next: uniform v {rule}
"""
    return doc, body


def _tour(family: Family) -> tuple[str, str]:
    """An order, best, where all are neighbours."""
    doc = "Visit all places and come home, in an order that makes the way short."
    body = f"""
graph {family.kind}

{_FEATURES}
features
  A        input  edge     scalar   ~ euclidean  "way between two places"
  visited  state  node     mask     = false
  next     state  node(x)  pointer  = x  "where the tour goes on"

let length = sum(x in nodes: A[x, next[x]])

{_PHASES}
phase visit(v)
  allow not visited[v]
  update
    let here = last(visit) otherwise v
    visited[v] := true
    next[v]    := next[here]
    next[here] := v

{_ENDING}
horizon n rounds
valid forall x in nodes: visited[x]
objective shortness = -length  # greater is better

{_EXPERT}
expert nearest
  visit: uniform v minimising A[last(visit) otherwise v, v]
expert greedy = greedy shortness
"""
    return doc, body


def _sorting(family: Family) -> tuple[str, str]:
    """An order, right."""
    if family.directed:
        doc = "Put all nodes in a row so that every edge leads forward."
        weight, right = "", "forall (x, y) in edges: place[x] < place[y]"
        ready = "not exists y in predecessors(v): not placed[y]"
        kind = f"{family.kind} acyclic"
    else:
        doc = "Put all nodes in a row, heavier ones in front of their lighter neighbours."
        weight = "  w       input  node  scalar  ~ uniform(0, 1)\n"
        right = "forall x in nodes, y in neighbors(x): w[x] <= w[y] or place[x] < place[y]"
        ready = "not exists y in neighbors(v): not placed[y] and w[y] > w[v]"
        kind = family.kind
    body = f"""
graph {kind}

{_FEATURES}
features
{weight}{_ROW}
{_PHASES}
{_NEXT}
{_ENDING}
horizon n rounds
valid forall x in nodes: placed[x]
correct valid and {right}

{_EXPERT}
expert ready
  next: uniform v where {ready}
"""
    return doc, body


_BODIES: Mapping[tuple[Picked, Goal], Callable[[Family], tuple[str, str]]] = {
    (Picked.NODES, Goal.BEST): _cover,
    (Picked.NODES, Goal.RIGHT): _team,
    (Picked.EDGES, Goal.BEST): _pairs,
    (Picked.EDGES, Goal.RIGHT): _paths,
    (Picked.ORDER, Goal.BEST): _row,
    (Picked.ORDER, Goal.RIGHT): _sorting,
}
