"""What a check of a spec can say: failures with a witness, lints with figures, one report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.model import Problem
from gnarl_dsl.report.source import Span
from gnarl_dsl.syntax.waivers import Waiver

Property = Literal[
    "run-error",  # the spec failed at run time (unset pointer, infinite feature …)
    "dead-end",  # a live state without a legal pick
    "endless",  # an episode that neither terminates nor reaches its horizon
    "unwinnable",  # an instance that no legal play can end well
    "invalid-end",  # an end that breaks `valid`
    "correct-invalid",  # a `correct` state that breaks `valid`
    "expert-silent",  # a winnable state in which the expert has no answer
    "expert-illegal",  # expert support outside the mask
    "expert-fails",  # expert play from the start that does not end correct / valid
    "expert-late",  # expert play that is not done at the horizon
    "expert-lost",  # a winnable state from which expert play goes nowhere
    "expert-aimless",  # expert play that is worth no more than random picks
    "expert-uneven",  # equally good picks that the expert leaves out
    "reward-telescope",  # rewards do not add up to objective(end) - objective(start)
    "reward-flat",  # whatever is picked earns the same
    "reward-uneven",  # what a pick earns hangs on the hidden ranks of nodes
    "reward-misleads",  # a play that ends wrong earns more than an expert's, which ends right
    "window-loses",  # states that look alike through `observe`, and go on differently
    "idle",  # a part of the spec without which nothing changes
    "relabelling",  # renaming nodes changes what happens
    "extern",  # code that was brought says something else when it is asked again
    "level-broken",  # numbers that are only compared, or only scaled, decide otherwise after all
    "reference",  # `correct` or the objective disagrees with the reference algorithm
    "backend",  # compiled code and interpreter disagree (our mistake)
]


@dataclass(frozen=True)
class Failure:
    """One broken property with its smallest known witness: an instance and picks from reset."""

    property: Property
    message: str
    instance: Instance
    picks: tuple[int, ...]
    span: Span | None  # the violated line of the spec
    expert: str | None = None
    count: int = 1  # how many states, plays or instances showed it
    smallest: bool = False  # whether nothing smaller was found, though all was tried


@dataclass(frozen=True)
class Lint:
    """Something that is legal but probably not meant, with the figures that show it."""

    name: str
    message: str
    figures: Mapping[str, float] = field(default_factory=dict)
    span: Span | None = None


@dataclass(frozen=True)
class SizeSummary:
    """What was explored at one number of nodes; `depth` is picks, None if complete.

    `possible` counts the instances that there would be without thinning their values;
    `complete` those that were explored to the end. From `winnable` of the states that are neither
    over nor undecided (their end lies beyond the bound) some play still ends well.
    """

    nodes: int
    graphs: int
    instances: int
    states: int
    transitions: int
    depth: int | None
    possible: int = 0
    complete: int = 0
    live: int = 0
    winnable: int = 0
    undecided: int = 0


@dataclass(frozen=True)
class ExpertSummary:
    """From how many of all explored states that are not over an expert's play still ends well.

    `undecided` states are those whose play leads beyond the bound of the exploration; `winnable`
    ones those from which any play ends well.
    """

    name: str
    states: int
    labelled: int
    recoverable: int
    winnable: int = 0
    undecided: int = 0


@dataclass(frozen=True)
class Report:
    """Everything that a check of one spec found."""

    problem: Problem
    sizes: tuple[SizeSummary, ...]
    experts: tuple[ExpertSummary, ...]
    examples: int  # random instances played at larger sizes
    failures: tuple[Failure, ...]
    lints: tuple[Lint, ...]
    seconds: float
    waived: tuple[tuple[Failure, Waiver], ...] = ()  # by a comment of the spec

    @property
    def passed(self) -> bool:
        return not self.failures
