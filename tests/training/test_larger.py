"""Learning from some larger graphs, and choosing weights by them, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from shipped_specs import shipped

import gnarl_dsl as gnarl
from gnarl_runtime.checkpoints.recipe import Data, Imitation, Improvement, Recipe, Validation
from gnarl_runtime.envs.engine import compile_for
from gnarl_runtime.instances.pools import Pool, draw_pool, joined, most_nodes
from gnarl_runtime.network.policy import Policy, PolicyConfig
from gnarl_runtime.search.outcomes import Outcomes, blank_outcomes
from gnarl_runtime.search.rollout import play
from gnarl_runtime.training.auto import larger
from gnarl_runtime.training.auto.choice import RANDOM, Choice, Standing
from gnarl_runtime.training.auto.larger import learn_larger, with_larger
from gnarl_runtime.training.improve.improve import ImproveTrainer
from gnarl_runtime.training.scaling import training_pool
from gnarl_runtime.training.trainers import make_trainer
from gnarl_runtime.training.validate import make_validator, scores_of

DATA = Data(nodes=5, pool=10, larger_nodes=(8, 9))


def sizes(pool: Pool) -> list[int]:
    return [int(n) for n in pool.batch.n]


def recipe(**improve: Any) -> Recipe:
    own = {"graphs": 5, "samples": 6, "larger_samples": 2, "batch": 8, "updates": 4, **improve}
    return Recipe(
        trainer="improve",
        policy=PolicyConfig(width=8, rounds=1),
        data=DATA,
        bc=Imitation(updates=2, graphs=6, larger=0.5),
        improve=Improvement(**own),
        validation=Validation(graphs=6, larger=12, larger_graphs=3, larger_weight=0.5),
    )


# Data


def test_a_share_of_the_instances_is_larger() -> None:
    compiled = compile_for(shipped("mvc"))
    found = sizes(training_pool(compiled, DATA, 3, larger=0.3))
    assert found[:7] == [5] * 7
    assert set(found[7:]) <= {8, 9}
    assert len(found) == 10
    assert sizes(training_pool(compiled, DATA, 3)) == [5] * 10
    assert set(sizes(training_pool(compiled, DATA, 3, larger=1.0))) <= {8, 9}


def test_joined_pools_hold_the_same_instances() -> None:
    problem = shipped("bellman_ford")
    parts = [draw_pool(problem, count=3, nodes=n, seed=1, oracles=("dist",)) for n in (4, 7)]
    both = joined(parts)
    for one, other in zip(
        both.instances(), [i for part in parts for i in part.instances()], strict=True
    ):
        assert (one.graph.adjacency == other.graph.adjacency).all()
        assert all((one.inputs[name] == other.inputs[name]).all() for name in ("A",))
        assert np.allclose(one.oracles["dist"], other.oracles["dist"])


def test_sizes_that_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"expected larger_nodes = \[low, high\]"):
        Data(larger_nodes=(9, 4))


# Validation


def outcomes(success: list[bool], reward: list[float], steps: int) -> Outcomes:
    count = len(success)
    blank = blank_outcomes(np.arange(count), np.zeros(count, int), np.full(count, 5), ())
    blank.correct[:], blank.reward[:], blank.steps[:] = success, reward, steps
    return blank


def test_larger_graphs_count_half_however_few_they_are() -> None:
    usual, larger = outcomes([True] * 4, [-1.0] * 4, 4), outcomes([True, False], [-8.0, -4.0], 8)
    found = scores_of([usual, larger], 0.5)
    assert (found.success, found.reward, found.steps) == (0.75, -2.0, 6.0)
    alike = scores_of([usual, larger])
    assert alike.success == pytest.approx(5 / 6)
    assert alike.reward == pytest.approx(-16 / 6)


def test_a_validator_plays_them() -> None:
    problem = shipped("mvc")
    found = make_validator(problem, recipe(), 0)
    assert [len(pool) for pool in found.pools] == [6, 3]
    assert set(sizes(found.pools[1])) == {12}
    policy = Policy(problem, PolicyConfig(width=8, rounds=1))
    usual, larger = (play(policy, found.compiled, pool).reward.mean() for pool in found.pools)
    assert found.scores(policy).reward == pytest.approx((usual + 0.5 * larger) / 2)


# Training


def test_fewer_episodes_of_larger_graphs_are_drawn_and_the_best_of_all_learned() -> None:
    trainer = ImproveTrainer(shipped("mvc"), recipe(larger=0.4), 1)
    assert trainer.larger.tolist() == [False] * 6 + [True] * 4
    played = []
    for stage in (trainer.stage, trainer.few):
        usual = stage.play
        stage.play = lambda *a, usual=usual: played.append(usual(*a)) or played[-1]  # type: ignore
    for _ in range(2):  # all of the pool
        trainer.update()
    counts = np.zeros(10, int)
    for episodes in played:
        np.add.at(counts, episodes.instance, 1)
    assert counts.tolist() == [6] * 6 + [2] * 4
    assert len(trainer.memory.known) == 10


def test_training_with_larger_graphs_is_continued_exactly() -> None:
    problem, own = shipped("mvc"), recipe(larger=0.4)
    whole, first = ImproveTrainer(problem, own, 1), ImproveTrainer(problem, own, 1)
    for _ in range(4):
        whole.update()
    for _ in range(2):
        first.update()
    second = ImproveTrainer(problem, own, 1)
    second.restore(first.arrays(), first.done)
    for _ in range(2):
        second.update()
    left, right = (t.best_policy().state_dict() for t in (whole, second))
    assert all((left[name] == right[name]).all() for name in left)


def test_imitation_sees_them() -> None:
    own = recipe().model_copy(update={"trainer": "bc"})
    trainer = make_trainer(shipped("mvc"), own, 0)
    trainer.update()
    assert set(sizes(trainer.material.pool)[5:]) <= {8, 9}  # type: ignore[attr-defined]


# Defaults


def standings(problem: gnarl.Problem) -> list[Standing]:
    names = [RANDOM, *(expert.name for expert in problem.experts)]
    return [
        Standing(name=name, success=1.0, reward=-k, steps=5.0, reads_oracle=name == "optimal")
        for k, name in enumerate(names, 1)
    ]


def test_defaults_look_at_graphs_three_times_as_large() -> None:
    problem = shipped("min_dominating_set")
    found = with_larger(problem, Recipe(), standings(problem), 0)
    assert most_nodes(problem, "train") == 16
    assert found.validation.larger == 48
    assert 0 < found.validation.larger_weight < 1  # more nodes cost more
    by_rule = Choice(standings=tuple(standings(problem)), why="", expert="cheapest")
    learned = learn_larger(problem, found, by_rule)
    assert learned.data.larger_nodes == (17, 48)
    assert learned.bc.larger > 0
    assert learned.improve.larger > 0
    # Who looks answers up would need them of the larger graphs.
    looked_up = learn_larger(problem, found, by_rule.model_copy(update={"expert": "optimal"}))
    assert looked_up.bc.larger == 0
    assert looked_up.improve.larger > 0


def test_larger_graphs_are_left_where_one_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = shipped("min_dominating_set")
    monkeypatch.setattr(larger, "FIRST", -1.0)
    assert with_larger(problem, Recipe(), standings(problem), 0) == Recipe()


def test_who_says_which_sizes_is_heeded() -> None:
    problem = shipped("min_dominating_set")
    for own in (Recipe(data=Data(nodes=9)), Recipe(validation=Validation(nodes=9))):
        assert with_larger(problem, own, standings(problem), 0) == own
        assert learn_larger(problem, own, Choice(standings=(), why="")) == own
