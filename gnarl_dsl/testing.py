"""For pytest: a spec goes in, an AssertionError with a counterexample or random plays come out.

    from hypothesis import given
    from gnarl_dsl.testing import check_spec, instances, spec_cases

    def test_my_spec():
        check_spec("my_problem.gnarl")

docs/checking.md shows how to test a spec and a reference algorithm. The strategies need
Hypothesis (`pip install hypothesis`); `check_spec` does not.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model.kinds import ORACLE
from gnarl_dsl.report.failures import UsageError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
    from numpy.typing import NDArray

    from gnarl_compiler.graphs.instance import Instance
    from gnarl_compiler.interpret.state import State
    from gnarl_runtime.checks.findings.findings import Report
    from gnarl_runtime.checks.sample.strategies import Case

__all__ = ["check_spec", "instances", "oracle", "play_expert", "spec_cases"]


def check_spec(
    spec: Spec,
    max_nodes: int = 3,
    examples: int = 60,
    *,
    seed: int = 0,
    jit: bool = False,
    lenient: bool = False,
) -> Report:
    """Check a spec file, a shipped spec by name or a problem as `gnarl-check` does.

    Every graph of up to `max_nodes` nodes is explored and `examples` larger ones are played.
    With `jit` kernels are compiled first: 5 to 15 s that pay from four nodes on. With `lenient`
    experts need to know their own path only. What is broken is raised as an AssertionError with
    the smallest counterexamples.
    """
    from gnarl_runtime.checks.findings.wishes import Options
    from gnarl_runtime.checks.run import check_problem
    from gnarl_runtime.checks.witness.telling import render

    problem = problem_of(spec)
    options = Options(
        max_nodes=max_nodes, examples=examples, seed=seed, jit=jit, lenient=lenient, lints=False
    )
    report = check_problem(problem, options)
    if not report.passed:
        shown = [render(problem, failure) for failure in report.failures]
        raise AssertionError("\n\n".join([f"{problem.name} does not pass:", *shown]))
    return report


def instances(spec: Spec, min_nodes: int = 1, max_nodes: int = 12) -> SearchStrategy[Instance]:
    """Instances of a problem, with frequent ties; they shrink to few nodes and plain values.

    Instances that are over at their start are among them.
    """
    _require_hypothesis()
    from gnarl_runtime.checks.sample import strategies

    return strategies.instances(problem_of(spec), min_nodes, max_nodes)


def spec_cases(
    spec: Spec, min_nodes: int = 1, max_nodes: int = 6, max_picks: int = 20
) -> SearchStrategy[Case]:
    """Plays of a problem: an instance, legal picks, and the interpreter's states on the way."""
    _require_hypothesis()
    from gnarl_runtime.checks.sample import strategies

    problem = problem_of(spec)
    return strategies.plays(problem, strategies.instances(problem, min_nodes, max_nodes), max_picks)


def play_expert(spec: Spec, instance: Instance, expert: str | None = None) -> State:
    """Where an expert's play leads: to the end of the episode, or to where it says nothing more.

    Of several picks it takes the first.
    """
    from gnarl_compiler.interpret.episode import Interpreter

    game = Interpreter(problem_of(spec))
    state = game.reset(instance)
    while state.ended is None:
        answer = game.expert(state, expert)
        if not answer.any():
            break
        state = game.step(state, int(answer.argmax())).state
    return state


def oracle(spec: Spec, instance: Instance, name: str) -> NDArray[Any]:
    """What a registered algorithm of the spec says about an instance."""
    from gnarl_compiler.interpret.episode import Interpreter
    from gnarl_compiler.interpret.evaluate import Evaluator

    problem = problem_of(spec)
    known = [feature.name for feature in problem.features if feature.stage is ORACLE]
    if name not in known:
        raise UsageError(f"{problem.name} has no oracle `{name}`; it has: {', '.join(known)}")
    return Evaluator(Interpreter(problem).reset(instance)).stored(name)


def _require_hypothesis() -> None:
    if find_spec("hypothesis") is None:
        raise ImportError(
            "the strategies of gnarl_dsl.testing need Hypothesis: pip install hypothesis"
        )
