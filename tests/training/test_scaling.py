"""Training instances whose numbers are larger or smaller than the spec draws them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from shipped_specs import shipped

from gnarl_runtime.checkpoints.recipe import Data, Recipe
from gnarl_runtime.instances.pools import draw_pool
from gnarl_runtime.training.boundary.boundary import boundary_states
from gnarl_runtime.training.imitation.material import draw_material
from gnarl_runtime.training.scaling import rescaled


@settings(max_examples=10)
@given(st.floats(0.01, 10), st.floats(1, 10), st.integers(0, 2**32))
def test_all_numbers_of_an_instance_get_one_factor_within_the_range(
    low: float, ratio: float, seed: int
) -> None:
    problem = shipped("bellman_ford")
    pool = draw_pool(problem, count=5, nodes=6, seed=1)
    high = low * ratio
    for before, after in zip(
        pool.instances(), rescaled(problem, pool, (low, high), seed).instances(), strict=True
    ):
        edges = before.graph.adjacency
        factors = np.asarray(after.inputs["A"])[edges] / np.asarray(before.inputs["A"])[edges]
        assert np.allclose(factors, factors[0], rtol=1e-5)
        assert low * (1 - 1e-5) <= factors[0] <= high * (1 + 1e-5)
        assert after.inputs["s"] == before.inputs["s"]


def test_labels_are_those_of_the_new_numbers() -> None:
    problem = shipped("bellman_ford")
    pool = draw_pool(problem, count=4, nodes=6, seed=1, oracles=("dist",))
    for before, after in zip(
        pool.instances(), rescaled(problem, pool, (2, 2), 0, ("dist",)).instances(), strict=True
    ):
        assert np.allclose(
            np.asarray(after.oracles["dist"]), 2 * np.asarray(before.oracles["dist"])
        )


def test_the_same_seed_gives_the_same_factors() -> None:
    problem = shipped("mst_prim")
    data = Data(pool=6, nodes=5, scale=(0.1, 10))
    first, again, other = (
        np.asarray([i.inputs["A"].sum() for i in material.pool.instances()])
        for material in (draw_material(problem, Recipe(data=data), seed) for seed in (3, 3, 4))
    )
    assert (first == again).all()
    assert (first != other).any()


def test_boundary_instances_are_scaled_too() -> None:
    problem = shipped("bellman_ford")
    found = boundary_states(problem, count=6, margin=(1e-3, 1e-2), seed=0, nodes=6, scale=(20, 20))
    assert len(found) > 0
    assert all(np.asarray(i.inputs["A"]).max() > 2 for i in found.pool.instances())


@pytest.mark.parametrize("scale", [(2.0, 1.0), (0.0, 1.0), (-1.0, 1.0)])
def test_a_range_that_is_none_is_refused(scale: tuple[float, float]) -> None:
    with pytest.raises(ValidationError, match="scale"):
        Data(scale=scale)
