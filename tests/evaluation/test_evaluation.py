"""Evaluation: episodes agree with the interpreter, results do not depend on batching, figures."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from shipped_specs import shipped
from small_instances import assert_same

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State
from gnarl_runtime.envs.engine import Compiled, compile_for
from gnarl_runtime.evaluation import evaluate as evaluation
from gnarl_runtime.evaluation.baselines import UnknownBaseline, find_baseline, known_names
from gnarl_runtime.evaluation.evaluate import FRESH, Plan, evaluate, split_sizes, without_metrics
from gnarl_runtime.evaluation.summary import Row, rows_by_size, summarise, wilson
from gnarl_runtime.instances.pools import Pool, draw_pool, pool_of
from gnarl_runtime.network.policy import Policy, PolicyConfig
from gnarl_runtime.search.outcomes import Keep, Outcomes, blank_outcomes
from gnarl_runtime.search.players import (
    ExpertPlayer,
    PolicyPlayer,
    RandomPlayer,
    ReplayError,
    ReplayPlayer,
    draw_picks,
)
from gnarl_runtime.search.rollout import choose_slots, play, play_with

EXPERTS = {"bellman_ford": ("sticky",), "mvc": ("optimal",)}
SHY = """gnarl 1
problem shy
  "Its expert stops after one pick."
graph undirected
features
  seen  state  node  mask  = false
phase pick(v)
  allow not seen[v]
  update
    seen[v] := true
horizon n rounds
objective size = count(x in nodes where seen[x])
expert once
  pick: uniform v where not exists x in nodes: seen[x]
instances er
  train 10  er(n = 5, p = 0.5)
  valid 10  er(n = 5, p = 0.5)
  test  10  er(n = [4, 6], p = 0.5)
"""


@cache
def compiled(name: str) -> Compiled:
    """One set of kernels per problem: every other mode would be compiled anew."""
    return compile_for(shipped(name), experts=EXPERTS[name], metrics=True)


@cache
def pool(name: str, count: int = 9) -> Pool:
    known = compiled(name)
    return draw_pool(
        shipped(name), count=count, nodes=(4, 7), seed=5, split="test", oracles=known.oracles
    )


@cache
def policy(name: str) -> Policy:
    torch.manual_seed(3)
    return Policy(shipped(name), PolicyConfig(width=8, rounds=1))


# Episodes


def replayed(game: Interpreter, instance: Instance, picks: tuple[int, ...]) -> tuple[State, float]:
    state, total = game.reset(instance), 0.0
    for pick in picks:
        step = game.step(state, pick)
        state, total = step.state, total + step.reward
    return state, total


@pytest.mark.parametrize("name", ["bellman_ford", "mvc"])
@pytest.mark.parametrize("player", ["best", "drawn", "expert", "random"])
def test_outcomes_are_what_the_interpreter_says_of_the_same_picks(name: str, player: str) -> None:
    players = {
        "best": PolicyPlayer(policy(name)),
        "drawn": PolicyPlayer(policy(name), 1.0),
        "expert": ExpertPlayer(EXPERTS[name][0]),
        "random": RandomPlayer(),
    }
    out = play_with(players[player], compiled(name), pool(name), slots=4, keep=Keep(picks=True))
    problem, game = shipped(name), Interpreter(shipped(name))
    assert out.picks is not None
    for k, picks in enumerate(out.picks):
        state, total = replayed(game, pool(name).instance(k), picks)
        assert state.ended == ("truncated" if out.truncated[k] else "terminated")
        assert len(picks) == out.steps[k]
        assert game.valid(state) == out.valid[k]
        right = game.correct(state) if problem.correct is not None else game.valid(state)
        assert right == out.correct[k]
        assert total == pytest.approx(out.reward[k], abs=1e-9)
        if problem.objectives:
            assert game.objective(state) == pytest.approx(out.objective[k])
        else:
            assert math.isnan(out.objective[k])
        for metric, values in out.metrics.items():
            assert game.metric(state, metric) == pytest.approx(values[k])


@given(slots=st.integers(1, 20), seed=st.integers(0, 5), samples=st.integers(1, 3))
@settings(max_examples=12)
def test_episodes_do_not_depend_on_how_many_run_at_once(
    slots: int, seed: int, samples: int
) -> None:
    for player in (PolicyPlayer(policy("mvc"), 0.7, seed), RandomPlayer(seed)):
        keep = Keep(picks=True, solutions=True)
        runs = [
            play_with(player, compiled("mvc"), pool("mvc"), samples=samples, slots=k, keep=keep)
            for k in (slots, 1000)
        ]
        assert runs[0].picks == runs[1].picks
        assert runs[0].solutions is not None
        assert runs[1].solutions is not None
        assert (runs[0].solutions == runs[1].solutions).all()
        assert (runs[0].reward == runs[1].reward).all()


def test_the_seed_decides_drawn_picks_and_nothing_of_torch_moves() -> None:
    before = torch.random.get_rng_state()
    weights = {name: values.clone() for name, values in policy("mvc").state_dict().items()}
    keep = Keep(picks=True)
    runs = [
        play(policy("mvc"), compiled("mvc"), pool("mvc"), temperature=1.0, seed=seed, keep=keep)
        for seed in (0, 0, 1)
    ]
    assert runs[0].picks == runs[1].picks
    assert runs[0].picks != runs[2].picks
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(weights[k], v) for k, v in policy("mvc").state_dict().items())


def test_a_low_temperature_is_the_best_pick() -> None:
    keep = Keep(picks=True)
    best = play(policy("mvc"), compiled("mvc"), pool("mvc"), keep=keep)
    cold = play(policy("mvc"), compiled("mvc"), pool("mvc"), temperature=1e-6, keep=keep)
    assert best.picks == cold.picks


def test_samples_of_an_instance_differ_and_stand_side_by_side() -> None:
    keep = Keep(picks=True)
    out = play_with(RandomPlayer(), compiled("mvc"), pool("mvc"), samples=8, keep=keep)
    assert out.instance.tolist() == [k for k in range(len(pool("mvc"))) for _ in range(8)]
    assert out.sample.tolist() == list(range(8)) * len(pool("mvc"))
    assert out.picks is not None
    assert len(set(out.picks[:8])) > 1


def test_a_graph_that_is_over_at_its_start_takes_no_step() -> None:
    bare = Graph(False, np.zeros((3, 3), np.bool_))
    instance = Instance(bare, {"w": np.ones(3)}, np.arange(3, dtype=np.uint64))
    bring = {name: np.zeros(3, np.bool_) for name in compiled("mvc").oracles}
    given_ = Instance(bare, instance.inputs, instance.tags, bring)
    mixed = pool_of(shipped("mvc"), [given_, pool("mvc").instance(0)], compiled("mvc").oracles)
    out = play_with(RandomPlayer(), compiled("mvc"), mixed, slots=1)
    assert out.steps[0] == 0
    assert out.steps[1] > 0
    assert out.valid.all()


def test_the_best_expert_is_never_beaten() -> None:
    best = play_with(ExpertPlayer("optimal"), compiled("mvc"), pool("mvc"))
    assert best.success.all()
    for other in (PolicyPlayer(policy("mvc")), RandomPlayer()):
        out = play_with(other, compiled("mvc"), pool("mvc"))
        assert (out.objective <= best.objective + 1e-9).all()


def test_an_expert_with_nothing_to_say_stops() -> None:
    problem = gnarl.loads(SHY)
    known = compile_for(problem, experts=("once",), metrics=True)
    out = play_with(ExpertPlayer("once"), known, draw_pool(problem, count=3, seed=0))
    assert out.steps.tolist() == [1, 1, 1]
    assert out.stopped.all()
    assert out.objective.tolist() == [1, 1, 1]


def test_picks_are_made_again_and_illegal_ones_are_refused() -> None:
    keep = Keep(picks=True)
    first = play_with(RandomPlayer(), compiled("mvc"), pool("mvc"), samples=2, keep=keep)
    assert first.picks is not None
    again = play_with(
        ReplayPlayer(first.picks, 2), compiled("mvc"), pool("mvc"), samples=2, keep=keep
    )
    assert again.picks == first.picks
    twice = tuple((picks[0], picks[0]) for picks in first.picks)
    with pytest.raises(ReplayError):
        play_with(ReplayPlayer(twice, 2), compiled("mvc"), pool("mvc"), samples=2)


def test_progress_ends_at_the_number_of_episodes_and_never_goes_back() -> None:
    heard: list[tuple[float, int]] = []
    play_with(
        RandomPlayer(),
        compiled("mvc"),
        pool("mvc"),
        slots=2,
        progress=lambda done, total: heard.append((done, total)),
    )
    done = [count for count, _ in heard]
    assert {total for _, total in heard} == {len(pool("mvc"))}
    assert done[-1] == len(pool("mvc"))
    assert done == sorted(done)
    assert done[0] >= 0


def test_few_large_graphs_are_played_at_once() -> None:
    problem = shipped("tsp")
    known = compile_for(problem)
    slots = {
        n: choose_slots(known, draw_pool(problem, count=1, nodes=n, seed=0)) for n in (8, 200, 500)
    }
    assert slots[8] > slots[200] > slots[500] >= 1


# Drawing


@given(
    weights=st.lists(st.integers(0, 4), min_size=1, max_size=8).filter(any),
    total=st.integers(1, 40),
)
def test_nodes_are_drawn_in_proportion_to_their_weight(weights: list[int], total: int) -> None:
    """Uniform numbers on a grid as fine as the weights meet every node that often."""
    fine = sum(weights) * total
    uniform = (np.arange(fine) + 0.5) / fine
    picks = draw_picks(np.tile(np.array(weights, np.float64), (fine, 1)), uniform)
    counts = np.bincount(picks, minlength=len(weights))
    assert counts.tolist() == [weight * total for weight in weights]


@given(st.lists(st.floats(0, 1e-3), min_size=1, max_size=6).filter(any))
def test_rounding_never_draws_a_node_without_weight(weights: list[float]) -> None:
    row = np.array([weights, weights])
    picks = draw_picks(row, np.array([0.0, np.nextafter(1, 0)]))
    assert (row[[0, 1], picks] > 0).all()


# Figures


@given(total=st.integers(1, 400), share=st.floats(0, 1))
def test_wilson_is_scipys(total: int, share: float) -> None:
    successes = round(share * total)
    theirs = binomtest(successes, total).proportion_ci(0.95, "wilson")
    assert wilson(successes, total) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def outcomes(instances: int, samples: int, **columns: Any) -> Outcomes:
    instance, sample = np.divmod(np.arange(instances * samples), samples)
    blank = blank_outcomes(instance, sample, np.full(instances * samples, 6), ())
    return Outcomes(**{**vars(blank), **columns})


def test_different_right_answers_are_counted_per_graph() -> None:
    """Graph 0: answers 7, 7, 8 right and 9 wrong; graph 1: nothing right."""
    out = outcomes(
        2,
        4,
        correct=np.array([1, 1, 1, 0, 0, 0, 0, 0], np.bool_),
        solutions=np.array([7, 7, 8, 9, 1, 2, 3, 4], np.uint64),
        objective=np.array([1.0, 2, 3, 9, 5, 5, 5, 5]),
    )
    row = summarise(out, 0.1)
    assert row.sampling is not None
    assert (row.sampling.correct, row.sampling.unique, row.sampling.solved) == (1.5, 1.0, 0.5)
    assert row.sampling.best_objective == 3
    assert row.success == 3 / 8
    assert row.graphs == 2


def test_the_ratio_is_the_mean_over_graphs_of_objective_over_reference() -> None:
    out = outcomes(3, 1, objective=np.array([-3.0, -4, -5]))
    row = summarise(out, None, np.array([-2.0, -4, 0]))
    assert row.to_reference == row.ratio == pytest.approx((1.5 + 1) / 2)


def test_standard_errors_are_over_graphs_not_attempts() -> None:
    once = summarise(outcomes(3, 1, objective=np.array([-3.0, -4, -8])))
    assert once.standard_errors["objective"] == pytest.approx(np.sqrt(7 / 3))
    twice = summarise(outcomes(3, 2, objective=np.repeat([-3.0, -4, -8], 2)))
    assert twice.standard_errors == pytest.approx(once.standard_errors, nan_ok=True)
    alone = summarise(outcomes(1, 2, objective=np.array([-3.0, -4])))
    assert np.isnan(alone.standard_errors["objective"])


def test_a_row_is_json_without_nan() -> None:
    row = summarise(outcomes(2, 1)).document()
    text = json.dumps(row, allow_nan=False)
    assert row["objective"] is None
    assert {"nodes", "graphs", "success", "ci95", "ratio", "steps"} <= set(json.loads(text))


def test_rows_by_size_share_the_time() -> None:
    out = play_with(RandomPlayer(), compiled("mvc"), pool("mvc"))
    rows = rows_by_size(out)
    assert [row.nodes for row in rows] == sorted(set(out.nodes.tolist()))
    assert sum(row.graphs for row in rows) == len(pool("mvc"))
    spent = sum(row.seconds_per_graph * row.graphs for row in rows)
    assert spent == pytest.approx(out.seconds)


@pytest.mark.parametrize("most", [1, 3])
def test_episodes_can_be_cut_off_before_the_specs_limit(most: int) -> None:
    game, graphs = compiled("bellman_ford"), pool("bellman_ford")
    whole = play_with(RandomPlayer(), game, graphs)
    cut = play_with(RandomPlayer(), game, graphs, max_rounds=most)
    assert (cut.steps == np.minimum(whole.steps, 2 * most)).all()
    longer = whole.steps > 2 * most
    assert longer.any()
    assert (cut.truncated == np.where(longer, True, whole.truncated)).all()
    assert (cut.correct[~longer] == whole.correct[~longer]).all()


# Baselines


def test_baselines_are_found_by_role_and_by_name() -> None:
    tsp, mvc = shipped("tsp"), shipped("mvc")
    assert find_baseline(tsp, "expert").expert == "optimal"
    assert find_baseline(tsp, "expert:nearest").expert == "nearest"
    assert find_baseline(tsp, "greedy").expert == "weak"
    assert find_baseline(tsp, "christofides").expert == "christofides"
    assert find_baseline(mvc, "approx").expert == "approximation"
    assert find_baseline(mvc, "random").expert is None


@pytest.mark.parametrize("name", ["greedy", "optimum", "expert:", "", "expert:random"])
def test_an_unknown_baseline_says_what_there_is(name: str) -> None:
    with pytest.raises(UnknownBaseline) as error:
        find_baseline(shipped("mvc"), name)
    assert ", ".join(known_names(shipped("mvc"))) in str(error.value)


def test_every_known_name_is_found() -> None:
    for name in ("bfs", "mvc", "tsp", "rgc"):
        for known in known_names(shipped(name)):
            find_baseline(shipped(name), known)


# All of it


def test_evaluation_is_repeatable_and_compares_on_the_same_graphs() -> None:
    plan = Plan(sizes=(5, 6), graphs=12, against=("optimal", "random"), reference="optimal")
    runs = [evaluate(policy("mvc"), shipped("mvc"), plan) for _ in range(2)]
    assert timeless(runs[0].rows) == timeless(runs[1].rows)
    assert [row.nodes for row in runs[0].rows] == [5, 6]
    best = runs[0].baselines["optimal"]
    assert [row.to_reference for row in best] == pytest.approx([1, 1])
    assert all(row.to_reference >= 1 - 1e-9 for row in runs[0].rows)
    assert all(row.ratio == row.metrics["ratio"] for row in runs[0].rows)


def test_figures_do_not_depend_on_how_many_graphs_are_in_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = Plan(
        sizes=(5,),
        graphs=12,
        temperature=1.0,
        samples=3,
        against=("random",),
        reference="optimal",
    )
    whole = evaluate(policy("mvc"), shipped("mvc"), plan)
    monkeypatch.setattr(evaluation, "part_size", lambda compiled, nodes: 5)
    parts = evaluate(policy("mvc"), shipped("mvc"), plan)
    assert timeless(whole.rows) == timeless(parts.rows)
    assert timeless(whole.baselines["random"]) == timeless(parts.baselines["random"])


def timeless(rows: list[Row]) -> list[dict[str, Any]]:
    return [{**row.document(), "seconds_per_graph": 0} for row in rows]


def test_a_pool_can_start_at_any_instance() -> None:
    mvc = shipped("mvc")
    whole = draw_pool(mvc, count=5, nodes=(4, 6), seed=2, split="test")
    part = draw_pool(mvc, count=2, first=3, nodes=(4, 6), seed=2, split="test")
    for k in range(2):
        assert_same(part.instance(k), whole.instance(3 + k))


def test_graphs_are_not_those_of_training() -> None:
    """No seed that training can have draws what evaluation draws, whatever the split."""
    mvc = shipped("mvc")
    ours = draw_pool(mvc, count=4, nodes=5, seed=FRESH, split="train")
    theirs = draw_pool(mvc, count=4, nodes=5, seed=0, split="train")
    assert not np.array_equal(ours.batch.features["w"], theirs.batch.features["w"])


def test_sizes_are_the_splits_own_unless_it_draws_them() -> None:
    assert split_sizes(shipped("mvc"), "test") == [16, 32, 64, 128, 256, 512, 1024]
    assert split_sizes(gnarl.loads(SHY), "test") == []


def test_without_metrics_nothing_is_solved_for_them() -> None:
    mvc = shipped("mvc")
    assert compile_for(mvc, metrics=True).oracles == ("approx",)
    assert compile_for(without_metrics(mvc), metrics=True).oracles == ()
