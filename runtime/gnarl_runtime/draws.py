"""A problem, a split, a seed and a number go in, an instance of that split comes out."""

from __future__ import annotations

from dataclasses import dataclass

from gnarl_compiler.instance import Instance
from gnarl_compiler.instances import choose_split, draw_instance, families
from gnarl_dsl.model import Problem


@dataclass(frozen=True)
class Source:
    """One split of an instance set; `nodes` overrides the size of its graphs."""

    problem: Problem
    split: str
    instances: str | None = None
    nodes: int | None = None

    def draw(self, seed: int, number: int) -> Instance:
        """Instance `number` of a seed, cycling over the families of the split."""
        kinds = families(choose_split(self.problem, self.split, self.instances))
        kind = kinds[number % len(kinds)]
        return draw_instance(self.problem, kind, seed, number, self.nodes)

    def largest(self) -> int:
        """The most nodes that an instance can have."""
        if self.nodes is not None:
            return self.nodes
        args = choose_split(self.problem, self.split, self.instances).args
        return int(max(value for arg in args if arg.name == "n" for value in arg.values))

    def label(self) -> str:
        """The families of graphs as a spec writes them."""
        kinds = families(choose_split(self.problem, self.split, self.instances))
        return ", ".join(kind.label() for kind in kinds)
