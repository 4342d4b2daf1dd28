"""What `gnarl-new` asks, with every answer there is, and what an answer means in a spec."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Picked(Enum):
    """What an episode picks, one after the other."""

    NODES = "nodes"
    EDGES = "edges"
    ORDER = "order"


class Goal(Enum):
    """What an end is judged by."""

    RIGHT = "right"
    BEST = "best"


@dataclass(frozen=True)
class Family:
    """Graphs to learn on, and the words that a spec about them needs.

    `out` and `into` are the sets of nodes that edges lead to and come from; `law` is what comes
    between the parentheses of `family` for training, for choosing and for testing.
    """

    family: str
    kind: str
    out: str = "neighbors"
    into: str = "neighbors"
    law: tuple[str, str] = ("", "")

    @property
    def directed(self) -> bool:
        return self.out != self.into

    def near(self, x: str) -> str:
        """`exists y` over whatever is joined to x, whichever way, up to the condition."""
        if self.directed:
            return f"y in nodes: joined({x}, y) and "
        return f"y in neighbors({x}): "

    @property
    def joined(self) -> str:
        """The let that `near` needs."""
        return "let joined(x, y)  = edge(x, y) or edge(y, x)\n" if self.directed else ""

    def instances(self) -> str:
        train, test = self.law
        return (
            f"instances {self.family}\n"
            f"  train 2000  {self.family}(n = {{4, 7, 11, 13, 16}}{train})\n"
            f"  valid  100  {self.family}(n = 16{test})\n"
            f"  test   100  {self.family}(n = {{16, 32}}{test})\n"
        )


class Graphs(Enum):
    """Which graphs it is about."""

    RANDOM = "random"
    HUBS = "hubs"
    PLANAR = "planar"
    DIRECTED = "directed"
    COMPLETE = "complete"

    @property
    def means(self) -> Family:
        return _FAMILIES[self]


_EDGES = (", p = [0.2, 0.6]", ", p = 0.3")
_FAMILIES = {
    Graphs.RANDOM: Family("er", "undirected", law=_EDGES),
    Graphs.HUBS: Family("ba", "undirected", law=(", m = {1..3}", ", m = 2")),
    Graphs.PLANAR: Family("delaunay", "undirected"),
    Graphs.DIRECTED: Family("er", "directed", "successors", "predecessors", _EDGES),
    Graphs.COMPLETE: Family("complete", "undirected complete"),
}


@dataclass(frozen=True)
class Question:
    """What is asked, and what each answer stands for."""

    flag: str
    asks: str
    answers: dict[str, str]


QUESTIONS = (
    Question(
        "picks",
        "What is picked?",
        {
            Picked.NODES.value: "some of the nodes, such as guards or members of a team",
            Picked.EDGES.value: "some of the edges, such as pairs or the steps of a path",
            Picked.ORDER.value: "all nodes, in an order, such as a tour or a schedule",
        },
    ),
    Question(
        "goal",
        "Is there a right answer, or a best one?",
        {
            Goal.RIGHT.value: "an end is right or wrong, and a condition says which",
            Goal.BEST.value: "an end is better or worse, and a number says how good",
        },
    ),
    Question(
        "graphs",
        "Which graphs is it about?",
        {
            Graphs.RANDOM.value: "any two nodes are joined by chance",
            Graphs.HUBS.value: "few nodes have many neighbours, as in social networks",
            Graphs.PLANAR.value: "neighbours are near, as on a map",
            Graphs.DIRECTED.value: "edges lead one way, as in plans and programs",
            Graphs.COMPLETE.value: "everybody with everybody, such as places and the ways between",
        },
    ),
)
