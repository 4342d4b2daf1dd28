"""Random play at larger sizes: shipped specs pass, each kind of fault is found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.build.artifact import Artifact, generate_code
from gnarl_compiler.build.plain import load_plain
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import find_spec
from gnarl_runtime.checks.explore.artifacts import artifact_of, instance_pool
from gnarl_runtime.checks.findings.findings import Failure
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.sample.backends import backend_failures, first_difference
from gnarl_runtime.checks.sample.plays import Arena, Seat, draw_picks
from gnarl_runtime.checks.sample.sample_instances import sample_instances, suits
from gnarl_runtime.checks.sample.sample_renaming import renaming_failures
from gnarl_runtime.checks.sampling import sample_failures
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.checks.witness.telling import render
from gnarl_runtime.instances.instance_checks import verify_instance

QUICK = Options(examples=14, sample_nodes=6, jit=False)


@cache
def plain(problem_name: str) -> Artifact:
    return artifact_of(shipped(problem_name), jit=False)


def changed(name: str, *swaps: tuple[str, str]) -> Problem:
    """A shipped spec with pieces of its text replaced."""
    path = find_spec(name)
    assert path is not None
    text = path.read_text("utf-8")
    for old, new in swaps:
        assert old in text, f"{name} has no `{old}`"
        text = text.replace(old, new)
    return gnarl.loads(text)


def found(problem: Problem, options: Options = QUICK) -> dict[str, Failure]:
    return {failure.property: failure for failure in sample_failures(problem, options)[1]}


# Instances


@pytest.mark.parametrize("name", SHIPPED)
def test_sampled_instances_are_what_the_spec_declares(name: str) -> None:
    problem = shipped(name)
    examples = sample_instances(problem, 60, 12, seed=1)
    for example in examples:
        verify_instance(problem, example.instance, example.label)
        assert suits(problem.graph, example.instance.graph)
    sizes = {example.instance.graph.n for example in examples}
    assert min(sizes) == 2
    assert max(sizes) >= 10


def test_sampled_instances_depend_on_the_seed_only() -> None:
    problem = shipped("mst_prim")
    first, second = (sample_instances(problem, 20, 9, seed=3) for _ in range(2))
    other = sample_instances(problem, 20, 9, seed=4)
    same = [
        np.array_equal(a.instance.tags, b.instance.tags) for a, b in zip(first, second, strict=True)
    ]
    assert all(same)
    assert any(
        len(a.instance.tags) != len(b.instance.tags) for a, b in zip(first, other, strict=True)
    )


def test_values_tie_and_nearly_tie() -> None:
    examples = sample_instances(shipped("mvc"), 200, 12, seed=0)
    exact = [e.instance.inputs["w"] for e in examples if e.exact and e.instance.graph.n > 9]
    assert all(len(np.unique(w)) < len(w) for w in exact)
    assert all(np.array_equal(w * 8, np.round(w * 8)) for w in exact)
    near = [e.instance.inputs["w"] for e in examples if "near" in e.label]
    gaps = np.concatenate([np.diff(np.sort(w)) for w in near])
    assert ((gaps > 0) & (gaps < 1e-6)).any()


def test_graphs_of_other_shapes_are_among_them() -> None:
    labels = {e.label.split(",")[0] for e in sample_instances(shipped("mvc"), 80, 8, seed=0)}
    assert {"ba", "path", "star", "cycle", "complete", "empty", "two components"} <= labels
    labels = {e.label.split(",")[0] for e in sample_instances(shipped("bfs"), 80, 8, seed=0)}
    assert {"er", "path", "star", "cycle", "complete", "tree"} <= labels
    assert not {"empty", "two components"} & labels


# Plays


@given(
    chances=arrays.arrays(np.float64, (5, 4), elements=st.sampled_from([0.0, 0.25, 1.0, 1 / 3])),
    uniform=arrays.arrays(np.float64, 5, elements=st.floats(0, 1, exclude_max=True)),
)
def test_only_what_has_a_chance_is_picked(chances: np.ndarray, uniform: np.ndarray) -> None:
    picks = draw_picks(chances, uniform)
    for row, pick in zip(chances, picks, strict=True):
        assert row[pick] > 0 or not row.any()


@pytest.mark.parametrize("name", ["mst_prim", "rgc"])
def test_plays_are_what_the_interpreter_plays(name: str) -> None:
    problem = shipped(name)
    instances = [e.instance for e in sample_instances(problem, 6, 5, seed=2)]
    expert = problem.experts[0].name
    seats = [Seat(k, who, slip) for k in range(6) for who, slip in ((None, 0.0), (expert, 0.5))]
    arena = Arena(plain(name), instance_pool(problem, plain(name), instances), seats)
    arena.play(np.random.default_rng(0))
    game = Interpreter(problem)
    for slot, seat in enumerate(seats):
        state, total = game.reset(instances[seat.instance]), 0.0
        for pick in arena.picks(slot):
            moved = game.step(state, pick)
            state, total = moved.state, total + moved.reward
        assert state.ended is not None
        assert total == arena.gained[slot]
        assert len(arena.picks(slot)) == arena.lengths[slot]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_specs_pass(name: str) -> None:
    examples, failures = sample_failures(shipped(name), QUICK)
    assert examples == QUICK.examples
    assert not failures, render(shipped(name), failures[0])


def test_compiled_play_passes_at_larger_sizes() -> None:
    examples, failures = sample_failures(shipped("mvc"), Options(examples=40, sample_nodes=20))
    assert examples == 40
    assert not failures


# Faults


FAULTS = {
    "a horizon that is one round too short": (
        ("bfs", ("horizon n - 1 rounds", "horizon n - 2 rounds")),
        "expert-late",
    ),
    "an objective with the wrong sign": (
        ("tsp", ("objective tour = -length", "objective tour = length")),
        "reference",
    ),
    "a cover that is done one edge early": (
        (
            "mvc",
            (
                "terminate when forall (x, y) in edges: in_cover[x] or in_cover[y]",
                "terminate when count((x, y) in edges where not (in_cover[x] or in_cover[y])) < 2",
            ),
        ),
        "invalid-end",
    ),
    "an expert that stops too early": (
        ("dfs", ("        else uniform u where not reach[u]\n", "")),
        "expert-silent",
    ),
    "a second phase without a legal node": (
        ("dfs", ("allow edge(u, v) or v == u", "allow edge(u, v)")),
        "dead-end",
    ),
    "an infinite feature": (
        ("mst_prim", ("key[v]      := A[u, v]", "key[v]      := A[u, v] * inf")),
        "run-error",
    ),
    "an expert that ends wrong": (
        ("dfs", ("maximising depth(pred, u)", "minimising depth(pred, u)")),
        "expert-fails",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str) -> None:
    (name, *swaps), property_ = FAULTS[fault]
    problem = changed(name, *swaps)
    failures = found(problem)
    assert property_ in failures, f"found only {sorted(failures)}"
    assert holds(problem, failures[property_])


def test_the_smallest_witness_and_the_count_are_kept() -> None:
    problem = changed("bfs", ("horizon n - 1 rounds", "horizon n - 2 rounds"))
    failure = found(problem)["expert-late"]
    assert failure.instance.graph.n == 2
    assert failure.count > 1


def tampered(problem: Problem, old: str, new: str) -> Artifact:
    text = generate_code(problem)
    assert old in text
    return Artifact(text, Path("plain"), load_plain(text.replace(old, new)))


def test_code_that_disagrees_with_the_interpreter_is_found() -> None:
    problem = shipped("mst_prim")
    wrong = tampered(problem, "s_mark[b, pick] = True", "s_mark[b, pick] = False")
    instances = [e.instance for e in sample_instances(problem, 5, 5, seed=0)]
    start = [int(instance.inputs["s"]) for instance in instances]
    plays = [(i, (s,)) for i, s in zip(instances, start, strict=True)]
    failure = next(backend_failures(problem, wrong, plays))
    assert "`mark`" in failure.message
    assert len(failure.picks) == 1
    assert next(backend_failures(problem, plain("mst_prim"), plays), None) is None


def test_the_first_difference_is_where_it_happens() -> None:
    problem = shipped("mst_prim")
    wrong = tampered(problem, "s_in_queue[b, pick] = True", "s_in_queue[b, pick] = False")
    instance = sample_instances(problem, 1, 4, seed=0)[0].instance
    game = Interpreter(problem)
    state, picks = game.reset(instance), []
    while state.ended is None:
        picks.append(int(game.expert(state).argmax()))
        state = game.step(state, picks[-1]).state
    difference = first_difference(problem, wrong, instance, picks)
    assert difference is not None
    assert difference.picks == 2  # `reach` is the second pick of the first round


def test_code_that_knows_a_node_by_its_number_is_found() -> None:
    problem = shipped("mvc")
    wrong = tampered(problem, "legal[b, pick] = allowed", "legal[b, pick] = allowed and pick != 1")
    exact = [e.instance for e in sample_instances(problem, 30, 6, seed=0) if e.exact]
    rng = np.random.default_rng(0)
    failures = list(renaming_failures(problem, wrong, exact, rng))
    assert [failure.property for failure in failures] == ["relabelling"]
    assert "the mask" in failures[0].message
    assert not list(renaming_failures(problem, plain("mvc"), exact, rng))


def test_an_oracle_that_cannot_be_computed_is_a_failure() -> None:
    problem = changed("mvc", ("~ uniform(0, 1)", "~ uniform(-1, 1)"))
    failure = found(problem)["run-error"]
    assert "min_vertex_cover" in failure.message or "weights" in failure.message
    assert (failure.instance.inputs["w"] < 0).any()
