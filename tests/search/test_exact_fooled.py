"""Specs made to fool the analysis behind `exact`: whatever it calls proven is the best there is.

All are variants of a few kinds of rounds over the same features. The oracle tries every episode in
the interpreter. Nobody plays beforehand, so that a lucky play does not hide a wrong bound.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from duel import plain_artifact

from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import SpecRunError, State
from gnarl_dsl.loading import check_text
from gnarl_dsl.model import Problem
from gnarl_runtime.envs.engine import Compiled
from gnarl_runtime.instances.pools import pool_of
from gnarl_runtime.search import exact as exact_search
from gnarl_runtime.search.better import LEAST, worth_of, worth_of_outcomes
from gnarl_runtime.search.exact import first_plays
from gnarl_runtime.search.proof import branching
from gnarl_runtime.search.proof.futures import formulas_of, live_part, whole_state
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy
from gnarl_runtime.search.task import Drivers, Found

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FEATURES = """gnarl 1
problem fooled
graph undirected{mutable}
features
  w     input    node     scalar   ~ uniform(-1, 1)
  c     input    node     scalar   ~ uniform(0, 1)
  p     input    pair     scalar   ~ uniform(0, 1)
  s     input    node     mask_one ~ any_node
  been  state    node     mask     = false
  flip  state    node     mask     = false
  f     state    node     scalar   = 0
  g     state    node     scalar   = 0
  h     state    pair     scalar   = 0
  up    state    node(x)  pointer  = x
  cost  state    graph    scalar   = 0
  debt  state    graph    scalar   = 0
  here  state    node     mask_one = s
  level state    graph    categorical(2) = 0
  trap  state    graph    scalar   = 0
  dear  derived  node(x)  mask     = cost + c[x] > 1
let from = last(pick) otherwise s
let done = count(x in nodes where been[x])
"""

PATH = """phase pick(v)
  allow not been[v]{allow}
  update
    f[v]       := p[from, v]
    up[v]      := from
    cost       := cost + p[from, v]
    debt       := debt - w[v] * p[v, from]
    flip[from] := not flip[from]
    g[from]    := w[v]
    h[from, v] := w[v]
    been[v]    := true
    here       := v
"""
ORDER = """phase pick(v)
  allow not been[v]{allow}
  update
    f[v]    := w[v] * done
    cost    := cost + c[v] * done
    debt    := debt - w[v] * (n - done)
    up[v]   := here
    g[here] := c[v]
    here    := v
    been[v] := true
"""
RESET = ORDER + "    if done == 3\n      cost := 0\n"
FULL = ORDER + "    if c[v] < 0.5 and done > 2\n      level := level + 1\n"
TRAP = ORDER + (
    "    if done > 2\n      trap := min(x in nodes where level == 0: w[x])\n"
    "    if done == 2 and c[v] < 0.5\n      level := 1\n"
)
TWO = """phase pick(v)
  allow not been[v]{allow}
  update
    f[v]    := c[v]
    been[v] := true
    flip[v] := w[v] > 0
phase to(u)
  allow u != v
  update
    cost    := cost + p[v, u]
    debt    := debt - w[u] * p[u, v]
    up[v]   := u
    g[v]    := p[u, v]
    h[v, u] := p[v, u]
    here    := u
    if w[u] > 0
      flip[v] := false
"""
STUCK = TWO.replace("allow u != v", "allow u != v and w[u] > w[v]")
FREE = """phase pick(v)
  allow v != here{allow}
  update
    f[v]    := f[v] + c[v] * p[here, v]
    g[v]    := w[v] * p[v, here]
    been[v] := not been[v]
    up[v]   := here
    flip[v] := true
    cost    := cost + p[here, v]
    debt    := debt - w[v]
    here    := v
"""
EDGES = """phase pick(v)
  allow not been[v]{allow}
  update
    if v != from
      edge(from, v) := not edge(from, v)
    cost    := cost + degree(v) * c[v]
    debt    := debt - w[v] * degree(from)
    f[v]    := c[v] * degree(v)
    been[v] := true
    up[v]   := from
    here    := v
"""

ENDS = """
horizon {horizon} rounds
{clauses}
objective goal = {objective}
instances er
  train 10 er(n = 4, p = 0.5)
  valid 10 er(n = 4, p = 0.5)
  test  10 er(n = 4, p = 0.5)
"""

# Kind of round, objective, what `allow` says beside, other clauses.
CASES = [
    # A cost that something else reads later
    (PATH, "-cost", " and not dear[v]", ""),
    (ORDER, "-cost + debt", " and (f[s] < 0.7 or w[v] > 0)", ""),
    (ORDER, "debt", " and g[v] < 0.6", ""),
    (PATH, "debt", " and p[up[s], v] < 0.8", ""),
    (ORDER, "-sum(x in nodes where dear[x]: c[x]) + debt", "", ""),
    # Set anew, and what only an update reads that fails
    (RESET, "-cost + debt", "", ""),
    (RESET, "-cost - debt", "", ""),
    (FULL, "debt", "", ""),
    (FULL, "sum(x in nodes: f[x])", "", ""),
    (TRAP, "debt", "", ""),
    (TRAP, "-cost", "", "valid cost < 3"),
    # Ends
    (PATH, "-cost", "", "terminate when f[here] > 0.6"),
    (ORDER, "-cost", "", "terminate when debt > 0.3"),
    (PATH, "debt", "", "terminate when count(x in nodes where flip[x]) >= 2"),
    (ORDER, "debt", "", "terminate when g[s] > 0.5"),
    (PATH, "-cost", "", "valid w[last(pick) otherwise s] > 0"),
    (ORDER, "debt", "", "valid w[last(pick) otherwise s] > 0 and f[s] < 0.4"),
    (ORDER, "-cost", "", "valid cost > 2"),
    (PATH, "-cost", "", "valid f[s] < 0.3\ncorrect p[up[s], s] < 0.5"),
    (ORDER, "debt", "", "correct cost < 1.5"),
    (PATH, "-cost", "", "valid cost < 0"),
    # Objectives that are no sums, or fall in some branches only
    (ORDER, "-max(cost, 1)", "", ""),
    (ORDER, "-min(cost, debt)", "", ""),
    (ORDER, "max(cost, -debt)", "", ""),
    (ORDER, "-cost * cost + debt", "", ""),
    (ORDER, "-cost * done", "", "terminate when cost > 0.9"),
    (ORDER, "-cost * f[s]", "", ""),
    (PATH, "if cost < 0.8 then -cost else cost", "", ""),
    (PATH, "-(if exists x in nodes: f[x] > 0.7 then 0 else 1) - cost", "", ""),
    (ORDER, "-abs(cost + debt)", "", ""),
    (PATH, "-w[s] * cost", "", "terminate when debt > 0"),
    (ORDER, "cost / w[s] - debt", "", ""),
    (PATH, "-cost - sum(x in nodes where been[x]: w[x])", "", "terminate when debt > 0"),
    (PATH, "-sum(x in nodes where been[x] and flip[x]: c[x])", "", "terminate when cost > 1"),
    (TWO, "-sum(x in nodes where been[x] and flip[x]: c[x])", "", ""),
    (TWO, "-sum(x in nodes where been[x] and not flip[x]: c[x])", "", "terminate when debt > 0"),
    # Cells that settle, or do not
    (PATH, "-sum(x in nodes: abs(f[x] - g[x]))", "", ""),
    (PATH, "-max(x in nodes: f[x]) - sum(x in nodes: f[x])", "", ""),
    (PATH, "-sum(x in nodes: f[up[x]])", "", ""),
    (PATH, "-sum(x in nodes: p[up[up[x]], x])", "", ""),
    (PATH, "-sum(x in nodes: min(depth(up, x, s), n))", "", ""),
    (PATH, "sum(x in nodes, y in nodes: h[x, y] * p[y, x])", "", ""),
    (PATH, "-cost - p[last(pick) otherwise s, s]", "", ""),
    (ORDER, "debt - f[here]", "", ""),
    (FREE, "-sum(x in nodes where been[x]: f[x])", "", ""),
    (FREE, "-count(x in nodes where been[x]) + sum(x in nodes: g[x])", "", ""),
    (FREE, "-sum(x in nodes: p[up[up[x]], x])", "", "terminate when debt > 0.3"),
    # Rounds of two picks, some of which cannot be finished
    (TWO, "-cost", "", "valid w[here] > 0"),
    (TWO, "sum(x in nodes: f[x] * g[x])", "", ""),
    (TWO, "-sum(x in nodes: p[up[x], x])", " and g[v] < 0.6", ""),
    (STUCK, "-cost + debt", "", ""),
    # Edges that come and go
    (EDGES, "-sum((x, y) in edges where been[x] and been[y]: p[x, y] + p[y, x])", "", ""),
    (EDGES, "-m - 0.1 * cost", "", "terminate when m > 3"),
    (EDGES, "sum(x in nodes: f[x] * degree(x))", "", ""),
    # No finite number on the way, or at the end
    (ORDER, "-cost / (n - 4)", "", ""),
    (ORDER, "-cost / max(done - 2, 0)", "", ""),
    (PATH, "-cost - min(x in nodes where flip[x]: c[x])", "", ""),
]


def spec(rounds: str, objective: str, allow: str = "", clauses: str = "") -> Problem:
    horizon = {TWO: "2", STUCK: "2", FREE: "3"}.get(rounds, "n")
    mutable = " mutable" if rounds is EDGES else ""
    ends = ENDS.format(horizon=horizon, clauses=clauses, objective=objective)
    problem = check_text(
        FEATURES.format(mutable=mutable) + rounds.format(allow=allow) + ends
    ).problem
    assert problem is not None
    return problem


def drawn(problem: Problem, count: int = 4) -> list[Instance]:
    family = families(choose_split(problem, "train"))[0]
    return [draw_instance(problem, family, 5, k, nodes=4) for k in range(count)]


def exact(
    problem: Problem, instances: list[Instance], amount: float | None = None, **options: int
) -> Found:
    experts = tuple(expert.name for expert in problem.experts)
    compiled = Compiled(problem, plain_artifact(problem), None, experts, True)
    pool = pool_of(problem, instances, compiled.oracles)
    drivers = Drivers(experts=experts)
    return search(Strategy("exact", amount), drivers, compiled, pool, **options)


def every_end(
    game: Interpreter, state: State, most: float = math.inf, steps: int = 0
) -> tuple[int, float]:
    """The best worth of all episodes from a state; picks at which the spec fails are none."""
    if state.ended is not None or state.rounds >= most:
        valid, right = game.valid(state), not game.problem.correct or game.correct(state)
        truths = np.array([valid]), np.array([valid and right])
        return worth_of(*truths, np.array([game.objective(state)]), np.array([steps])).at(0)
    best = LEAST
    for node in np.flatnonzero(game.mask(state)):
        try:
            following = game.apply(state, int(node)).state
        except SpecRunError:
            continue
        best = max(best, every_end(game, following, most, steps + 1))
    return best


def assert_not_fooled(problem: Problem, found: Found, instances: list[Instance]) -> None:
    game = Interpreter(problem)
    worth = worth_of_outcomes(found.outcomes, True)
    for place, instance in enumerate(instances):
        level, value = every_end(game, game.reset(instance))
        if found.proven[place]:
            assert worth.level[place] == level
            assert math.isclose(worth.value[place], value, rel_tol=1e-9, abs_tol=1e-9)
        else:  # only if there is no episode, as there are no limits
            assert (level, value) == LEAST


@pytest.fixture(autouse=True)
def nobody_plays_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "BLOCK", 24)
    monkeypatch.setattr(branching, "BLOCK", 24)
    monkeypatch.setattr(
        exact_search,
        "first_plays",
        lambda task: ([branching.Best()] * len(task.pool), [0] * len(task.pool)),
    )


@pytest.mark.parametrize("case", CASES, ids=[str(k) for k in range(len(CASES))])
def test_is_not_fooled(case: tuple[str, str, str, str]) -> None:
    problem = spec(*case)
    instances = drawn(problem)
    assert_not_fooled(problem, exact(problem, instances), instances)


def test_some_of_these_are_merged_all_the_same() -> None:
    """Giving up everywhere would be no achievement."""
    merged = 0
    for case in CASES:
        formulas = formulas_of(spec(*case))
        merged += live_part(formulas, formulas.program.objectives[0][1]).dominates
    assert merged >= 20


def test_a_sum_that_is_set_anew_is_no_sum() -> None:
    formulas = formulas_of(spec(RESET, "-cost + debt"))
    assert live_part(formulas, formulas.program.objectives[0][1]).sums == ("debt",)


def test_cells_that_settle_at_different_times_do_not_settle_together() -> None:
    problem = spec(PATH, "sum(x in nodes: f[x] * g[x])")
    formulas = formulas_of(problem)
    assert not live_part(formulas, formulas.program.objectives[0][1]).settling
    instances = drawn(problem, 24)
    assert_not_fooled(problem, exact(problem, instances), instances)


def test_what_makes_an_update_fail_is_live() -> None:
    for rounds in (FULL, TRAP):
        formulas = formulas_of(spec(rounds, "debt"))
        objective = formulas.program.objectives[0][1]
        assert "level" in live_part(formulas, objective).whole
        assert "level" in whole_state(formulas, objective).whole


def test_nothing_is_proven_of_an_instance_without_an_episode() -> None:
    problem = spec(ORDER.replace("    here    := v\n", "    level := level + n\n"), "-cost")
    found = exact(problem, drawn(problem))
    assert not found.proven.any()
    assert found.endless.all()
    assert not found.outcomes.valid.any()
    assert np.isnan(found.outcomes.objective).all()


def test_an_end_that_is_not_valid_is_no_solution() -> None:
    problem = spec(PATH, "-cost", clauses="valid cost < 0")
    found = exact(problem, drawn(problem))
    assert found.proven.all()
    assert not found.outcomes.valid.any()
    assert (found.outcomes.steps == 4).all()


@pytest.mark.parametrize("objective", ["-cost", "-cost * cost + debt"])
def test_what_reaches_a_limit_is_not_proven(objective: str) -> None:
    problem = spec(PATH, objective)
    instances = drawn(problem)
    needed = exact(problem, instances).decisions
    for amount in (1, 10, int(needed.min()) // 2):
        assert not exact(problem, instances, amount).proven.any()


def test_an_expert_that_stops_has_not_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_search, "first_plays", first_plays)
    early = "expert early\n  pick: uniform v where done < 2"
    problem = spec(PATH, "-cost", clauses=early)
    instances = drawn(problem)
    found = exact(problem, instances)
    assert (found.outcomes.steps == 4).all()
    assert_not_fooled(problem, found, instances)


def test_the_best_within_fewer_rounds() -> None:
    problem = spec(ORDER, "debt", clauses="valid f[s] < 0.4")
    instances, game = drawn(problem), Interpreter(problem)
    found = exact(problem, instances, max_rounds=2)
    wanted = [every_end(game, game.reset(instance), most=2) for instance in instances]
    worth = worth_of_outcomes(found.outcomes, True)
    assert found.proven.all()
    assert [worth.at(k) for k in range(len(wanted))] == [
        (level, pytest.approx(value)) for level, value in wanted
    ]
