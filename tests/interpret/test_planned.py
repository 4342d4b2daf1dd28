"""Experts that are made for each instance, in the interpreter: whom they follow, and where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from made_experts import made_problem

from gnarl_compiler.instances.draw import choose_split, draw_instance, families
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.planned import Play, best_play

PROBLEM = made_problem()
GAME = Interpreter(PROBLEM)
FAMILY = families(choose_split(PROBLEM, "train", None))[0]


def test_which_play_is_best() -> None:
    assert best_play([Play(False, 9.0, 1), Play(True, 1.0, 5)]) == 1
    assert best_play([Play(True, 1.0, 1), Play(True, 2.0, 5)]) == 1
    assert best_play([Play(True, 2.0, 5), Play(True, 2.0 + 1e-12, 4), Play(True, 2.0, 4)]) == 1
    assert best_play([Play(True, 2.0, 5), Play(True, 2.0, 5)]) == 0
    assert best_play([Play(False, float("nan"), 1), Play(False, -1.0, 2)]) == 1
    assert best_play([Play(True, float("inf"), 3), Play(True, float("inf"), 2)]) == 1


def test_best_of_follows_one_member_everywhere() -> None:
    followed = set()
    for number in range(12):
        instance = draw_instance(PROBLEM, FAMILY, 0, number)
        plays = [GAME.play(instance, name) for name in ("heavy", "light")]
        member = ("heavy", "light")[best_play(plays)]
        followed.add(member)
        state, rng = GAME.reset(instance), np.random.default_rng(number)
        while state.ended is None:
            own = GAME.expert(state, "better")
            assert np.array_equal(own, GAME.expert(state, member))
            state = GAME.step(state, int(rng.choice(np.flatnonzero(GAME.mask(state))))).state
    assert followed == {"heavy", "light"}


def test_search_speaks_on_its_episode_only() -> None:
    instance = draw_instance(PROBLEM, FAMILY, 0, 3)
    assert not GAME.expert(GAME.reset(instance), "found").any()
    order = np.arange(instance.graph.n)[::-1].copy()
    known = replace(instance, plans={"found": order})
    state = GAME.reset(known)
    assert np.flatnonzero(GAME.expert(state, "found")).tolist() == [order[0]]
    on = GAME.step(state, int(order[0])).state
    assert np.flatnonzero(GAME.expert(on, "found")).tolist() == [order[1]]
    off = GAME.step(state, int(order[1])).state
    assert not GAME.expert(off, "found").any()
    assert not GAME.expert(GAME.step(off, int(order[0])).state, "found").any()


def test_plans_travel_with_the_nodes() -> None:
    instance = draw_instance(PROBLEM, FAMILY, 0, 4)
    plans = {"found": np.arange(instance.graph.n), "better": np.array(1)}
    names = np.random.default_rng(0).permutation(instance.graph.n)
    moved = replace(instance, plans=plans).relabel(PROBLEM, names)
    assert moved.plans["found"].tolist() == names.tolist()
    assert int(moved.plans["better"]) == 1
    here, there = GAME.member(GAME.reset(instance), PROBLEM.expert("better")), None  # type: ignore[arg-type]
    there = GAME.member(GAME.reset(instance.relabel(PROBLEM, names)), PROBLEM.expert("better"))  # type: ignore[arg-type]
    assert here == there
