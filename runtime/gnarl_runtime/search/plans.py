"""The picks of an episode in, the same picks in another order out: what to try instead.

A plan is followed as far as its picks are legal, so it need not be an episode itself.
"""

from __future__ import annotations

from enum import Enum

from gnarl_runtime.search.outcomes import Picks


class Plan(Enum):
    """What becomes of the rounds between a cut and a later place."""

    LATER = "the first of them comes last"
    SOONER = "the last of them comes first"
    BACKWARDS = "they are turned around"
    NEVER = "the first of them is left out"


PLANS = tuple(Plan)


def replanned(picks: Picks, plan: Plan, first: int, last: int, phases: int) -> Picks:
    """Rounds `first` up to and without `last` in another order; picks of a round stay together."""
    rounds = [picks[start : start + phases] for start in range(0, len(picks), phases)]
    before, part, after = rounds[:first], rounds[first:last], rounds[last:]
    match plan:
        case Plan.LATER:
            part = [*part[1:], *part[:1]]
        case Plan.SOONER:
            part = [*part[-1:], *part[:-1]]
        case Plan.BACKWARDS:
            part = part[::-1]
        case Plan.NEVER:
            part = part[1:]
    return tuple(pick for round_ in (*before, *part, *after) for pick in round_)
