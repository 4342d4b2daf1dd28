"""Command-line options in, what is to be measured out."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

# Training size, test size, and what --full adds.
SIZES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "bellman_ford": ((16, 64), ()),
    "mvc": ((16, 64), ()),
    "tsp": ((20, 100), ()),
    "rgc": ((20,), (60,)),
    "mst_prim": ((16, 64), ()),
    "bfs": ((16, 64), ()),
    "dfs": ((16, 64), ()),
}
PROBLEMS = tuple(SIZES)
# Experts that are labelled in bulk, and compared where the peer has one too.
EXPERTS = {"bellman_ford": "sticky", "mvc": "optimal", "tsp": "nearest"}


@dataclass(frozen=True)
class Case:
    """One problem at one size."""

    spec: str
    nodes: int

    def __str__(self) -> str:
        return f"{self.spec} {self.nodes}"


@dataclass(frozen=True)
class Plan:
    """All that is measured: `seconds` is one slice of one contestant."""

    cases: tuple[Case, ...]
    seconds: float
    repetitions: int
    num_envs: int
    compiled: tuple[str, ...]  # specs whose compile time is measured
    weighed: tuple[Case, ...]  # cases whose memory is measured

    @classmethod
    def from_options(cls, options: argparse.Namespace) -> Plan:
        """The plan that the flags ask for."""
        default = 0.2 if options.quick else 2.0 if options.full else 0.7
        fresh = () if options.no_fresh else tuple(options.problems)
        cases = [
            Case(spec, nodes)
            for spec in options.problems
            for nodes in chosen_sizes(spec, options.quick, options.full)
        ]
        return cls(
            cases=tuple(cases),
            seconds=options.seconds or default,
            repetitions=options.repetitions,
            num_envs=options.num_envs,
            compiled=fresh[:1] if options.quick else fresh,
            weighed=tuple(Case(spec, 64) for spec in (fresh[:1] if options.quick else fresh)),
        )


def chosen_sizes(spec: str, quick: bool, full: bool) -> tuple[int, ...]:
    """The sizes of a problem's graphs."""
    usual, more = SIZES[spec]
    return usual[:1] if quick else usual + more if full else usual
