"""Properties of experts: views of explored spaces go in, what breaks them comes out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gnarl_compiler.support.endings import RUNNING, TERMINATED, TRUNCATED
from gnarl_dsl.language.operators import SNAP
from gnarl_dsl.model import Expert, Problem, RuleExpert
from gnarl_dsl.report.source import Span
from gnarl_runtime.checks.explore.worths import View
from gnarl_runtime.checks.properties.episode_properties import stuck_at_start
from gnarl_runtime.checks.properties.found import Found


def rule_span(problem: Problem, expert: Expert, phase: int) -> Span:
    """The line of an expert that speaks for a phase."""
    if not isinstance(expert, RuleExpert):
        return expert.span
    name = problem.phases[phase].name
    rule = next(rule for rule in expert.phases if rule.phase == name)
    return rule.alternatives[0].span.to(rule.alternatives[-1].span)


def check_support(view: View, name: str) -> Iterator[Found]:
    """In all reachable states: support inside the mask, an answer wherever winning is possible."""
    space, play = view.space, view.expert(name)
    phases = space.field("phase")
    outside = (play.support & ~space.legal).any(axis=1)
    silent = space.live & ~play.labelled & view.win.yes & ~play.done
    for number, phase in enumerate(view.problem.phases):
        span, here = rule_span(view.problem, play.expert, number), phases == number
        what = f"the expert `{name}` picks nodes that phase `{phase.name}` does not allow"
        yield Found("expert-illegal", np.flatnonzero(outside & here), what, span, name)
        what = (
            f"the expert `{name}` has no answer in phase `{phase.name}`, although the episode can "
            "still end well"
        )
        yield Found("expert-silent", np.flatnonzero(silent & here), what, span, name)


def check_play(view: View, name: str) -> Iterator[Found]:
    """In a space of the expert's own play: it speaks until the end, which is good and in time.

    Ends that are wrong whoever plays are reported as such: invalid ones, and episodes that
    cannot begin.
    """
    space, play, problem = view.space, view.expert(name), view.problem
    wanted = "valid" if play.greedy or problem.correct is None else "correct"
    silent = space.live & ~play.labelled & ~play.done
    phases = space.field("phase")
    for number, phase in enumerate(problem.phases):
        span = rule_span(problem, play.expert, number)
        what = (
            f"the expert `{name}`, on its own path, has no answer in phase `{phase.name}` of a "
            f"state that is not {wanted}"
        )
        yield Found("expert-silent", np.flatnonzero(silent & (phases == number)), what, span, name)
    bad = (space.ended != RUNNING) & ~play.good & ~stuck_at_start(view)
    what = f"the expert `{name}` is not done when the time is over: the end is not {wanted}"
    cut, late = bad & (space.ended == TRUNCATED), bad & at_horizon(view)
    if problem.limit is not None:
        yield Found("expert-late", np.flatnonzero(cut), what, problem.limit.span, name)
    yield Found("expert-late", np.flatnonzero(late), what, problem.horizon.span, name)
    what = f"the play of the expert `{name}` ends in a state that is not {wanted}"
    wrong = bad & ~late & ~cut & view.valid
    yield Found("expert-fails", np.flatnonzero(wrong), what, play.expert.span, name)


def check_finish(view: View, name: str) -> Iterator[Found]:
    """In a space of the expert's own play: where it has nothing more to say, it is over.

    A policy cannot stop: whatever it picks in the rounds that are left may spoil the answer.
    """
    play = view.expert(name)
    what = (
        f"the expert `{name}` is done, but the episode goes on: later picks can spoil the answer; "
        "likely fix: `terminate when correct`, `may stop`, or a shorter horizon"
    )
    span = view.problem.horizon.span
    yield Found("expert-silent", np.flatnonzero(play.done), what, span, name)


def at_horizon(view: View) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """States in which all rounds are used up."""
    space = view.space
    horizon = space.board.home.batch.horizon[space.instance]
    over = (space.ended == TERMINATED) & (space.field("rounds") >= horizon - SNAP)
    return np.asarray(over)
