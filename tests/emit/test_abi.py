"""What a generated module says of its kernels is true, and nothing else is believed."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

import pytest
from random_specs.generator import seeded_spec
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.generate import generate
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.emit.abi import CORE, Abi, Role, read_abi, write_abi
from gnarl_dsl.model import Problem
from gnarl_dsl.model.kinds import STATE
from gnarl_dsl.report.diagnostics import InternalError
from gnarl_runtime.batch.layout import layout_of

SMALL = "bellman_ford"


def literal_of(problem: Problem) -> dict[str, Any]:
    """The literal as text reads: nothing in it needs to be run."""
    text = generate(problem).python
    found = re.search(r"^ABI = (\{.*?^\})", text, re.MULTILINE | re.DOTALL)
    assert found
    literal: dict[str, Any] = ast.literal_eval(found.group(1))
    return literal


def abi_of(problem: Problem) -> Abi:
    return read_abi(literal_of(problem))


@pytest.mark.parametrize("name", SHIPPED)
def test_reading_gives_back_what_was_written(name: str) -> None:
    abi = abi_of(shipped(name))
    assert read_abi(ast.literal_eval(write_abi(abi))) == abi


@pytest.mark.parametrize("seed", range(20))
def test_parameters_are_those_of_the_functions(seed: int) -> None:
    module = load_plain(generate(gnarl.loads(seeded_spec(seed))).python)
    abi = read_abi(module.ABI)
    for kernel in abi.kernels:
        function = getattr(module, kernel.name)
        assert tuple(inspect.signature(function).parameters) == (*kernel.first, *kernel.arrays)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_part_of_a_problem_has_its_kernel(name: str) -> None:
    problem = shipped(name)
    abi = abi_of(problem)
    wanted = [Role.EXPERT.of(expert.name) for expert in problem.experts]
    wanted += [Role.OBJECTIVE.of(goal.name) for goal in problem.objectives]
    wanted += [Role.METRIC.of(metric.name) for metric in problem.metrics]
    assert all(map(abi.has, wanted))
    assert abi.has(Role.JUDGE.of("correct")) == (problem.correct is not None)
    state = [abi.array_of(f.name) for f in problem.features if f.stage is STATE]
    assert list(abi.state_arrays) == state
    reset = abi.kernel(Role.RESET.of())
    assert set(state) <= set(reset.arrays)
    assert set(abi.oracles_of([reset])) <= set(abi.oracles)


def test_the_arrays_of_every_batch() -> None:
    layout = layout_of(shipped(SMALL), 1, 4)
    assert tuple(spec.name for spec in layout.core()) == CORE


def test_faults_point_into_the_spec() -> None:
    problem = shipped(SMALL)
    (fault,) = abi_of(problem).faults
    assert problem.text_of(fault.span).startswith("d[")
    assert abi_of(problem).fault(1) == fault
    assert fault.told(problem) == f"line {problem.line_of(fault.span)}: {fault.what}"


@pytest.mark.parametrize(
    ("section", "row"),
    [
        ("kernels", ("reset", "", ("slots",), ("n",))),  # twice
        ("kernels", ("dance", "", ("slots",), ("n",))),
        ("kernels", ("metric", "odd", ("slots",), ("nobody",))),
        ("kernels", ("metric",)),
        ("features", ("A", "input", "i_A")),
        ("features", ("B", "dream", "i_B")),
        ("kept", ("kept9", "float16", "node", False)),
        ("kept", ("kept9", "float64", "edge", False)),
        ("kept", ("kept9", "float64", "nowhere", False)),
        ("scratch", ("memo9", "text")),
        ("faults", (1, 2)),
    ],
)
def test_what_is_no_agreement_is_refused(section: str, row: tuple[Any, ...]) -> None:
    literal = literal_of(shipped(SMALL))
    literal[section] = (*literal[section], row)
    with pytest.raises(InternalError):
        read_abi(literal)


def test_a_module_without_it_is_refused() -> None:
    with pytest.raises(InternalError):
        read_abi({})
