"""Searching: the same answers whatever plays beside, never worse than who drives, always valid."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from shipped_specs import shipped

from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.evaluation.solving import without_judges
from gnarl_runtime.instances.pools import Pool, draw_pool, pool_of
from gnarl_runtime.network.policy import Policy, PolicyConfig
from gnarl_runtime.search.anytime.plans import PLANS, replanned
from gnarl_runtime.search.arena import Arena, instance_keys
from gnarl_runtime.search.better import NOTHING, RIGHT, VALID, first_best, worth_of
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.outcomes import Keep, Outcomes
from gnarl_runtime.search.players import (
    ExpertPlayer,
    Index,
    KeyedPlayer,
    Player,
    PolicyPlayer,
    Turn,
)
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import Strategy, parse_search, parse_searches
from gnarl_runtime.search.task import Drivers, Found, Task
from gnarl_runtime.search.wide import Rank, beam_search

SPECS = ("mvc", "tsp", "rgc", "orienteering", "topological_sort")
POLICY_WAYS = ("picks", "sample:5", "beam:4", "starts:6", "work:90")


@cache
def compiled(name: str) -> Compiled:
    problem = shipped(name)
    experts = free_experts(problem)
    return compile_for(without_judges(problem, experts), experts=experts, metrics=True)


@cache
def pool(name: str, count: int = 4, nodes: int = 6) -> Pool:
    own = compiled(name)
    return draw_pool(own.problem, count=count, nodes=nodes, seed=3, oracles=own.oracles)


@cache
def drivers(name: str, aided: bool = True) -> Drivers:
    torch.manual_seed(2)
    own = compiled(name)
    policy = Policy(own.problem, PolicyConfig(width=8, rounds=1)).eval() if aided else None
    return Drivers(policy, own.experts)


def run(name: str, how: str, aided: bool = True, **others: object) -> Found:
    given: dict[str, object] = {"pool": pool(name), **others}
    return search(parse_search(how), drivers(name, aided), compiled(name), **given)  # type: ignore[arg-type]


def task(name: str, aided: bool = True, seed: int = 0, count: int = 1) -> Task:
    return Task(
        drivers(name, aided),
        compiled(name),
        pool(name, count),
        seed,
        None,
        None,
        None,
        None,
        lambda done, total: None,
        lambda number, moment: None,
    )


def level_and_value(outcomes: Outcomes, has_objective: bool) -> list[tuple[int, float]]:
    objective = outcomes.objective if has_objective else None
    worth = worth_of(outcomes.valid, outcomes.success, objective, outcomes.steps)
    return [worth.at(k) for k in range(len(outcomes))]


def test_what_is_better() -> None:
    valid = np.array([False, True, True, True, True])
    right = np.array([True, False, True, True, True])
    values, steps = np.array([9.0, 8.0, 1.0, 2.0, np.inf]), np.arange(5)
    worth = worth_of(valid, right, values, steps)
    assert worth.level.tolist() == [NOTHING, VALID, RIGHT, RIGHT, NOTHING]
    assert first_best(worth) == 3
    assert first_best(worth_of(valid, right, None, steps)) == 2, "fewest picks without a value"


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("how", [*POLICY_WAYS, "without sample:6", "without work:90"])
def test_answers_depend_on_neither_slots_nor_order(name: str, how: str) -> None:
    aided, how = "without" not in how, how.removeprefix("without ")
    whole = run(name, how, aided)
    few = run(name, how, aided, slots=3)
    assert whole.outcomes.picks == few.outcomes.picks
    assert whole.decisions.tolist() == few.decisions.tolist()
    turned = pool_of(compiled(name).problem, pool(name).instances()[::-1], pool(name).oracles)
    assert run(name, how, aided, pool=turned).outcomes.picks == whole.outcomes.picks[::-1]


@pytest.mark.parametrize("name", SPECS)
def test_a_beam_of_one_is_best_picks(name: str) -> None:
    assert run(name, "beam:1").outcomes.picks == run(name, "picks").outcomes.picks
    assert run(name, "starts:1").outcomes.picks == run(name, "picks").outcomes.picks


class _Numbered:
    """A player in its attempt of that number."""

    def __init__(self, player: Player, number: int) -> None:
        self.player, self.number = player, number

    def choose(self, engine: Engine, turn: Turn) -> Index:
        return self.player.choose(engine, replace(turn, sample=turn.sample + self.number))


def attempt(player: Player, name: str, number: int) -> Outcomes:
    return play_with(_Numbered(player, number), compiled(name), pool(name))


@pytest.mark.parametrize("name", SPECS)
def test_work_is_never_worse_than_who_drives_it(name: str) -> None:
    own, valued = compiled(name), bool(compiled(name).problem.objectives)
    found = level_and_value(run(name, "work:1").outcomes, valued)
    policy = drivers(name).policy
    assert policy is not None
    keys = instance_keys(pool(name))
    # Tries are numbered: the experts' first, in their order, then the policy's.
    for number, expert in enumerate(own.experts):
        alone = attempt(KeyedPlayer(ExpertPlayer(expert), keys), name, number)
        assert all(a >= b for a, b in zip(found, level_and_value(alone, valued), strict=True))
    alone = play_with(PolicyPlayer(policy), own, pool(name))
    assert all(a >= b for a, b in zip(found, level_and_value(alone, valued), strict=True))


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("aided", [True, False])
def test_more_work_is_never_worse_and_history_climbs(name: str, aided: bool) -> None:
    valued = bool(compiled(name).problem.objectives)
    less, more = run(name, "work:60", aided), run(name, "work:160", aided)
    pairs = zip(
        level_and_value(less.outcomes, valued), level_and_value(more.outcomes, valued), strict=True
    )
    assert all(a <= b for a, b in pairs)
    assert more.outcomes.valid.all()
    for number, moments in enumerate(more.history):
        climbed = [(moment.right, moment.value) for moment in moments]
        assert climbed == sorted(set(climbed))
        assert [m.decisions for m in moments] == sorted(m.decisions for m in moments)
        assert less.history[number] == () or [
            (m.decisions, m.value) for m in less.history[number]
        ] == [(m.decisions, m.value) for m in moments[: len(less.history[number])]]
        if valued:
            assert moments[-1].value == more.outcomes.objective[number]
    assert (more.decisions <= 160).all()


def test_a_correct_end_is_found_by_chance_alone() -> None:
    assert run("topological_sort", "work:800", aided=False).outcomes.correct.all()


@pytest.mark.parametrize("name", ["mvc", "rgc"])
def test_no_episode_is_drawn_twice_and_small_samples_are_in_large_ones(name: str) -> None:
    (small,) = beam_search(task(name), 6, Rank.NOISE)
    (large,) = beam_search(task(name), 12, Rank.NOISE)
    inside = [leaf.picks for leaf in large.inside]
    assert len(set(inside)) == len(inside) == 12
    assert {leaf.picks for leaf in small.inside} <= set(inside)


def test_everything_there_is_is_drawn_if_there_is_no_more() -> None:
    """Three nodes of TSP with one start: two ways around."""
    own = compiled("tsp")
    three = draw_pool(own.problem, count=1, nodes=3, seed=1, oracles=own.oracles)
    found = search(parse_search("sample:50"), Drivers(), own, three)
    assert found.decisions.tolist() == [1 + 2 + 2]


def test_the_first_draw_is_a_plain_draw() -> None:
    """The largest score belongs to each first pick as often as the policy says."""
    asked = task("mvc")
    arena = Arena(asked, 1)
    first = np.zeros(1, np.int64)
    arena.start(first, first)
    chances = np.exp(arena.log_chances(first))[0]
    draws = 150
    counts = np.zeros(len(chances))
    for seed in range(draws):
        (leaves,) = beam_search(task("mvc", seed=seed), 1, Rank.NOISE)
        counts[leaves.inside[0].picks[0]] += 1
    error = np.sqrt(chances * (1 - chances) / draws)
    assert (np.abs(counts / draws - chances) <= 4 * error).all()


def test_starts_differ_in_their_first_picks() -> None:
    (leaves,) = beam_search(task("mvc"), 5, Rank.STARTS)
    assert len({leaf.picks[0] for leaf in leaves.inside}) == 5
    (leaves,) = beam_search(task("tsp"), 5, Rank.STARTS)  # everybody starts at s
    assert len({leaf.picks[:2] for leaf in leaves.inside}) == 5


def test_plans_keep_rounds_together() -> None:
    picks = tuple(range(10))
    for plan in PLANS:
        changed = replanned(picks, plan, 1, 4, 2)
        pairs = set(zip(changed[::2], changed[1::2], strict=True))
        assert pairs <= {(k, k + 1) for k in range(0, 10, 2)}
        assert changed[:2] == picks[:2]
        assert changed[2:4] != picks[2:4]


def test_time_says_what_repeats_it() -> None:
    timed = run("mvc", "time:0.05", aided=False)
    assert timed.strategy.name == "work"
    again = run("mvc", str(timed.strategy), aided=False)
    assert again.outcomes.picks == timed.outcomes.picks


def test_states_are_kept_if_asked_for() -> None:
    found = run("mvc", "sample:2", keep=Keep(states=True))
    assert found.outcomes.states is not None
    assert found.outcomes.picks is not None


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("picks", Strategy("picks")),
        ("sample:64", Strategy("sample", 64)),
        (" beam : 3 ", Strategy("beam", 3)),
        ("time:0.5", Strategy("time", 0.5)),
        ("exact", Strategy("exact")),
    ],
)
def test_strategies_are_read_and_written(text: str, strategy: Strategy) -> None:
    assert parse_search(text) == strategy
    assert parse_search(str(strategy)) == strategy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sample:0", "expected sample:K with a number of episodes from 1 up"),
        ("sampel:4", "Did you mean `sample`?"),
        ("beam", "found none; expected beam:W"),
        ("work:x", "found `x`; expected work:N with a number of decisions"),
        ("time:-1", "a positive number of seconds"),
        ("picks:3", "takes no number"),
        ("", "expected one of: picks, sample:K"),
    ],
)
def test_mistakes_in_strategies_are_explained(text: str, said: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_search(text)
    assert said in str(told.value)


def test_no_strategy_is_asked_for_twice() -> None:
    assert len(parse_searches("picks,beam:2,beam:3")) == 3
    with pytest.raises(UsageError, match="twice"):
        parse_searches("picks,beam:2,beam:2")


def test_some_strategies_need_a_policy() -> None:
    with pytest.raises(UsageError, match="without one: sample:K, work:N"):
        run("mvc", "beam:2", aided=False)
