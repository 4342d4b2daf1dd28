"""Graph files for tests: a good one of each kind, and what is wrong with many others."""

from __future__ import annotations

import json
from typing import Any

TSP = """NAME: three
TYPE: TSP
COMMENT: 3-4-5: a triangle
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0.0 0.0
3 3.3 0
2 0 4.4
EOF
"""
VRP = """NAME: three
TYPE: CVRP
COMMENT: a triangle
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 0 4.4
3 3.3 0
DEMAND_SECTION
1 5
2 0
3 7
DEPOT_SECTION
 1
 -1
EOF
"""
MATRIX = """NAME: three
TYPE: TSP
DIMENSION: 3
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: {form}
EDGE_WEIGHT_SECTION
{numbers}
EOF
"""
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="A" attr.type="double"><default>2</default></key>
  <key id="d1" for="node" attr.name="s" attr.type="boolean"/>
  <graph id="G" edgedefault="undirected">
    <node id="x"><data key="d1">false</data></node>
    <node id="y"><data key="d1">true</data></node>
    <node id="z"><data key="d1">false</data></node>
    <edge source="x" target="y"><data key="d0">0.5</data></edge>
    <edge source="z" target="y"/>
  </graph>
</graphml>
"""
LINKED: dict[str, Any] = {
    "directed": False,
    "multigraph": False,
    "graph": {"s": "b"},
    "nodes": [{"id": "a"}, {"id": "b"}, {"id": 7}],
    "edges": [
        {"source": "a", "target": "b", "weight": 0.25},
        {"source": 7, "target": "b", "weight": 1},
    ],
}


def swap(old: str, new: str, text: str) -> str:
    assert old in text
    return text.replace(old, new)


def linked(**changes: Any) -> str:
    return json.dumps({**LINKED, **changes})


BOMB = """<?xml version="1.0"?>
<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<graphml><graph edgedefault="undirected"><node id="&b;"/></graph></graphml>
"""
FULL = MATRIX.format(form="FULL_MATRIX", numbers="0 1 2 1 0 3 2 9 0")

BAD: list[tuple[str, str | bytes, str]] = [
    ("x.edges", "", ":1: the file is empty"),
    ("x.edges", "# only\n", "comments only"),
    ("x.edges", "a b\na b c d\n", ":2: found 4 words, expected `u v` or `u v weight`"),
    ("x.edges", "a b 1\nb c\n", ":2: found 2 words, but the first edge"),
    ("x.edges", "a b 1\nb c x1\n", ":2: `x1` is not a number"),
    ("x.edges", "a b 1_0\n", "`1_0` is not a number"),
    ("x.edges", "a b nan\n", "`nan` is not a number"),
    ("x.edges", "a b 1e39\n", "1e39 is too large"),
    ("x.edges", "a b 1\n\nc c 2\n", ":3: c - c joins a node to itself; likely fix"),
    ("x.edges", "a b 1\nb c 1\nb a 2\n", ":3: b - a was given before ("),
    ("x.edges", "a b 1\nc d 1\n", "falls into 2 parts"),
    ("x.edges", b"a b 1\n\xff\xfe c 1\n", ":2: this is not UTF-8"),
    ("x.edges", "\n".join(f"a {k}" for k in range(10_001)), "more than 10,000 nodes"),
    ("x.gr", "c only\n", "comments only"),
    ("x.gr", "1 2\n", ":1: expected the header first"),
    ("x.gr", "p tw 3\n", "expected `p KIND N M`"),
    ("x.gr", "p xy 3 1\n", "KIND one of tw"),
    ("x.gr", "p tw 0 0\n", "the number of nodes is `0`, expected a whole number from 1"),
    ("x.gr", "p tw 99999999999999999999 1\n", "the number of nodes is"),
    ("x.gr", "p tw 999999999 1\n1 2\n", "expected at most 10,000"),
    ("x.gr", "p tw 3 2\n1 2\n", ":1: the header promises 2 edges, found 1"),
    ("x.gr", "p tw 3 1\n1 2\n2 3\n", ":3: more edges than the header promises (1)"),
    ("x.gr", "p tw 3 1\n0 2\n", ":2: there is no node 0, expected 1 to 3; nodes count from 1"),
    ("x.gr", "p tw 3 1\n1 4\n", "there is no node 4"),
    ("x.gr", "p tw 3 1\n1 b\n", "the node is `b`, expected a whole number"),
    ("x.gr", "p tw 3 1\np tw 3 1\n", ":2: a second header"),
    ("x.gr", "p sp 2 1\na 1 2 1\n", ":2: 1 - 2 goes one way only"),
    ("x.gr", "p sp 2 2\na 1 2 1\na 2 1 2\n", "expected the same both ways"),
    ("x.gr", "p sp 2 1\n1 2 1\n", "found `1`, expected `a u v`"),
    ("x.col", "p edge 2 1\ne 1\n", "found 2 words, expected `e u v`"),
    ("x.graphml", BOMB, ":2: document types and entities are not read"),
    ("x.graphml", BOMB.replace('version="1.0"', 'version="1.0" encoding="utf-16"').encode("utf-16"),
     "document types and entities are not read"),
    ("x.graphml", "<graphml><graph></graphml>", ":1: not well-formed XML"),
    ("x.graphml", "<graphml/>", "there is no <graph>"),
    ("x.graphml", swap('target="y"/>', 'target="q"/>', GRAPHML), ":10: there is no node 'q'"),
    ("x.graphml", swap('id="z"', 'id="x"', GRAPHML), ":8: node 'x' was given before"),
    ("x.graphml", swap(">0.5<", ">half<", GRAPHML), ":9: `half` is not a number"),
    ("x.graphml", swap(">true<", ">yes<", GRAPHML), ":7: `yes` is not true or false"),
    ("x.graphml", swap('key="d0"', 'key="d9"', GRAPHML), "there is no <key id='d9'>"),
    ("x.graphml", swap(' id="z"', "", GRAPHML), ":8: <node> has no `id`"),
    ("x.graphml", swap(' source="z"', "", GRAPHML), ":10: <edge> has no `source`"),
    ("x.graphml", swap(">true<", ">false<", GRAPHML), "marks 0 nodes, expected exactly one"),
    ("x.graphml", swap("undirected", "sideways", GRAPHML), "edgedefault is 'sideways'"),
    ("x.graphml", swap('<edge source="z"', '<hyperedge/><edge source="z"', GRAPHML), "<hyperedge>"),
    ("x.graphml", swap("undirected", "directed", GRAPHML), "goes one way only"),
    ("x.graphml", '<?xml version="1.0" encoding="klingon"?><graphml/>', "XML"),
    ("x.json", "{", ":1: "),
    ("x.json", "[" * 100_000, "x.json"),
    ("x.json", "3", "expected an object with `nodes`"),
    ("x.json", '{"nodes": 3}', "nodes: expected a list, found 3"),
    ("x.json", '{"nodes": []}', "edges: expected a list, found nothing"),
    ("x.json", '{"nodes": [], "edges": []}', "has 0 nodes"),
    ("x.json", linked(nodes=[{"id": "a"}, {}]), "nodes[1]: expected an object with `id`"),
    ("x.json", linked(nodes=[{"id": "a"}, {"id": "a"}]), "nodes[1].id: 'a' was given before"),
    ("x.json", linked(nodes=[{"id": None}]), "nodes[0].id: expected a text or a number"),
    ("x.json", linked(nodes=[{"id": "a"}]), "edges[0].target: there is no node 'b'"),
    ("x.json", linked(edges=["a"]), "edges[0]: expected an object with `source`"),
    ("x.json", linked(edges=[LINKED["edges"][0], {"source": 7, "target": "b"}]),
     "edges[1] has no `weight`, but other edges have"),
    ("x.json", linked(edges=[{"source": "a", "target": "b", "weight": "much"}]), "found 'much'"),
    ("x.json", linked(directed="no"), "directed: expected true or false"),
    ("x.json", linked(graph={"s": "q"}), "the input `s` is 'q', which is no node"),
    ("x.json", linked().replace("0.25", "NaN"), "found NaN"),
    ("x.json", linked().replace("0.25", "1e999"), "expected a finite one"),
    ("x.json", linked().replace("0.25", "9" * 5000), "x.json"),
    ("x.tsp", "NAME: x\n", "no `DIMENSION: N`"),
    ("x.tsp", swap("DIMENSION : 3", "DIMENSION : many", TSP), ":4: DIMENSION is `many`"),
    ("x.tsp", swap("DIMENSION : 3", "DIMENSION : 99999", TSP), ":4: 99,999 nodes"),
    ("x.tsp", swap("EUC_2D", "GEO", TSP), ":5: EDGE_WEIGHT_TYPE is `GEO`, expected one of EUC_2D"),
    ("x.tsp", swap("1 0.0 0.0\n", "", TSP), "found coordinates of 2 nodes, DIMENSION says 3"),
    ("x.tsp", swap("1 0.0 0.0\n", "1 0.0\n", TSP), ":7: found 2 words, expected `NODE X Y`"),
    ("x.tsp", swap("1 0.0 0.0\n", "7 0.0 0.0\n", TSP), ":7: there is no node 7"),
    ("x.tsp", swap("1 0.0 0.0\n", "2 0.0 0.0\n", TSP), ":9: node 2 was given before"),
    ("x.tsp", swap("1 0.0 0.0\n", "1 0.0 O.0\n", TSP), ":7: `O.0` is not a number"),
    ("x.tsp", swap("NODE_COORD_SECTION\n", "", TSP), ":6: expected `NAME: VALUE` or a section"),
    ("x.tsp", FULL, "the distance from 2 to 3 is 3, but back it is 9"),
    ("x.tsp", swap(" 9 0", "", FULL), ":7: found 7 numbers, expected 9 for 3 nodes"),
    ("x.tsp", swap("FULL_MATRIX", "DIAGONAL", FULL), "EDGE_WEIGHT_FORMAT is `DIAGONAL`"),
    ("x.tsp", swap("EDGE_WEIGHT_SECTION\n0 1 2 1 0 3 2 9 0\n", "", FULL), "there is no EDGE_W"),
    ("x.csv", "name;far;w\na;b;1\n", ":1: `w` is not a number; expected `u v weight`; if the"),
    ("x.csv", "one,two\n1,2\n2,3\n", ":1: `one,two` names no nodes of the others' kind"),
    ("x.csv", "from,to,A\na,b,1\nb,c\n", ":3: found 2 words, expected 3: from, to, A"),
    ("x.csv", "from,to,A\na,b,1\nb,c,x\n", ":3: `x` is not a number"),
    ("x.csv", "from,to,A\na,b,1\nb,c,\n", ":3 has no `A`, but other edges have"),
    ("x.csv", "from,to,A,A\na,b,1,2\n", ":1: two columns are called `A`"),
    ("x.csv", "from,to,A\na,,1\n", ":2: an edge without a name at one of its ends"),
    ("x.csv", 'from,to,A\n"a,b,1\n', ":2: unexpected end of data; expected quotes to close"),
    ("x.csv", "x,y,x\n1,2,3\n", ":1: two columns are called `x`"),
    ("x.csv", "id,x,y\na,1,2\na,2,3\n", "two nodes have the same name"),
    ("x.graph", "% only\n", "comments only"),
    ("x.graph", "3\n", ":1: found 1 words, expected `N M`"),
    ("x.graph", "3 1 7\n2\n1\n\n", ":1: the format is `007`, expected one of 000"),
    ("x.graph", "99999 1\n", ":1: 99,999 nodes, expected at most"),
    ("x.graph", "3 1\n2\n1\n", ":1: the header promises 3 nodes, found 2 lines"),
    ("x.graph", "2 2\n2\n1\n", ":1: the header promises 2 edges, found 1"),
    ("x.graph", "2 1\n0\n1\n", ":2: there is no node 0, expected 1 to 2; nodes count from 1"),
    ("x.graph", "2 1\n2\n\n", ":2: 2 is a neighbour of 1, but the other way it is not"),
    ("x.graph", "2 1 1\n2 3\n1 4\n", ":2: 1 - 2 weighs 3, but the other way 4"),
    ("x.graph", "2 1 1\n2\n1 4\n", ":2: found 1 words, expected 0 numbers and a neighbour and"),
    ("x.graph", "2 1\n2 2\n1\n", ":2: 1 - 2 was given before"),
    ("x.graph", "2 2\n1 2\n1\n", ":2: 1 - 1 joins a node to itself"),
    ("x.vrp", swap("1 5\n", "", VRP), "found DEMAND_SECTION of 2 nodes, DIMENSION says 3"),
    ("x.vrp", swap("1 5\n", "1\n", VRP), ":12: found 1 words, expected `NODE DEMAND`"),
    ("x.vrp", swap("1 5\n", "4 5\n", VRP), ":12: there is no node 4, expected 1 to 3"),
    ("x.vrp", swap("1 5\n", "2 5\n", VRP), ":13: node 2 was given before"),
    ("x.vrp", swap(" 1\n -1", " 1\n 2\n -1", VRP), ":16: found 2 depots, expected one"),
    ("x.vrp", swap(" 1\n -1", " 9\n -1", VRP), ":16: there is no node 9"),
    ("x.vrp", swap(": 10", ": ten", VRP), ":6: `ten` is not a number"),
    ("x.doc", "a b\n", "unknown kind of file `.doc`"),
]  # fmt: skip
