"""The words of the language, each with its group and a sentence: the table editors read.

`tests/editing/test_editors.py` keeps the keywords equal to the terminals of grammar.lark and the
other words equal to gnarl_dsl/language, so that a new word cannot be forgotten by an editor.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gnarl_dsl.language.registered import FUNCTIONS
from gnarl_dsl.language.signatures import CHOICE
from gnarl_dsl.language.words import SEARCH_WORK, WORK
from gnarl_dsl.model import kinds

_NAME = "[A-Za-z_][A-Za-z0-9_]*"


class Group(Enum):
    """How a keyword is used, which decides its colour."""

    BLOCK = "starts a block at the left margin"
    CLAUSE = "belongs to a block"
    CONTROL = "chooses or repeats"
    LOGIC = "joins conditions"
    FOLD = "goes over a set"
    CONSTANT = "is a value"


_BLOCKS = {
    "gnarl": "The version of the language: `gnarl 1`, the first line of every spec.",
    "problem": "The problem's name, what it `extends`, and below it a sentence about it.",
    "param": "A constant that can be set from outside: `param eps = 0.1`.",
    "graph": "What graphs the problem is about: `graph undirected connected`.",
    "features": "The tables of values: name, stage, location, type, formula or source.",
    "let": "Names a formula: `let open(x) = …`. It is evaluated where it is used.",
    "phase": "A pick of one node: `phase add(v)`, with `allow` and `update` below it.",
    "horizon": "The most rounds an episode can take; may not read an oracle.",
    "limit": "Rounds after which an episode is cut off; may read an oracle.",
    "terminate": "`terminate when CONDITION` ends an episode after a round.",
    "valid": "What must hold wherever an episode can end. Formulas can use it by this name.",
    "correct": "What makes an end a right answer; may read an oracle. Formulas can use it.",
    "objective": "A number to be maximised: `objective cover = …`.",
    "reward": "What a step pays: `reward NAME potential | terminal | step = FORMULA`.",
    "metric": "A figure that evaluations report; may read an oracle.",
    "expert": "Who shows how it is done: a choice per phase, or `= greedy OBJECTIVE`, "
    "`= search OBJECTIVE`, `= best of A, B`.",
    "instances": "Where graphs come from: splits, sizes and families of random graphs.",
    "drop": "Leaves out a part of the spec that this one extends: `drop expert slow`.",
}
_CLAUSES = {
    "extends": "`problem NAME extends OTHER` starts from another spec.",
    "allow": "Which nodes may be picked in a phase; every node if it is left out.",
    "update": "What picking a node changes: assignments, `if`, `for`, `let`.",
    "rounds": "Ends `horizon` and `limit`. A round is one pick in every phase.",
    "when": "`terminate when P`, `phase NAME(v) when P`, `may stop when P`: only where P holds.",
    "uniform": "Any of the nodes that follow, with the same probability; or a source of numbers.",
    "minimising": "Among these nodes, those with the least value.",
    "maximising": "Among these nodes, those with the greatest value.",
}
_CONTROLS = {
    "if": "`if A then b else c` in a formula; `if A` with lines below it in an update.",
    "then": "The value if the condition holds.",
    "else": "The value, the statements or the choice if the condition does not hold.",
    "for": "A loop in an update. It is parallel: all reads come before all writes.",
    "in": "Goes through a set: `x in nodes`, `(x, y) in edges`, `i in 1..3`.",
    "where": "Leaves out what does not meet a condition.",
}
_LOGIC = {
    "and": "Both conditions hold.",
    "or": "At least one condition holds.",
    "not": "The opposite of a condition.",
    "otherwise": "A value for what may be unset: `last(add) otherwise s`.",
}
_FOLDS = {
    "exists": "Whether one element meets a condition: `exists y in neighbors(x): P`.",
    "forall": "Whether every element meets a condition: `forall x in nodes: P`.",
    "count": "The number of elements: `count(x in nodes where P)`.",
    "sum": "Values added up: `sum(x in nodes: w[x])`.",
    "min": "The least of some numbers, or over a set: `min(x in nodes: d[x])`.",
    "max": "The greatest of some numbers, or over a set: `max(x in nodes: d[x])`.",
    "argmin": "`any argmin(…)`: the node with the least value; unset over nothing.",
    "argmax": "`any argmax(…)`: the node with the greatest value; unset over nothing.",
    "any": "`any(x in nodes where P)`: one of these nodes; unset if there is none. Ties, those of "
    "`any argmin` and `any argmax` too, go to the lowest hidden rank.",
    "last": "`last(PHASE)`: the most recent pick of a phase, which may be unset.",
}
_CONSTANTS = {
    "true": "The condition that always holds.",
    "false": "The condition that never holds.",
    "inf": "A number above all others. It cannot be stored in a feature.",
}

# Starts a block, but is a free name everywhere else, so it is no keyword.
EXTERN = (
    "Code that whoever plays this spec brings: `extern NAME(PARAM : TYPE) : LOCATION TYPE`. "
    "Nothing here runs it."
)

GROUPS: Mapping[Group, Mapping[str, str]] = {
    Group.BLOCK: _BLOCKS,
    Group.CLAUSE: _CLAUSES,
    Group.CONTROL: _CONTROLS,
    Group.LOGIC: _LOGIC,
    Group.FOLD: _FOLDS,
    Group.CONSTANT: _CONSTANTS,
}
KEYWORDS: Mapping[str, str] = {
    word: doc for words in GROUPS.values() for word, doc in words.items()
}
# Blocks whose second word is a new name.
DECLARING = (
    *("problem", "param", "let", "phase", "objective"),
    *("reward", "metric", "expert", "instances", "extern"),
)

# Words that mean something in one place only; elsewhere they are free.
WINDOWS = {
    "observe": "Which nodes the network reads: `observe x in nodes where P`; several lines unite.",
    "messages": "Along which edges messages run: `messages (x, y) in edges where P`.",
}
WINDOW_PARTS = {
    "first": "`minimising E first N` in `observe` and `messages`: the best so many.",
}
STOP = {
    "may": "`may stop`, `may stop when P`: at the start of a round, ending is one more choice.",
    "stop": "`may stop`: the episode ends here, and counts no further round.",
}
# A line that says what the network reads, or that whoever plays may end an episode.
WINDOW_LINE = (
    rf"^(?:(?:{'|'.join(WINDOWS)})(?=\s+(?:\(|{_NAME}\s))|may[ \t]+stop(?=[ \t]*(?:$|#|when\b)))"
)
STAGES = {stage.name: stage.doc for stage in kinds.STAGES.values()}
PLACES = {place.name: place.doc for place in kinds.PLACES.values()}
TYPES = {kind.name: kind.doc for kind in kinds.TYPES.values()}
GRAPH_WORDS = {
    "directed": "An edge has a source and a target.",
    "undirected": "`edge(u, v)` and `edge(v, u)` are the same.",
    "connected": "Generated instances are connected.",
    "complete": "Every two nodes are joined.",
    "acyclic": "Generated instances have no cycle.",
    "mutable": "Updates can add and remove edges.",
}
REWARD_KINDS = {
    "potential": "After each round: the value now minus the value after the round before.",
    "terminal": "At the end, whichever way the episode ends: the value there.",
    "step": "After each round: the value then.",
}
EXPERT_WAYS = {
    "greedy": "`greedy OBJECTIVE` tries every pick and takes the one with the best objective.",
    "search": "`search OBJECTIVE` or `search correct`: the best episode that some work finds; "
    f"`{WORK} N` says how many picks, {SEARCH_WORK} unless told.",
    "best": "`best of A, B`: for each instance the expert whose play ends best.",
}
EXPERT_PARTS = {
    "of": "`best of A, B`: these experts are compared on each instance.",
    WORK: f"`{WORK} N`: how many picks a search may try per instance, {SEARCH_WORK} unless told.",
}
SPLITS = {
    "train": "Graphs to learn from.",
    "valid": "Graphs that choose between checkpoints.",
    "test": "Graphs that are only evaluated on.",
}

# A feature line up to its type, in groups: name, stage, location, position, type. Elsewhere these
# words are free, and specs use some of them as names.
FEATURE_LINE = (
    r"^([ \t]*)([A-Za-z_][A-Za-z0-9_]*)([ \t]+)"
    rf"({'|'.join(STAGES)})([ \t]+)({'|'.join(PLACES)})(\([^)\n]*\))?([ \t]+)"
    rf"({'|'.join(sorted(TYPES, reverse=True))})\b"
)

# Names that formulas know without a declaration, as they are written.
FORMULA_NAMES: Mapping[str, tuple[str, str]] = {
    "n": ("n", "The number of nodes."),
    "m": ("m", "The number of edges; an undirected edge counts once."),
    "nodes": ("nodes", "The set of all nodes."),
    "edges": ("edges", "The set of all edges: `(x, y) in edges`."),
    "edge": ("edge(u, v)", "Whether there is an edge from u to v."),
    "abs": ("abs(a)", "A number without its sign."),
    "ceil": ("ceil(a)", "The least whole number that is not below a."),
    "floor": ("floor(a)", "The greatest whole number that is not above a."),
    "neighbors": ("neighbors(v)", "The nodes joined to v; undirected graphs only."),
    "successors": ("successors(v)", "The targets of v's edges; directed graphs only."),
    "predecessors": ("predecessors(v)", "The sources of edges to v; directed graphs only."),
    "degree": ("degree(v)", "The number of neighbours; undirected graphs only."),
    "out_degree": ("out_degree(v)", "The number of successors; directed graphs only."),
    "in_degree": ("in_degree(v)", "The number of predecessors; directed graphs only."),
    "depth": (
        "depth(pointer, x, target)",
        "Steps from x to the target along a pointer feature; `inf` if it is never met. Without a "
        "target: to a node that points to itself.",
    ),
    "distance": (
        "distance(x, y)",
        "The fewest edges from x to y, `inf` if there is no way; of a part of the graph with "
        "`distance(u in nodes where P: x, y)` or `distance((u, v) in edges where P: x, y)`. "
        "`distance(points, x, y)`: how far they are apart, by a feature of points.",
    ),
    "component": (
        "component(x)",
        "A node that stands for all that hang together with x, the one of the lowest hidden rank. "
        "Of a part of the graph with `component(u in nodes where P: x)`, unset if x is not in it.",
    ),
    "acyclic": (
        "acyclic(u in nodes where P)",
        "Whether a part of the graph has no cycle; `acyclic()` asks about the whole graph.",
    ),
    "path_cost": (
        "path_cost(pointer, weight, x, target)",
        "The weights of the steps from x to the target along a pointer feature; `inf` if it is "
        "never met. Without a target: to a node that points to itself.",
    ),
    "on_cycle": (
        "on_cycle(pointer, x)",
        "Whether the chain of pointers from x comes back to x.",
    ),
    "root": (
        "root(pointer, x)",
        "The node that points to itself at the end of the chain from x; unset if it circles.",
    ),
}
# All that formulas know without a declaration, registered functions included.
BUILTIN_NAMES = tuple(name for name in (*FORMULA_NAMES, *FUNCTIONS) if name not in KEYWORDS)


def function_form(name: str) -> str:
    """A registered function with the kinds of its arguments and of its result."""
    known = FUNCTIONS[name]
    args = [" | ".join(known.choices) if arg is CHOICE else arg.noun for arg in known.args]
    return f"{name}({', '.join(args)}) → {known.place} {known.type}"


def function_doc(name: str) -> str:
    """What a registered function gives, and whether it counts as a label."""
    known = FUNCTIONS[name]
    graphs = {None: "", True: " Directed graphs only.", False: " Undirected graphs only."}
    label = " Counts as reading an oracle." if known.oracle else ""
    return f"{known.doc[:1].upper()}{known.doc[1:]}.{graphs[known.directed]}{label}"
