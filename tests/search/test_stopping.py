"""`may stop`: an end that is chosen, by interpreter, kernels, policies, searches and clients."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from duel import Duel, play
from episodes import make_graph, make_instance

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import STOP, IllegalPick
from gnarl_runtime.batch.pack import pack
from gnarl_runtime.checkpoints.recipe import Recipe
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.envs.graph_env import GraphEnv
from gnarl_runtime.envs.vector_env import GraphVectorEnv
from gnarl_runtime.instances.pools import Pool, pool_of
from gnarl_runtime.network.policy import Policy, PolicyConfig, argmax, log_chances, sample
from gnarl_runtime.search.outcomes import Keep
from gnarl_runtime.search.players import ExpertPlayer, PolicyPlayer, RandomPlayer
from gnarl_runtime.search.rollout import play_with
from gnarl_runtime.search.searching import search
from gnarl_runtime.search.strategy import parse_search
from gnarl_runtime.search.task import Drivers
from gnarl_runtime.training.imitation.imitation import ImitationTrainer
from gnarl_runtime.training.imitation.material import Material
from gnarl_runtime.training.improve.drawing import DrawnPlayer, Stage

ENOUGH = """gnarl 1
problem enough
graph undirected
features
  gain   input  node  scalar  ~ uniform(-1, 1)
  taken  state  node  mask    = false
phase take(v)
  allow not taken[v]
phase sure(w)
  allow w == v
  update
    taken[w] := true
horizon n rounds
may stop when exists x in nodes: taken[x]
objective total = sum(x in nodes where taken[x]: gain[x])
reward praise terminal total
reward haste  step     -1
expert fair
  take: uniform v where gain[v] > 0
  sure: uniform w
expert hidden = search total work 60
"""


@cache
def enough() -> gnarl.Problem:
    return gnarl.loads(ENOUGH)


def instance(*gains: float) -> Instance:
    return make_instance(make_graph(len(gains), []), gain=np.array(gains))


FEW = instance(0.5, -1.0, 0.25)
MANY = [FEW, instance(-0.5, -0.25, 0.125, -1.0, 0.75), instance(0.5, 0.25)]


@cache
def compiled() -> Compiled:
    return compile_for(enough(), experts=("fair",), metrics=True)


@cache
def pool() -> Pool:
    return pool_of(enough(), MANY)


@cache
def policy() -> Policy:
    torch.manual_seed(0)
    return Policy(enough(), PolicyConfig(width=8, rounds=1)).eval()


# What it means


def test_it_is_chosen_at_the_start_of_a_round_where_the_spec_says_so() -> None:
    game = Interpreter(enough())
    state = game.reset(FEW)
    assert not game.may_stop(state)  # nothing is taken
    with pytest.raises(IllegalPick, match=r"cannot be ended here: `may stop when"):
        game.step(state, STOP)
    inside = game.step(state, 0).state
    with pytest.raises(IllegalPick, match="a round has begun"):
        game.step(inside, STOP)
    after = game.step(inside, 0).state
    assert game.choices(after) == [1, 2, STOP]
    ended = game.step(after, STOP)
    assert (ended.state.ended, ended.state.rounds, ended.reward) == ("terminated", 1, 0.0)


@pytest.mark.parametrize(("reward", "paid"), [("total", 0.0), ("praise", 0.5), ("haste", 0.0)])
def test_an_end_is_paid_for_and_a_round_that_was_none_is_not(reward: str, paid: float) -> None:
    game = Interpreter(enough(), reward)
    state = game.reset(FEW)
    for node in (0, 0):
        state = game.step(state, node).state
    assert game.step(state, STOP).reward == paid


def test_nobody_can_end_what_the_spec_does_not_let_end() -> None:
    game = Interpreter(
        gnarl.loads(ENOUGH.replace("may stop when exists x in nodes: taken[x]\n", ""))
    )
    with pytest.raises(IllegalPick, match="the spec does not say `may stop`"):
        game.step(game.reset(FEW), STOP)


def test_an_expert_that_is_done_ends_it_and_one_that_found_nothing_here_does_not() -> None:
    game = Interpreter(enough())
    found = replace(FEW, plans={"hidden": np.array([0, 0, -1])})
    state = game.reset(found)
    for node in (0, 0):
        state = game.step(state, node).state
    assert game.answers(state, "fair") == [2]
    assert game.answers(state, "hidden") == [STOP]
    for node in (2, 2):
        state = game.step(state, node).state
    assert game.answers(state, "fair") == [STOP]
    assert game.answers(state, "hidden") == []  # this is off the episode that was found


def test_words_stay_names() -> None:
    text = ENOUGH.replace("taken", "stop").replace("gain", "may")
    assert gnarl.loads(text).stop is not None


def test_a_variant_can_drop_it(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "enough.gnarl").write_text(ENOUGH)
    mine = tmp_path / "mine.gnarl"
    mine.write_text("gnarl 1\nproblem mine extends enough\ndrop stop\n")
    assert gnarl.load(mine).stop is None
    mine.write_text("gnarl 1\nproblem mine extends enough\nmay stop\n")
    assert gnarl.load(mine).stop.when is None


@pytest.mark.parametrize("reward", ["total", "praise", "haste"])
def test_kernels_do_the_same(reward: str) -> None:
    problem = enough().without_planned()
    rng = np.random.default_rng(0)
    duel = Duel(problem, [*MANY, *MANY], reward)
    for _ in range(4):
        play(duel, rng, 10)
        duel.reset([*MANY, *MANY])
    assert duel.checks > 60


# What is learned


def state_to_end() -> Engine:
    """One slot with a round behind it, one inside a round, one at the start."""
    engine = Engine(compiled(), pool(), 3)
    engine.load(np.arange(3), np.arange(3))
    engine.step(np.array([0, 2, -1]))
    engine.step(np.array([0, -1, -1]))
    return engine


def test_a_pack_has_one_choice_more_per_graph_where_it_may_be_ended() -> None:
    engine = state_to_end()
    packed = pack(engine.batch, range(3))
    assert packed.stop is not None
    assert packed.stop.tolist() == [True, False, False]
    assert packed.choices.tolist() == [0, 1, 2, 5, 0, 1, 2, 3, 4, 5, 0, 1, 5]
    assert packed.places(np.array([5, 4, 1])).tolist() == [3, 8, 11]
    table = np.arange(18.0).reshape(3, 6)
    assert packed.of_choices(table).tolist() == [0, 1, 2, 5, *range(6, 12), 12, 13, 17]
    out = np.zeros((3, 6))
    packed.spread_choices(packed.of_choices(table), out)
    assert out[2].tolist() == [12, 13, 0, 0, 0, 17]


def test_a_policy_scores_the_end_from_the_whole_graph() -> None:
    engine = state_to_end()
    packed = pack(engine.batch, range(3))
    with torch.inference_mode():
        output = policy()(packed)
        assert policy().stop is not None
        ends = policy().stop(output.pooled)
    assert output.logits[3] == ends[0]
    assert (output.logits[[9, 12]] == -torch.inf).all()
    chances = log_chances(output, packed).exp()
    graphs = torch.from_numpy(packed.choice_graph)
    assert torch.allclose(torch.zeros(3).index_add(0, graphs, chances), torch.ones(3))
    likely = replace(output, logits=output.logits + 50.0 * torch.eye(13)[3])
    uniform = torch.full((3,), 0.5)
    assert argmax(likely, packed)[0] == sample(likely, packed, uniform)[0] == 5


def test_the_end_is_the_label_of_an_expert_that_is_done() -> None:
    engine = state_to_end()
    engine.load(np.array([2]), np.array([2]))
    for node in (0, 0, 1, 1):
        engine.step(np.array([-1, -1, node]))
    assert engine.batch.ended[2]  # both rounds are over
    labels = engine.expert("fair")
    assert labels.shape == (3, 6)
    assert labels[0].tolist() == [0, 0, 1, 0, 0, 0]
    engine.step(np.array([2, -1, -1]))
    engine.step(np.array([2, -1, -1]))
    assert engine.expert("fair")[0].tolist() == [0, 0, 0, 0, 0, 1]


def test_imitation_learns_when_to_end_it() -> None:
    own = Recipe()
    bc = own.bc.model_copy(update={"updates": 60, "graphs": 16, "lr": 0.01})
    recipe = own.model_copy(update={"policy": PolicyConfig(width=16, rounds=1), "bc": bc})
    trainer = ImitationTrainer(enough(), recipe, 0, material=Material(compiled(), pool()))
    for _ in range(60):
        told = trainer.update()
    assert told["unlabelled"] == 0.0
    outcomes = play_with(PolicyPlayer(trainer.best_policy()), compiled(), pool())
    assert outcomes.objective.tolist() == [0.75, 0.875, 0.75]


def test_self_improvement_replays_ends() -> None:
    stage = Stage(compiled(), pool(), 3, 4)
    episodes = stage.play(DrawnPlayer(policy(), 0, "test"), np.arange(3))
    ends = (episodes.picks == 5).sum(axis=1)
    assert ends.max() == 1
    for picks, length in zip(episodes.picks, episodes.length, strict=True):
        assert 5 not in picks[: length - 1]  # nothing follows an end


# Who plays


def test_an_expert_that_is_done_has_not_given_up() -> None:
    outcomes = play_with(ExpertPlayer("fair"), compiled(), pool(), keep=Keep(picks=True))
    assert not outcomes.stopped.any()
    assert outcomes.steps.tolist() == [4, 4, 4]  # to end it is no step of its own
    assert outcomes.objective.tolist() == [0.75, 0.875, 0.75]


def test_chance_may_end_it_at_any_time() -> None:
    outcomes = play_with(RandomPlayer(), compiled(), pool(), samples=30)
    assert len(np.unique(outcomes.steps[outcomes.instance == 1])) > 2


@pytest.mark.parametrize("way", ["exact", "work:200", "sample:60", "beam:8", "starts:4"])
def test_searches_find_the_best_end_and_their_picks_lead_there(way: str) -> None:
    aided = way.startswith(("beam", "starts"))
    drivers = Drivers(policy() if aided else None, () if aided else ("fair",))
    found = search(parse_search(way), drivers, compiled(), pool())
    best = [0.75, 0.875, 0.75]
    assert found.outcomes.picks is not None
    assert all(5 not in picks for picks in found.outcomes.picks)
    if aided:
        assert (found.outcomes.objective <= np.array(best) + 1e-9).all()
    else:
        assert found.outcomes.objective.tolist() == best
    assert not found.outcomes.stopped.any()


# Clients


def test_environments_have_one_action_more() -> None:
    env = GraphEnv(Engine(compiled(), pool(), 1))
    assert env.action_space.n == 6
    _, info = env.reset(options={"instance": 0})
    assert info["action_mask"].tolist() == [True, True, True, False, False, False]
    for node in (0, 0):
        *_, info = env.step(node)
    assert info["action_mask"].tolist() == [False, True, True, False, False, True]
    _, reward, terminated, truncated, info = env.step(5)
    assert (reward, terminated, truncated, info["rounds"]) == (0.0, True, False, 1)


def test_an_end_that_is_not_legal_is_told_as_that() -> None:
    env = GraphEnv(Engine(compiled(), pool(), 1))
    env.reset()
    with pytest.raises(IllegalPick, match="cannot be ended here"):
        env.step(5)


def test_vector_environments_restart_ended_episodes() -> None:
    envs = GraphVectorEnv(Engine(compiled(), pool(), 2))
    envs.reset(seed=0)
    first = envs.action_masks().argmax(axis=1)
    envs.step(first)
    envs.step(first)
    assert envs.action_masks()[:, 5].all()
    _, _, terminated, _, info = envs.step(np.array([5, 5]))
    assert terminated.all()
    assert info["final_info"]["rounds"].tolist() == [1, 1]
