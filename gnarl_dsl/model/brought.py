"""Python functions with what is said about them in, the code that a person brought to a spec out.

Only names and functions: what a function is given, and what becomes of its answer, is decided
where it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

SECONDS = 10.0  # that a call may take, unless the function says otherwise


class Trade(Enum):
    """What a function does for GNARL, by the word of its decorator."""

    FUNCTION = "extern"
    GENERATOR = "generator"
    SOURCE = "source"
    PROCESSOR = "processor"
    TRAINER = "trainer"
    STRATEGY = "strategy"


@dataclass(frozen=True)
class Brought:
    """One function (or class) that a person brought, with where it is from.

    `twin` is its compiled form, which is called with the slot, the arguments in their order and
    the `arrays` of the batch. `file` and `hash` are those of the file it was read from.
    """

    trade: Trade
    name: str
    function: Callable[..., Any]
    twin: Callable[..., Any] | None = None
    arrays: tuple[str, ...] = ()
    seconds: float = SECONDS
    file: str = ""
    hash: str = ""
    package: str = ""  # an installed one, if it came with it

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def origin(self) -> str:
        """Where it is from, for people."""
        return self.package or self.file or "this session"


@dataclass(frozen=True)
class Code:
    """All that a person brought, by what it does and its name."""

    found: Mapping[tuple[Trade, str], Brought] = field(default_factory=dict)

    def get(self, trade: Trade, name: str) -> Brought | None:
        return self.found.get((trade, name))

    def of(self, trade: Trade) -> dict[str, Brought]:
        """Those of one trade, by their names."""
        return {name: it for (own, name), it in self.found.items() if own is trade}

    def __hash__(self) -> int:
        return hash(frozenset(self.found.items()))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(cls)


NO_CODE = Code()
