"""Exact search finds what trying every episode in the interpreter finds, and proves it."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest
from duel import plain_artifact
from random_specs.generator import instances_for, seeded_spec
from shipped_specs import shipped

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem
from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.search import exact as exact_search
from gnarl_runtime.search.better import LEAST, Worth, worth_of
from gnarl_runtime.search.proof import branching
from gnarl_runtime.search.proof.falling import can_only_fall
from gnarl_runtime.search.proof.futures import Live, formulas_of, live_part
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Drivers, Found

EXACT = Strategy("exact")
ADDITIVE = ["mvc", "tsp", "steiner_tree", "triangle_packing", "elimination_order"]
OTHERS = ["max_cut", "min_dominating_set", "graph_colouring", "orienteering", "mst_kruskal"]


def exact(problem: Problem, instances: list[Instance]) -> Found:
    """Without compiling: the same text as Python."""
    bare = problem.model_copy(update={"metrics": (), "experts": ()})
    compiled = Compiled(bare, plain_artifact(bare), None, (), True)
    return search(EXACT, Drivers(), compiled, pool_of(bare, instances, compiled.oracles))


class TooMany(Exception):
    """More episodes than a test can try."""


def every_end(game: Interpreter, start: State, most: float = math.inf) -> tuple[int, float]:
    """The best worth of all episodes from a state, by trying them all."""
    tried = count()

    def best_of(state: State, steps: int) -> tuple[int, float]:
        if state.ended is not None:
            return worth_at(game, state, steps).at(0)
        best = LEAST
        for node in np.flatnonzero(game.mask(state)):
            if next(tried) >= most:
                raise TooMany
            best = max(best, best_of(game.apply(state, int(node)).state, steps + 1))
        return best

    return best_of(start, 0)


def worth_at(game: Interpreter, state: State, steps: int) -> Worth:
    objective = np.array([game.objective(state)]) if game.problem.objectives else None
    valid = np.array([game.valid(state)])
    right = np.array([game.correct(state)]) if game.problem.correct else valid
    return worth_of(valid, right, objective, np.array([steps]))


def worth_of_found(problem: Problem, found: Found) -> Worth:
    out = found.outcomes
    objective = out.objective if problem.objectives else None
    return worth_of(out.valid, out.success, objective, out.steps)


def assert_best(problem: Problem, instances: list[Instance], most: float = math.inf) -> None:
    game = Interpreter(problem)
    wanted = [every_end(game, game.reset(instance), most) for instance in instances]
    found = exact(problem, instances)
    assert (found.proven | (found.outcomes.steps == 0)).all()  # 0: no episode comes to an end
    worth = worth_of_found(problem, found)
    for place, (level, value) in enumerate(wanted):
        if (level, value) == LEAST and found.outcomes.stopped[place]:
            continue  # no episode comes to an end, and what was given up is no answer
        assert worth.level[place] == level
        assert math.isclose(worth.value[place], value, rel_tol=1e-9, abs_tol=1e-9)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncompiled kernels go through all slots of a block one by one."""
    monkeypatch.setattr(exact_search, "BLOCK", 24)
    monkeypatch.setattr(branching, "BLOCK", 24)


@pytest.mark.parametrize("name", [*ADDITIVE, *OTHERS, "topological_sort"])
def test_agrees_with_trying_everything(name: str) -> None:
    problem = shipped(name)
    family = families(choose_split(problem, "train"))[0]
    sizes = [3, 4] if len(problem.phases) > 1 else [4, 5]
    drawn = [draw_instance(problem, family, 11, k, nodes=n) for k, n in enumerate(sizes)]
    assert_best(problem, drawn)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(24))
def test_agrees_on_random_specs(seed: int) -> None:
    problem = check_text(seeded_spec(seed)).problem
    if problem is None or not (problem.objectives or problem.correct):
        pytest.skip("nothing to maximise")
    instances = instances_for(problem, np.random.default_rng(seed), 3)
    small = [instance for instance in instances if instance.graph.n <= 3]
    try:
        assert_best(problem, small, most=5_000) if small else None
    except SpecRunError:
        pytest.skip("the spec fails in some episode")
    except TooMany:
        pytest.skip("more episodes than can be tried")


def left_out(name: str) -> Live:
    formulas = formulas_of(shipped(name))
    return live_part(formulas, formulas.program.objectives[0][1])


def falls(name: str) -> bool:
    formulas = formulas_of(shipped(name))
    return can_only_fall(formulas, formulas.program.objectives[0][1], lambda feature: True)


def test_what_only_the_objective_reads_is_left_out() -> None:
    assert left_out("tsp").whole == ("in_tour",)
    assert left_out("steiner_tree").whole == ("in_tree",)
    assert left_out("triangle_packing").whole == ("used",)
    assert left_out("elimination_order").sums == ("fill",)


def test_what_decides_the_future_stays() -> None:
    assert "next" in left_out("tsp_insertion").whole
    assert "spent" in left_out("orienteering").whole
    assert not left_out("mst_kruskal").dominates


def test_objectives_that_can_only_fall() -> None:
    assert [name for name in (*ADDITIVE, *OTHERS) if falls(name)] == [
        "mvc",
        "elimination_order",
        "graph_colouring",
        "mst_kruskal",
    ]
