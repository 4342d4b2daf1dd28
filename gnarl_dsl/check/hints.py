"""What someone wrote and what was wanted in, a likely remedy out.

The tables hold words of other languages and libraries, with what is written here instead.
"""

from __future__ import annotations

from gnarl_dsl import model
from gnarl_dsl.check.types import Kind, Type, Typed
from gnarl_dsl.model.kinds import NODE_VALUE, NUMBER, TRUTH


def operand_fix(typed: Typed) -> str:
    """For what stands where a number is needed, and is none."""
    if typed.type.kind is TRUTH:
        return "Count them: `count(x in nodes where …)`, or choose: `if … then 1 else 0`."
    if typed.type.kind is NODE_VALUE:
        return "Nodes have no numbers; keep a number per node in a scalar feature."
    return f"Compare it instead, as in `… == {typed.type.choices[0]}`."


def compare_fix(left: Type, right: Type) -> str | None:
    if {left.kind, right.kind} == {TRUTH, NUMBER}:
        return "A truth value is a condition by itself: write it alone, or with `not`."
    if {left.kind, right.kind} == {TRUTH, NODE_VALUE}:
        return "Compare nodes with nodes; whether a node is marked is read by `mask[v]`."
    return None


def type_fix(typed: Typed, wanted: Type) -> str | None:
    known = isinstance(typed.expr, model.Boolean)
    fixes: dict[tuple[Kind, Kind], str | None] = {
        (TRUTH, NUMBER): "Compare it with something, as in `… > 0`.",
        (TRUTH, NODE_VALUE): (
            "Compare it with another node, as in `v == s`, or read a mask: `mask[v]`."
        ),
        (NUMBER, TRUTH): (
            None if known else "Write `if … then 1 else 0`, or count: `count(x in nodes where …)`."
        ),
        (NODE_VALUE, NUMBER): (
            "Nodes have no numbers; name one, such as a pick or a `mask_one` feature."
        ),
    }
    return fixes.get((wanted.kind, typed.type.kind))


def bare_builtin_fix(name: str) -> str:
    if name == "edges":
        return "`edges` is a set: use it as in `forall (x, y) in edges: …`; their number is `m`."
    if name == "nodes":
        return "`nodes` is a set: use it as in `forall x in nodes: …`; their number is `n`."
    if name == "acyclic":
        return "Call it: `acyclic()`, or `acyclic((u, v) in edges where …)`."
    return f"Call it: `{name}(…)`."


FOREIGN_NAMES = {
    "True": "Write `true`.",
    "False": "Write `false`.",
    "None": "Nothing is ever null; a value that may be unset is given a default by `otherwise`.",
    "null": "Nothing is ever null; a value that may be unset is given a default by `otherwise`.",
    "infinity": "Write `inf`.",
    "N": "The number of nodes is `n`.",
    "V": "The set of nodes is `nodes`, their number `n`.",
    "E": "The set of edges is `edges`, their number `m`.",
}
_REACHED = "Write `distance(x, y) < inf`, or compare `component(x)` with `component(y)`."
_REMAINDER = "There is no remainder; `a - b * floor(a / b)` is one."
FOREIGN_FUNCTIONS = {
    **dict.fromkeys(["reachable", "reaches", "connected", "is_connected", "has_path"], _REACHED),
    **dict.fromkeys(["mod", "modulo", "remainder"], _REMAINDER),
    **dict.fromkeys(
        ["cyclic", "has_cycle", "is_acyclic"], "Write `acyclic()`, or `not acyclic()`."
    ),
    **dict.fromkeys(["hops", "shortest_path"], "The fewest edges from x to y: `distance(x, y)`."),
    **dict.fromkeys(["find", "find_root"], "The end of a pointer's chain is `root(pred, x)`."),
    "len": "Sizes are `n` (nodes), `m` (edges), `degree(v)`, or `count(x in nodes where …)`.",
    "all": "Write `forall x in nodes: …`.",
    "round": "There are `floor` and `ceil`.",
    "int": "There are `floor` and `ceil`.",
    "sqrt": "There are no roots; compare squares instead.",
    "range": "Write a range as `1..3`.",
}
FOREIGN_GRAPHS = {
    "weighted": "Weights are a feature, such as `A  input  edge  scalar  ~ uniform(0, 1)`.",
    "simple": "Graphs are always simple: leave the word out.",
    "tree": "A tree is `graph undirected connected acyclic`.",
    "dag": "It is `graph directed acyclic`.",
    "dynamic": "A graph whose edges change is `mutable`.",
}
FOREIGN_STAGES = {
    **dict.fromkeys(["static", "const", "constant", "given"], "What is given is `input`."),
    **dict.fromkeys(["variable", "var", "dynamic"], "What updates change is `state`."),
    **dict.fromkeys(["label", "target", "hint", "output"], "A hidden label is `oracle`."),
    **dict.fromkeys(["computed", "formula"], "What follows from a formula is `derived`."),
}
FOREIGN_PLACES = {
    **dict.fromkeys(["vertex", "vertices"], "A vertex is a `node` here."),
    **dict.fromkeys(["arc", "link", "arcs", "links"], "It is an `edge` here."),
    **dict.fromkeys(["global", "scalar"], "What exists once lives on the `graph`."),
}
FOREIGN_TYPES = {
    **dict.fromkeys(["float", "int", "integer", "number", "real"], "Numbers are `scalar`."),
    **dict.fromkeys(["bool", "boolean", "bit"], "Truth values are `mask`."),
    **dict.fromkeys(["enum", "category"], "Write `categorical(a | b | c)`."),
    "node": "A feature that holds a node is a `pointer`.",
}
FOREIGN_SPLITS = {
    **dict.fromkeys(["validation", "val", "dev"], "It is called `valid`."),
    **dict.fromkeys(["eval", "evaluation"], "It is called `test`."),
    "training": "It is called `train`.",
}
FOREIGN_FAMILIES = {
    **dict.fromkeys(["erdos_renyi", "gnp"], "It is called `er`."),
    "gnm_random_graph": "It is called `gnm`.",
    "barabasi_albert": "It is called `ba`.",
    **dict.fromkeys(["watts_strogatz", "small_world"], "It is called `ws`."),
    "clique": "It is called `complete`.",
}
