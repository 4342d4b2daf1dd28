"""A syntax tree in, what it declares by name out, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax import ast


class Kind(Enum):
    """What a declared name is, in a word that can be shown."""

    PROBLEM = "problem"
    PARAM = "param"
    FEATURES = "features"
    FEATURE = "feature"
    LET = "let"
    PHASE = "phase"
    CLAUSE = "clause"
    OBJECTIVE = "objective"
    REWARD = "reward"
    METRIC = "metric"
    EXPERT = "expert"
    INSTANCES = "instances"
    EXTERN = "extern"


Named = (
    ast.ProblemHead
    | ast.Param
    | ast.Feature
    | ast.Let
    | ast.Phase
    | ast.Objective
    | ast.Reward
    | ast.Metric
    | ast.Expert
    | ast.MadeExpert
    | ast.Instances
    | ast.Extern
)
Clause = (
    ast.Horizon
    | ast.Limit
    | ast.Terminate
    | ast.Stop
    | ast.Valid
    | ast.Correct
    | ast.Observe
    | ast.Messages
)
Declaration = Named | Clause | ast.Features
_KINDS: dict[type[ast.Tree], Kind] = {
    ast.ProblemHead: Kind.PROBLEM,
    ast.Param: Kind.PARAM,
    ast.Feature: Kind.FEATURE,
    ast.Let: Kind.LET,
    ast.Phase: Kind.PHASE,
    ast.Objective: Kind.OBJECTIVE,
    ast.Reward: Kind.REWARD,
    ast.Metric: Kind.METRIC,
    ast.Expert: Kind.EXPERT,
    ast.MadeExpert: Kind.EXPERT,
    ast.Instances: Kind.INSTANCES,
    ast.Extern: Kind.EXTERN,
}


@dataclass(frozen=True)
class Symbol:
    """A declaration: its name, where the name stands, and the whole of it."""

    kind: Kind
    name: str
    at: Span
    tree: Declaration
    parts: tuple[Symbol, ...] = ()


def symbols_of(tree: ast.Spec) -> Iterator[Symbol]:
    """One symbol per block that declares or demands something."""
    for block in tree.blocks:
        match block:
            case ast.Version() | ast.GraphDecl() | ast.Drop():
                continue
            case ast.Features():
                parts = tuple(named(feature) for feature in block.features)
                yield Symbol(Kind.FEATURES, "features", block.span, block, parts)
            case (
                ast.Horizon()
                | ast.Limit()
                | ast.Terminate()
                | ast.Stop()
                | ast.Valid()
                | ast.Correct()
                | ast.Observe()
                | ast.Messages()
            ):
                word = type(block).__name__.lower()
                yield Symbol(Kind.CLAUSE, word, block.span, block)
            case (
                ast.ProblemHead()
                | ast.Param()
                | ast.Let()
                | ast.Phase()
                | ast.Objective()
                | ast.Reward()
                | ast.Metric()
                | ast.Expert()
                | ast.MadeExpert()
                | ast.Instances()
                | ast.Extern()
            ):
                yield named(block)
            case _:
                assert_never(block)


def named(tree: Named) -> Symbol:
    """The symbol of a declaration that has a name."""
    return Symbol(_KINDS[type(tree)], tree.name.text, tree.name.span, tree)
