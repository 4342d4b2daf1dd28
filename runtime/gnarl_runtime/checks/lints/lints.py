"""A problem and its explored spaces go in, lints come out: legal, but probably not meant.

Every lint has figures. Explored states are all states of small graphs; play at larger sizes is
sampled; small plays in the interpreter tell which lines of the spec ever matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gnarl_dsl import model
from gnarl_dsl.model import Expert, Problem
from gnarl_runtime.checks.explore.artifacts import artifact_of
from gnarl_runtime.checks.explore.space import Space
from gnarl_runtime.checks.findings.findings import Lint
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.lints.finished import finished_masks
from gnarl_runtime.checks.lints.played import PLAIN_SIZES, SIZES, Figures, Played, play_sizes
from gnarl_runtime.checks.lints.spaces import (
    constant_features,
    find_aliases,
    single_share,
    unchanged_features,
)
from gnarl_runtime.checks.lints.traced import alternative_spans, trace, update_spans
from gnarl_runtime.checks.lints.unread import unread_features

MOST_SINGLE = 0.9  # share of states with one legal pick
MOST_TIED = 0.5  # share of an expert's states with several picks
GROWTH = 0.5  # exponent of n
LEAST_HORIZON = 0.25  # share of the horizon that some play should need


def find_lints(problem: Problem, spaces: Sequence[Space], options: Options) -> tuple[Lint, ...]:
    """All lints of a problem, in the order of the spec."""
    wanted = SIZES if options.jit else PLAIN_SIZES
    sizes = [n for n in wanted if n <= max(options.sample_nodes, wanted[0])]
    played = play_sizes(problem, artifact_of(problem, options.jit), sizes, options.seed)
    found = [
        *_features(problem, spaces),
        *_lines(problem, options),
        *_aliases(problem, spaces),
        *_choices(problem, spaces, played),
        *_ties(problem, played),
        *_ranges(problem, played),
        *_bounds(problem, played),
        *_windows(problem),
        *_finished(problem, spaces),
    ]
    return tuple(sorted(found, key=lambda lint: _place(lint)))


def _place(lint: Lint) -> tuple[int, int]:
    return (lint.span.file, lint.span.start) if lint.span else (0, 0)


# Features


def _features(problem: Problem, spaces: Sequence[Space]) -> Iterator[Lint]:
    states = float(sum(len(space) for space in spaces))
    for feature in unread_features(problem):
        what = f"nothing reads `{feature.name}`; it only adds a number that the policy sees"
        yield Lint("unread-feature", what, {}, feature.span)
    for feature in unchanged_features(problem, spaces):
        what = f"no pick ever changes `{feature.name}`"
        yield Lint("constant-feature", what, {"states": states}, feature.span)
    for feature, value in constant_features(problem, spaces):
        what = f"`{feature.name}` is {value:g} everywhere, so it tells a policy nothing"
        yield Lint("constant-feature", what, {"states": states, "value": value}, feature.span)


# Windows


def _windows(problem: Problem) -> Iterator[Lint]:
    for window in problem.windows:
        if window.nearest is not None:
            what = (
                f"`observe` shows the first {window.nearest.count} nodes only: what else there is "
                "may matter, and nobody looked for states that it makes look alike"
            )
            yield Lint("window-first", what, {"first": float(window.nearest.count)}, window.span)


def _finished(problem: Problem, spaces: Sequence[Space]) -> Iterator[Lint]:
    """One line is enough: of the masks, the one that leaves out most nodes."""
    found = [] if problem.windows else [*finished_masks(problem, spaces)]
    for feature, share in sorted(found, key=lambda one: -one[1])[:1]:
        what = (
            f"a node with `{feature.name}` is never legal again, as {_percent(share)} of the nodes "
            f"of small graphs are, and the network still reads it; `observe x in nodes where not "
            f"{feature.name}[x]`, with the finished nodes that still matter, makes large graphs "
            "cheaper, and gnarl-check finds out whether it loses something"
        )
        yield Lint("finished-nodes", what, {"share": share}, feature.span)


# Lines


def _lines(problem: Problem, options: Options) -> Iterator[Lint]:
    traced = trace(problem, options.seed)
    if not traced.transitions:  # nothing can be played, which is a failure and not a lint
        return
    figures = {"transitions": float(traced.transitions), "states": float(traced.states)}
    for span in update_spans(problem):
        if span not in traced.changed:
            does = "never changes anything" if span in traced.ran else "is never reached"
            what = f"the update `{problem.text_of(span)}` {does}"
            yield Lint("idle-update", what, figures, span)
    for span in alternative_spans(problem):
        if span not in traced.fired:
            what = f"the alternative `{problem.text_of(span)}` is never the one that answers"
            yield Lint("idle-alternative", what, figures, span)


# Experts


def _aliases(problem: Problem, spaces: Sequence[Space]) -> Iterator[Lint]:
    for expert in problem.experts:
        found = find_aliases(spaces, expert.name)
        if found.aliased:
            share = found.aliased / found.states
            what = (
                f"in {_percent(share)} of the states of small graphs without ties the expert "
                f"`{expert.name}` prefers nodes that look just like others: nobody can learn which"
            )
            figures = {
                "states": float(found.states),
                "aliased": float(found.aliased),
                "share": share,
                "nodes": float(found.nodes),
            }
            yield Lint("aliasing", what, figures, expert.span)


def _ties(problem: Problem, played: Played) -> Iterator[Lint]:
    for expert in problem.experts:
        by_size = played.experts[expert.name]
        if not by_size:
            continue
        n, seen = max(by_size.items())
        share = seen.tied / max(1, seen.states)
        if share > MOST_TIED:
            what = _tie_text(expert, seen, n, share)
            yield Lint("expert-ties", what, _tie_figures(seen, n), expert.span)


def _tie_text(expert: Expert, seen: Figures, n: int, share: float) -> str:
    figures = _tie_figures(seen, n)
    return (
        f"the expert `{expert.name}` has several picks in {_percent(share)} of its states at "
        f"n = {n}, {figures['mean picks']:.1f} on average; imitation cannot get below a loss of "
        f"{figures['least loss']:.2f}"
    )


def _tie_figures(seen: Figures, n: int) -> dict[str, float]:
    states = max(1, seen.states)
    return {
        "nodes": float(n),
        "share": seen.tied / states,
        "mean picks": seen.picks / states,
        "least loss": seen.nats / states,
    }


# Choices, ranges and bounds


def _choices(problem: Problem, spaces: Sequence[Space], played: Played) -> Iterator[Lint]:
    single, total = single_share(spaces)
    explored = single / max(1, total)
    for name, by_size in played.experts.items():
        if not by_size:
            continue
        n, seen = max(by_size.items())
        share = seen.single / max(1, seen.states)
        if seen.states and share > MOST_SINGLE:
            what = (
                f"the masks leave a single choice in {_percent(share)} of the states that the "
                f"expert `{name}` meets at n = {n}: they solve the task"
            )
            figures = {"nodes": float(n), "share": share, "explored share": explored}
            span = next((p.allow.span for p in problem.phases if p.allow is not None), None)
            yield Lint("single-choice", what, figures, span)
            return


def _ranges(problem: Problem, played: Played) -> Iterator[Lint]:
    """Numbers that grow with n are outside of what a policy trained on small graphs has seen."""
    for feature in problem.features:
        for who, by_size in played.players():
            seen = [(n, figures.ranges.get(feature.name, 0.0)) for n, figures in by_size.items()]
            points = [(n, value) for n, value in sorted(seen) if value > 0]
            exponent = slope(points)
            if exponent > GROWTH:
                (small, low), (large, high) = points[0], points[-1]
                what = (
                    f"`{feature.name}` grows with n: in {who} up to {low:.3g} at n = {small} and "
                    f"{high:.3g} at n = {large}; training on small graphs does not show that"
                )
                figures = {"exponent": exponent, **{f"n={n}": value for n, value in points}}
                yield Lint("growing-feature", what, figures, feature.span)
                break


def slope(points: Sequence[tuple[int, float]]) -> float:
    """The exponent k of value = c * n**k, by least squares on logarithms; 0 without points."""
    if len(points) < 2:
        return 0.0
    xs = [math.log(n) for n, _ in points]
    ys = [math.log(value) for _, value in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum(
        (a - x) ** 2 for a in xs
    )


def _bounds(problem: Problem, played: Played) -> Iterator[Lint]:
    shares: dict[int, float] = {}
    for _, by_size in played.players():
        for n, seen in by_size.items():
            shares[n] = max(shares.get(n, 0.0), seen.rounds)
    n = max(shares)
    if 0 < shares[n] < LEAST_HORIZON:
        what = f"no play needs more than {_percent(shares[n])} of the horizon at n = {n}"
        figures = {f"n={size}": share for size, share in sorted(shares.items())}
        yield Lint("long-horizon", what, figures, problem.horizon.span)
    if problem.limit is not None:
        yield from _limit(problem.limit, played)


def _limit(limit: model.Expr, played: Played) -> Iterator[Lint]:
    for name, by_size in played.experts.items():
        over = {n: seen.over_limit / max(1, seen.plays) for n, seen in by_size.items()}
        n = max(over, key=lambda n: over[n], default=0)
        if n and over[n] > 0:
            what = (
                f"the limit cuts {_percent(over[n])} of the plays of the expert `{name}` short at "
                f"n = {n}"
            )
            figures = {f"n={size}": share for size, share in over.items()}
            yield Lint("short-limit", what, figures, limit.span)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.2g} %"
