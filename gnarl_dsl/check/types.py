"""Types of expressions: what a formula yields, and what the checker knows about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["scalar", "mask", "node", "category", "choice", "poison"]


@dataclass(frozen=True, slots=True)
class Type:
    """`whole`: a scalar that is always a whole number (or infinite); `optional`: may be unset.

    `choices` are the names of a category or enum parameter. A poison type stands for
    an expression that was already reported: it fits everywhere.
    """

    kind: Kind
    whole: bool = False
    optional: bool = False
    choices: tuple[str, ...] = ()
    categories: int = 0

    def __str__(self) -> str:
        if self.kind == "choice":
            return f"a choice of {' | '.join(self.choices)}"
        if self.kind == "category":
            return f"a category ({' | '.join(self.choices) or f'0..{self.categories - 1}'})"
        text = {"scalar": "a number", "mask": "true or false", "node": "a node"}
        named = text.get(self.kind, "unknown")
        return f"{named} that may be unset" if self.optional else named


SCALAR = Type("scalar")
WHOLE = Type("scalar", whole=True)
MASK = Type("mask")
NODE = Type("node")
MAYBE_NODE = Type("node", optional=True)
POISON = Type("poison")
