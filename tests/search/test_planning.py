"""Experts that are made for each instance, on the compiled batch: equal to the interpreter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_experts import COVER, made_problem

from gnarl_compiler.interpret.episode import Interpreter
from gnarl_dsl.loading import loads
from gnarl_dsl.model import BestExpert
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.envs.episode_arrays import copy_episodes
from gnarl_runtime.envs.making import make_engine
from gnarl_runtime.instances.pools import Pool, draw_pool, pool_of
from gnarl_runtime.search.planned import planning
from gnarl_runtime.search.planned.planning import plan_experts, plan_instance
from gnarl_runtime.search.players import ExpertPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.training.environment_arrays import engine_arrays, restore_engine

PROBLEM = made_problem()


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_for(PROBLEM, None, ("better", "found", "heavy", "light"), metrics=True)


@pytest.fixture(scope="module")
def pool(compiled: Compiled) -> Pool:
    return plan_experts(compiled, draw_pool(PROBLEM, count=70, seed=1))


def test_best_of_chooses_as_the_interpreter_does(pool: Pool) -> None:
    game, expert = Interpreter(PROBLEM), PROBLEM.expert("better")
    assert isinstance(expert, BestExpert)
    chosen = [expert.members[k] for k in pool.plans["better"][:, 0]]
    bare = [replace(instance, plans={}) for instance in pool.instances()]
    assert chosen == [game.member(game.reset(instance), expert) for instance in bare]
    assert set(chosen) == set(expert.members)


def test_answers_are_the_interpreters(compiled: Compiled, pool: Pool) -> None:
    """In random plays that follow the found episode for a while, or never."""
    game, rng = Interpreter(PROBLEM), np.random.default_rng(0)
    engine = Engine(compiled, pool, 24)
    engine.load(engine.environments, engine.environments + 40)
    states = [game.reset(pool.instance(k + 40)) for k in range(24)]
    spoke = 0
    while any(state.ended is None for state in states):
        for name in ("better", "found"):
            answers = engine.expert(name)
            for slot, state in enumerate(states):
                assert np.array_equal(answers[slot, : state.n], game.expert(state, name))
        spoke += int(answers.any(axis=1).sum())
        actions = np.full(24, -1, np.int64)
        for slot, state in enumerate(states):
            if state.ended is None:
                follow = answers[slot].any() and rng.random() < 0.8
                fits = answers[slot, : state.n] if follow else game.mask(state)
                actions[slot] = rng.choice(np.flatnonzero(fits))
                states[slot] = game.step(state, int(actions[slot])).state
        engine.step(actions)
    assert spoke > 24  # it was followed beyond the first pick


def test_what_was_found_is_at_least_as_good(compiled: Compiled, pool: Pool) -> None:
    plays = {n: play_with(ExpertPlayer(n), compiled, pool) for n in ("found", "heavy", "light")}
    assert plays["found"].valid.all()
    best = np.maximum(plays["heavy"].objective, plays["light"].objective)
    assert (plays["found"].objective >= best - 1e-9).mean() > 0.95
    assert plays["found"].objective.mean() > best.mean() + 0.05


def test_found_once(pool: Pool, compiled: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the disk the second time; the same wherever an instance stands."""
    one = pool_of(PROBLEM, [replace(pool.instance(5), plans={})])
    again = plan_experts(compiled, one)
    assert again.instance(0).plans["found"].tolist() == pool.instance(5).plans["found"].tolist()
    alone = plan_instance(PROBLEM, replace(pool.instance(5), plans={}), "found")
    assert alone.plans["found"].tolist() == pool.instance(5).plans["found"].tolist()
    monkeypatch.setattr(planning, "search", None)
    fresh = draw_pool(PROBLEM, count=70, seed=1)
    assert np.array_equal(plan_experts(compiled, fresh).plans["found"], pool.plans["found"])


def test_progress_is_told(compiled: Compiled) -> None:
    told: list[tuple[int, int]] = []
    plan_experts(compiled, draw_pool(PROBLEM, count=3, seed=9), lambda *done: told.append(done))
    assert told == [(3, 3)]


def test_resumed_and_copied_episodes_go_on_alike(compiled: Compiled, pool: Pool) -> None:
    engine = Engine(compiled, pool, 12)
    engine.reset()
    for _ in range(2):
        labels = engine.expert("found")
        labels[::3] = engine.batch.legal[::3]  # some leave the path
        engine.step(labels.argmax(axis=1))
    kept, other = engine_arrays(engine), Engine(compiled, pool, 12, seed=5)
    other.reset()
    restore_engine(other, kept)
    twin = Engine(compiled, pool, 12)
    twin.reset()
    copy_episodes(engine, np.arange(12)[::-1].copy(), twin, np.arange(12))
    for name in ("found", "better"):
        answers = engine.expert(name)
        assert np.array_equal(other.expert(name), answers)
        assert np.array_equal(twin.expert(name), answers[::-1])


def test_nothing_is_kept_for_others() -> None:
    plain = compile_for(PROBLEM, None, ("heavy",))
    engine = Engine(plain, draw_pool(PROBLEM, count=3, seed=1), 2)
    assert not engine.following
    assert "engine.instance" not in engine_arrays(engine)


def test_without_valid_ends_nothing_is_said() -> None:
    text = COVER.replace("valid forall (x, y) in edges: on[x] or on[y]", "valid false")
    problem = loads(text + "expert found = search lit work 50\n")
    compiled = compile_for(problem, None, ("found",))
    bare = [replace(i, plans={}) for i in draw_pool(PROBLEM, count=2, seed=3).instances()]
    pool = plan_experts(compiled, pool_of(problem, bare))
    engine = Engine(compiled, pool, 2)
    engine.reset()
    assert not engine.expert("found").any()


def test_search_for_correct_ends() -> None:
    text = COVER.replace("valid forall", "correct forall").replace(
        "terminate when forall (x, y) in edges: on[x] or on[y]\n", ""
    )
    text = "\n".join(line for line in text.splitlines() if not line.startswith("objective"))
    problem = loads(f"{text}\nexpert found = search correct work 100\n")
    compiled = compile_for(problem, None, ("found",))
    bare = [replace(i, plans={}) for i in draw_pool(PROBLEM, count=2, seed=3).instances()]
    pool = plan_experts(compiled, pool_of(problem, bare))
    outcomes = play_with(ExpertPlayer("found"), compiled, pool)
    assert outcomes.correct.all()


def test_who_does_not_search_says_so(compiled: Compiled, tmp_path: Path) -> None:
    engine = Engine(compiled, draw_pool(PROBLEM, count=2, seed=1), 2)
    for name in ("better", "found"):
        with pytest.raises(UsageError, match="made for each instance"):
            engine.expert(name)
        with pytest.raises(UsageError, match="expected one of: heavy, light"):
            make_engine(PROBLEM, slots=1, expert=name)
