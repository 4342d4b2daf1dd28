"""Snapshots of engines: a restored one goes on exactly like the one they were taken from."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from shipped_specs import SHIPPED, shipped

from gnarl_compiler.graphs.streams import stream
from gnarl_runtime.envs.engine import Engine
from gnarl_runtime.envs.making import make_engine
from gnarl_runtime.training.environment_arrays import engine_arrays, restore_engine

SLOTS = 6


def engine_for(name: str, nodes: int = 6) -> Engine:
    return make_engine(shipped(name), slots=SLOTS, nodes=nodes, pool=12, seed=2)


def random_picks(legal: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal node per slot."""
    return np.asarray((rng.random(legal.shape) * legal).argmax(axis=1), np.int64)


def play(engine: Engine, first: int, steps: int) -> list[NDArray[np.float64]]:
    """Random steps with restarts, each from its own stream; the rewards they paid."""
    paid = []
    for step in range(first, first + steps):
        engine.step(random_picks(engine.batch.legal, stream(4, "play", step)))
        paid.append(engine.rewards.copy())
        engine.reset(engine.finished())
    return paid


@pytest.mark.parametrize("name", SHIPPED)
def test_restored_engine_continues_exactly(name: str) -> None:
    engine, other = engine_for(name), engine_for(name)
    engine.reset()
    play(engine, 0, 15)
    kept = engine_arrays(engine)
    frozen = {key: values.copy() for key, values in kept.items()}
    expected = play(engine, 15, 85)

    restore_engine(other, kept)  # never reset: everything comes from the arrays
    assert np.array_equal(play(other, 15, 85), expected)
    ours, theirs = engine_arrays(other), engine_arrays(engine)
    assert ours.keys() == theirs.keys()
    for key, values in theirs.items():
        assert np.array_equal(ours[key], values), key
        assert np.array_equal(kept[key], frozen[key]), f"{key} of the snapshot moved"
    assert engine.episodes.max() > 1, "no restart was seen"


@pytest.mark.parametrize("name", ["bellman_ford", "mst_prim", "mvc", "rgc", "tsp"])
def test_an_older_run_that_kept_other_things_goes_on_exactly(name: str) -> None:
    engine, other = engine_for(name), engine_for(name)
    engine.reset()
    play(engine, 0, 15)
    before = {key: own for key, own in engine_arrays(engine).items() if not key.startswith("kept.")}
    expected = play(engine, 15, 40)

    restore_engine(other, {**before, "kept.older": np.zeros(SLOTS)})
    assert np.array_equal(play(other, 15, 40), expected)


def test_an_engine_goes_back() -> None:
    engine = engine_for("tsp")
    engine.reset()
    kept = engine_arrays(engine)
    first = play(engine, 0, 10)
    restore_engine(engine, kept)
    assert np.array_equal(play(engine, 0, 10), first)


def test_arrays_of_another_engine_are_refused() -> None:
    engine, larger, other = engine_for("tsp"), engine_for("tsp", nodes=7), engine_for("mvc")
    engine.reset()
    before = engine_arrays(engine)
    larger.reset()
    other.reset()
    for foreign in (larger, other):
        with pytest.raises(ValueError, match="do not fit this engine"):
            restore_engine(engine, engine_arrays(foreign))
    surplus = {**before, "feature.colour": np.zeros(SLOTS)}
    with pytest.raises(ValueError, match=r"it has no feature\.colour"):
        restore_engine(engine, surplus)
    for key, values in engine_arrays(engine).items():
        assert np.array_equal(values, before[key]), f"{key} changed though the arrays were refused"
