"""What formulas of a random spec may name, and where they stand; see `formulas`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

ONE = ("mask_one", "unset_one")  # the second starts without a node


@dataclass(frozen=True)
class Known:
    """A feature that formulas may read; `cost` is the exponent of n of its formula."""

    name: str
    stage: str
    place: str
    type: str
    categories: int = 0
    choices: tuple[str, ...] = ()
    cost: int = 0
    positive: bool = False


@dataclass(frozen=True)
class Let:
    """A let that formulas may call; `type` is number, truth, node or optional.

    One that may read an oracle may read what is hidden.
    """

    name: str
    type: str
    params: tuple[str, ...]
    state: bool
    oracle: bool
    infinite: bool
    cost: int


@dataclass(frozen=True)
class Scope:
    """Where a formula stands."""

    state: bool = True
    oracle: bool = False
    hidden: bool = False
    infinite: bool = True
    nodes: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    optionals: tuple[str, ...] = ()
    words: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names of categories, and which
    edges: tuple[tuple[str, str], ...] = ()
    budget: int = 2
    depth: int = 3

    def deeper(self, cost: int = 0) -> Scope:
        return replace(self, depth=self.depth - 1, budget=self.budget - cost)

    def bind(self, kind: str, *names: str) -> Scope:
        """Variables of one kind (nodes, numbers, masks, optionals); older ones are hidden."""

        def others(group: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in group if name not in names)

        groups = {g: others(getattr(self, g)) for g in ("nodes", "numbers", "masks", "optionals")}
        groups[kind] += names
        edges = tuple(pair for pair in self.edges if not set(pair) & set(names))
        return replace(self, **groups, edges=edges)  # type: ignore[arg-type]


@dataclass
class Declared:
    """Everything that formulas of a spec can name."""

    directed: bool
    mutable: bool
    params: list[str] = field(default_factory=list)
    enums: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    features: list[Known] = field(default_factory=list)
    lets: list[Let] = field(default_factory=list)
    objectives: dict[str, int] = field(default_factory=dict)  # name and cost
    phases: list[str] = field(default_factory=list)
