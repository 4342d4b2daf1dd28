"""The names of this room under one roof, for readers that have not moved to its files yet."""

from __future__ import annotations

from collections.abc import Mapping

from gnarl_dsl.language.registered import FUNCTIONS, GENERATORS, SOURCES
from gnarl_dsl.language.signatures import (
    ArgKind,
    FunctionSignature,
    GeneratorSignature,
    SourceSignature,
)
from gnarl_dsl.language.words import (
    CHASES,
    DEGREES,
    GRAPH_WORDS,
    LET_TYPES,
    MATH,
    NEAR,
    RESERVED,
    REWARD_KINDS,
    SPLITS,
)
from gnarl_dsl.model import kinds

STAGES = tuple(kinds.STAGES)
PLACES: Mapping[str, int] = {name: place.width for name, place in kinds.PLACES.items()}
TYPES = tuple(kinds.TYPES)

__all__ = [
    "CHASES",
    "DEGREES",
    "FUNCTIONS",
    "GENERATORS",
    "GRAPH_WORDS",
    "LET_TYPES",
    "MATH",
    "NEAR",
    "PLACES",
    "RESERVED",
    "REWARD_KINDS",
    "SOURCES",
    "SPLITS",
    "STAGES",
    "TYPES",
    "ArgKind",
    "FunctionSignature",
    "GeneratorSignature",
    "SourceSignature",
]
