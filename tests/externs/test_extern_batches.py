"""Random specs with functions that somebody brings: what kernels make of them is the definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from duel import Duel, play
from random_specs.generator import instances_for, seeded_spec
from random_specs.with_externs import code_for, with_externs

import gnarl_dsl as gnarl
from gnarl_compiler.build.artifact import Artifact, generate_code
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.externs.find import twins_of
from gnarl_dsl.model import Problem


def plain(problem: Problem) -> Artifact:
    text = generate_code(problem)
    twins = {name: it.twin for name, it in twins_of(problem).items() if it.twin is not None}
    return Artifact(text, Path("plain"), load_plain(text, twins))


def problem_of(seed: int, twins: bool) -> Problem:
    """A random spec with externs and their code."""
    text = with_externs(seeded_spec(seed), seed)
    problem = gnarl.loads(text)
    return gnarl.loads(text, extern=code_for(problem, twins))


LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 30)]


@pytest.mark.parametrize("twins", [False, True], ids=["called back", "twins"])
@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, *LONG])
def test_batches_equal_the_interpreter(
    seed: int, twins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duel.plain_artifact", lambda problem, reward=None: plain(problem))
    problem = problem_of(seed, twins)
    duel = Duel(problem, instances_for(problem, np.random.default_rng(seed)))
    play(duel, np.random.default_rng(seed), 5)
    if seed >= 6 and duel.checks < 4:
        pytest.skip("episodes of this spec end at once")
    assert duel.checks >= 4
