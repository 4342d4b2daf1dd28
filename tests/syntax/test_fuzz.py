"""A share of the mutants of tests/helpers/fuzz_specs.py, and the fuzzer's own tools."""

from __future__ import annotations

import fuzz_specs
import pytest
from fuzz_specs import Failure, answer, check_mutants, minimise, mutant, originals


def test_a_thousand_mutants_are_answered() -> None:
    summary = check_mutants(seed=1, numbers=range(1_000))
    assert summary.failures == []
    assert summary.count == 1_000
    assert len(summary.codes) > 50
    assert 0 < summary.sound < 300


def test_originals_are_sound() -> None:
    for text in originals():
        assert answer(text) == (None, [])


def test_mutants_repeat() -> None:
    assert mutant(0, 7) == mutant(0, 7)
    assert len({mutant(0, number) for number in range(50)}) > 45


def test_failures_are_found_and_minimised(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(text: str) -> object:
        if "objective" in text:
            raise KeyError("no!")
        return real(text)

    real = fuzz_specs.check_text
    monkeypatch.setattr(fuzz_specs, "check_text", check)
    failures = check_mutants(seed=0, numbers=range(40)).failures
    assert failures
    assert minimise(failures[0]) == "objective"


def test_slow_answers_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_specs, "LIMIT", 0.0)
    (failure,) = check_mutants(seed=0, numbers=[3]).failures
    assert isinstance(failure, Failure)
    assert failure.what.startswith("took")
