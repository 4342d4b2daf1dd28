"""Picks of the wrong number, type or range are turned away at the door of an environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.state import IllegalPick
from gnarl_runtime.envs.actions import ActionError

ENVS = 6


@pytest.fixture(scope="module")
def envs() -> Any:
    return gnarl.make_vec("mvc", num_envs=ENVS, nodes=5, pool=8)


WRONG: dict[str, Any] = {
    "one for all": np.zeros(1, np.int64),
    "too few": np.zeros(ENVS - 1, np.int64),
    "too many": np.zeros(ENVS + 1, np.int64),
    "a column": np.zeros((ENVS, 1), np.int64),
    "a number": 0,
    "nothing": None,
    "floats": np.zeros(ENVS),
    "not numbers": np.full(ENVS, np.nan),
    "truths": np.zeros(ENVS, np.bool_),
    "objects": np.array([None] * ENVS),
    "texts": np.array(["0"] * ENVS),
}


@pytest.mark.parametrize("actions", WRONG.values(), ids=WRONG.keys())
def test_wrong_actions_change_nothing(envs: Any, actions: Any) -> None:
    observation, _ = envs.reset(seed=1)
    before = {name: values.copy() for name, values in observation.items()}
    with pytest.raises(ActionError, match="expected"):
        envs.step(actions)
    for name, values in envs._observation().items():
        np.testing.assert_array_equal(values, before[name])


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint16, np.uint64, list, tuple])
def test_whole_numbers_of_any_kind_are_played(envs: Any, kind: Any) -> None:
    _, info = envs.reset(seed=1)
    picks = info["action_mask"].argmax(axis=1)
    expected = envs.step(picks)[1]
    envs.reset(seed=1)
    given = kind(picks.tolist()) if kind in (list, tuple) else picks.astype(kind)
    np.testing.assert_array_equal(envs.step(given)[1], expected)


def test_picks_beyond_every_graph_are_illegal(envs: Any) -> None:
    for far in (-1, 5, 2**62, -(2**62)):
        envs.reset(seed=1)
        with pytest.raises(IllegalPick):
            envs.step(np.full(ENVS, far))


def test_one_environment_takes_one_whole_number() -> None:
    env = gnarl.make("mvc", nodes=5, pool=4)
    for wrong in (1.5, 1.0, None, True, np.bool_(True), "1", np.array([1]), [1]):
        env.reset(seed=0)
        with pytest.raises(ActionError, match="whole number"):
            env.step(wrong)
    for far in (-1, 5, 2**70, -(2**70)):
        env.reset(seed=0)
        with pytest.raises(IllegalPick, match="there is no node"):
            env.step(far)
    for right in (1, np.int8(1), np.uint64(1), np.array(1)):
        env.reset(seed=0)
        env.step(right)


def test_the_number_of_an_instance_is_looked_at() -> None:
    env = gnarl.make("mvc", nodes=5, pool=4)
    env.reset(options={"instance": 3})
    for wrong in (4, -1, 10**12):
        with pytest.raises(ActionError, match="there are 4"):
            env.reset(options={"instance": wrong})
    with pytest.raises(ActionError, match="whole number"):
        env.reset(options={"instance": 1.5})
