"""A share of the mutants of fuzz_specs.py, and the fuzzer's own tools."""

from __future__ import annotations

import fuzz_specs
import pytest
from fuzz_specs import Failure, answer, check_mutants, minimise, mutant, originals


@pytest.mark.parametrize(
    ("count", "codes"), [(200, 30), pytest.param(1_000, 50, marks=pytest.mark.long)]
)
def test_mutants_are_answered(count: int, codes: int) -> None:
    summary = check_mutants(seed=1, numbers=range(count))
    assert summary.failures == []
    assert summary.count == count
    assert len(summary.codes) > codes
    assert 0 < summary.sound < 0.3 * count


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
