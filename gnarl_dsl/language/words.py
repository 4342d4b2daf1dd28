"""Words of the language that mean something in one place, and the names that formulas know."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gnarl_dsl.language.operators import OPERATORS
from gnarl_dsl.model.kinds import NODE_VALUE, NUMBER, TRUTH, Value

LET_TYPES: Mapping[str, Value] = {value.name: value for value in (NODE_VALUE, NUMBER, TRUTH)}
GRAPH_WORDS = ("directed", "undirected", "connected", "complete", "acyclic", "mutable")
REWARD_KINDS = ("potential", "terminal", "step")
SPLITS = ("train", "valid", "test")
MATH = tuple(operator.name for operator in OPERATORS.values() if operator.called)
NEAR: Mapping[str, str] = {"neighbors": "both", "successors": "out", "predecessors": "in"}
DEGREES: Mapping[str, str] = {"degree": "both", "out_degree": "out", "in_degree": "in"}
CHASES = ("depth", "path_cost", "on_cycle")
OF_THE_GRAPH = frozenset(["m", "edge", *DEGREES])  # what one look at the graph tells
# Built-ins that are not reserved: what a spec declares comes first.
OPEN = ("distance", "component", "acyclic", "root")


class Way(Enum):
    """How `expert NAME = …` makes an expert, by the word that says so."""

    GREEDY = "greedy"
    SEARCH = "search"
    BEST = "best"


EXPERT_WAYS: Mapping[str, Way] = {way.value: way for way in Way}
WORK = "work"  # the unit of a search's budget: picks, tried ones included
SEARCH_WORK = 2000  # picks per instance where a spec names no budget
MAX_WORK = 1_000_000_000

MAX_FIRST = 1_000_000  # `minimising E first N` in `observe` and `messages`

# Names that already mean something in a formula and cannot be declared again. Registered functions
# are not among them: one more of these must not break a spec that has a name of its own for it.
RESERVED = frozenset(["n", "m", "nodes", "edges", "edge", *MATH, *NEAR, *DEGREES, *CHASES])
