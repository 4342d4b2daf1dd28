"""Choices for a policy go in, a checked PolicyConfig comes out; needs no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Aggregation = Literal["max", "sum"]
Pooling = Literal["max", "mean"]
Actor = Literal["distance", "product"]

MOST_WIDTH = 8_192  # one table of weights of that width takes 256 MB
MOST_ROUNDS = 1_000
MOST_TIED = 1_000  # rounds that a file can ask for without bringing weights for each


@dataclass(frozen=True)
class PolicyConfig:
    """The size and kind of a policy; nothing here depends on the graphs it will see.

    Defaults are what the paper chose most often (its hyperparameter table), with max pooling.
    """

    width: int = 64  # the paper's f
    rounds: int = 2  # of messages, the paper's L
    message_depth: int = 2  # linear layers of the message network
    aggregation: Aggregation = "max"
    pooling: Pooling = "max"
    processor: str = "mpnn"
    # The paper's distance to the proto-action, or the product with it: what a node's embedding
    # holds besides what is asked for changes its distance, but not its product.
    actor: Actor = "distance"
    layer_norm: bool = False  # after each round; the paper has none, deep sums may need it
    chains: bool = False  # nodes also know where pointers lead in the end, however far that is
    whole: bool = False  # each further round also hears the whole graph
    # Gates, learned, that choose candidates: of these, flags say who has the smallest and who the
    # largest of each number, exactly.
    firsts: int = 0
    tied: bool = False  # all rounds have the same weights, and each reads the encoding again
    # Tied rounds: every update of training draws their number, from this up to `rounds`; 0: none.
    least_rounds: int = 0
    # Numbers are read by their level of measurement where the spec tells it: as ranks, or as
    # multiples of the instance's own scale. Weights have the reading that they were trained with.
    levels: bool = False
    # Numbers of nodes and edges that have one unit are compared along messages, exactly, and not
    # measured.
    compares: bool = False
    played_rounds: int = 0  # tied rounds of a policy that plays; 0: `rounds`

    def __post_init__(self) -> None:
        require("width", self.width, 1 <= self.width <= MOST_WIDTH, f"1 to {MOST_WIDTH:,}")
        require("rounds", self.rounds, 1 <= self.rounds <= MOST_ROUNDS, f"1 to {MOST_ROUNDS:,}")
        require("firsts", self.firsts, 0 <= self.firsts <= MOST_WIDTH, f"0 to {MOST_WIDTH:,}")
        require("message_depth", self.message_depth, self.message_depth in (2, 3), "2 or 3")
        self._require_what_fits_together()
        require_one_of("aggregation", self.aggregation, get_args(Aggregation))
        require_one_of("pooling", self.pooling, get_args(Pooling))
        require_one_of("actor", self.actor, get_args(Actor))

    def _require_what_fits_together(self) -> None:
        if self.compares:
            require("compares", True, self.levels, "false without levels = true, which know units")
        only_tied = "0 without tied = true"
        most = (self.rounds, MOST_TIED) if self.tied else (0, 0)
        wanted = ("a whole number from 0 to rounds", f"a whole number from 0 to {MOST_TIED}")
        names = ("least_rounds", "played_rounds")
        for name, top, expected in zip(names, most, wanted, strict=True):
            found = getattr(self, name)
            require(name, found, 0 <= found <= top, expected if self.tied else only_tied)
        if self.tied:
            require("rounds", self.rounds, self.rounds <= MOST_TIED, f"at most {MOST_TIED}, tied")
            require("processor", self.processor, self.processor == "mpnn", "mpnn, to be tied")
        if self.whole:
            hearing = "mpnn, to hear the whole graph"
            require("processor", self.processor, self.processor == "mpnn", hearing)


def require_one_of(name: str, found: str, known: tuple[str, ...]) -> None:
    """Raise unless a choice is known."""
    require(name, found, found in known, " or ".join(known))


def require(name: str, found: object, holds: bool, expected: str) -> None:
    """Raise a ValueError that says what was found and expected."""
    if not holds:
        raise ValueError(f"{name}: expected {expected}, found {found!r}")
