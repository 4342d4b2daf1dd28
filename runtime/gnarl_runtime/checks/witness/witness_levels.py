"""A failure of a level in, whether changing the numbers really changes a decision."""

from __future__ import annotations

import numpy as np

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_dsl.levels.levels import Use, default_use, levels_of
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import STATE
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.properties.changed_numbers import Change, change_for, deciding
from gnarl_runtime.checks.properties.level_properties import FACTORS
from gnarl_runtime.checks.properties.renaming import nearly


def level_matters(problem: Problem, failure: Failure) -> bool:
    """Whether along the picks something is decided otherwise after a change of the numbers."""
    names = [expert.name for expert in problem.experts if failure.expert in (None, expert.name)]
    uses = [Use((name,)) for name in names] or [default_use(problem)]
    return any(
        _differs(deciding(problem), use, change_for(levels_of(problem, use), factor), failure)
        for use in uses
        for factor in FACTORS
    )


def _differs(problem: Problem, use: Use, change: Change, failure: Failure) -> bool:
    one, two = Interpreter(problem), Interpreter(change.problem(problem))
    here = one.reset(failure.instance)
    there = two.reset(change.instance(problem, failure.instance))
    for pick in failure.picks:
        if not _same(one, two, use, change, here, there):
            return True
        here, there = one.step(here, pick).state, two.step(there, pick).state
    return not _same(one, two, use, change, here, there)


def _same(
    one: Interpreter, two: Interpreter, use: Use, change: Change, here: State, there: State
) -> bool:
    if (here.phase, here.rounds, here.ended) != (there.phase, there.rounds, there.ended):
        return False
    if not np.array_equal(one.mask(here), two.mask(there)):
        return False
    for feature in one.problem.features:
        if feature.stage is STATE:
            wanted = change.of(feature.name, np.asarray(here.features[feature.name]))
            found = np.asarray(there.features[feature.name])
            same = nearly(wanted, found) if feature.is_number else wanted == found
            if not np.all(same):
                return False
    return here.ended is not None or all(
        np.array_equal(one.expert(here, name), two.expert(there, name)) for name in use.experts
    )
