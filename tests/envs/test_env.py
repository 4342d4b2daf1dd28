"""The compiled environments as a Gymnasium user meets them."""

from __future__ import annotations

import multiprocessing
import pickle
import warnings
from copy import copy as shallow
from copy import deepcopy
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from episodes import make_graph, make_instance
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from shipped_specs import SHIPPED, shipped

import gnarl_dsl as gnarl
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import IllegalPick
from gnarl_runtime.envs.final_observations import FinalObservation
from gnarl_runtime.envs.graph_env import GraphEnv
from gnarl_runtime.envs.interpreted import state_of
from gnarl_runtime.envs.observations import live_views
from gnarl_runtime.envs.vector_env import GraphVectorEnv

NODES = 5


def small(name: str, **options: object) -> GraphEnv:
    return gnarl.make(shipped(name), nodes=NODES, pool=8, **options)


def small_vec(name: str, num_envs: int = 6, **options: object) -> GraphVectorEnv:
    return gnarl.make_vec(shipped(name), num_envs=num_envs, nodes=NODES, pool=8, **options)


def random_picks(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


# One graph


@pytest.mark.parametrize("name", SHIPPED)
def test_gymnasium_accepts_the_environment(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Scalars are unbounded, and some masks hold for every node: both are as they should be.
        warnings.filterwarnings("ignore", message=".*Box observation space (min|max)imum value.*")
        check_env(small(name, illegal="end"), skip_render_check=True)


@pytest.mark.parametrize("name", SHIPPED)
def test_an_episode_agrees_with_the_interpreter(name: str) -> None:
    env = small(name)
    game = Interpreter(env.problem)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=3)
    state = game.reset(state_of(env.engine.batch, 0).episode.instance)
    ended = False
    while not ended:
        assert np.array_equal(info["action_mask"][: state.n], game.mask(state))
        assert np.array_equal(env.action_masks(), info["action_mask"])
        pick = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(pick)
        moved = game.step(state, pick)
        state = moved.state
        assert reward == moved.reward
        assert (terminated, truncated) == (state.ended == "terminated", state.ended == "truncated")
        assert observation["phase"][0] == state.phase
        ended = terminated or truncated
    assert info["correct"] == game.correct(state)
    assert info["valid"] == game.valid(state)
    assert info["rounds"] == state.rounds


@pytest.mark.parametrize("name", ["mvc", "bellman_ford", "rgc"])
def test_an_observation_stays_as_it_is(name: str) -> None:
    """Through steps, ends and resets; so do masks. Nothing is shared with another one."""
    env = small(name)
    rng = np.random.default_rng(4)
    obs, info = env.reset(seed=0)
    held, ends = [], 0
    while ends < 3:
        live = {key: view[0] for key, view in live_views(env.engine).items()}
        assert list(obs) == list(live)
        assert all(np.array_equal(obs[key], live[key]) for key in live)
        seen = {**obs, "mask": info["action_mask"], "asked": env.action_masks()}
        held.append((seen, {key: values.copy() for key, values in seen.items()}))
        obs, _, terminated, truncated, info = env.step(
            int(rng.choice(np.flatnonzero(seen["mask"])))
        )
        if terminated or truncated:
            ends += 1
            obs, info = env.reset()
    for seen, before in held:
        assert all(np.array_equal(seen[key], before[key]) for key in before)
    (first, _), (second, _) = held[:2]
    assert not any(np.shares_memory(first[key], second[key]) for key in first)
    assert all(values.flags.writeable and values.flags.owndata for values in first.values())


def test_live_observations_show_the_state_as_it_is() -> None:
    env = small("mvc", copy=False)
    first, info = env.reset(seed=0)
    picks = np.flatnonzero(info["action_mask"]).tolist()
    second, *_ = env.step(picks[0])
    assert first is second
    assert second["in_cover"][picks[0]]
    twin = pickle.loads(pickle.dumps(env))
    assert twin.step(picks[1])[0]["in_cover"].sum() == 2
    assert second["in_cover"].sum() == 1


def test_an_instance_that_is_over_at_its_start_is_not_stepped() -> None:
    alone = make_instance(make_graph(1, []), w=np.array([0.5]))
    env = gnarl.make("mvc", instances=[alone])
    env.reset(seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)


def test_cheap_calls_do_what_the_kernels_do() -> None:
    """One environment calls its kernels by addresses; a batch of one calls them as they are."""
    for name in ("mst_prim", "rgc", "tsp"):
        env, envs = small(name), small_vec(name, num_envs=1, copy=True)
        rng = np.random.default_rng(7)
        (obs, info), (many, infos) = env.reset(seed=5), envs.reset(seed=5)
        for _ in range(40):
            assert all(np.array_equal(obs[key], many[key][0]) for key in obs)
            assert np.array_equal(info["action_mask"], infos["action_mask"][0])
            pick = int(rng.choice(np.flatnonzero(info["action_mask"])))
            obs, reward, terminated, truncated, info = env.step(pick)
            many, rewards, over, cut, infos = envs.step(np.array([pick]))
            assert (reward, terminated, truncated) == (rewards[0], over[0], cut[0])
            if terminated or truncated:
                told = infos["final_info"]
                assert info["correct"] == told["correct"][0]
                assert info["valid"] == told["valid"][0]
                obs, info = env.reset()


def test_seeds_choose_the_instances() -> None:
    env = gnarl.make("mvc", nodes=8, pool=64)
    starts = [env.reset(seed=seed)[0]["w"].tolist() for seed in (1, 1, 2)]
    assert starts[0] == starts[1]
    assert starts[0] != starts[2]
    again = env.reset()[0]["w"].tolist()
    assert again != starts[2]


def test_illegal_picks_say_why_or_end_the_episode() -> None:
    env = gnarl.make("bfs", instances=[path_instance()], nodes=None)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(
        IllegalPick, match=r"node 3 is not allowed in phase to: line .*edge\(u, v\)"
    ):
        env.step(3)
    env = gnarl.make("bfs", instances=[path_instance()], illegal="end")
    env.reset(seed=0)
    env.step(0)
    _, reward, terminated, truncated, info = env.step(3)
    assert (reward, terminated, truncated, info["illegal"]) == (0.0, True, False, True)
    assert not info["action_mask"].any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(1)


def path_instance(n: int = 4):
    return make_instance(make_graph(n, [(v, v + 1) for v in range(n - 1)]), s=0)


def test_sizes_may_be_a_range() -> None:
    envs = gnarl.make_vec("bfs", num_envs=64, nodes=(3, 6), pool=64)
    observation, _ = envs.reset(seed=0)
    assert set(observation["n"].ravel().tolist()) == {3, 4, 5, 6}
    assert envs.max_nodes == 6


@pytest.mark.parametrize("name", ["bfs", "rgc"])
def test_rendering(name: str) -> None:
    env = small(name, render_mode="ansi")
    env.reset(seed=0)
    assert f"{name}: {NODES} nodes, round 0" in env.render()
    env = small(name, render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.shape == (480, 480, 3)
    before = picture.copy()
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert not np.array_equal(before, env.render())


def test_gymnasium_make_knows_the_shipped_specs() -> None:
    env = gymnasium.make("gnarl_runtime:gnarl/BellmanFord-v0", nodes=NODES, pool=4)
    observation, info = env.reset(seed=0)
    assert observation["n"].tolist() == [NODES]
    assert info["action_mask"].sum() == 1
    envs = gymnasium.make_vec("gnarl/Mvc-v0", num_envs=3, nodes=NODES, pool=4)
    assert isinstance(envs.unwrapped, GraphVectorEnv)


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match='illegal must be "raise" or "end"'):
        small("mvc", illegal="ignore")
    with pytest.raises(ValueError, match="render_mode must be"):
        small("mvc", render_mode="human")
    with pytest.raises(ValueError, match="has no expert `best`"):
        small("mvc", expert="best")
    with pytest.raises(ValueError, match="no reward or objective `profit`"):
        small("mvc", reward="profit")
    with pytest.raises(ValueError, match="num_envs must be 1 or more"):
        small_vec("mvc", num_envs=0)
    with pytest.raises(gnarl.SpecError, match="GN127"):
        gnarl.make("mvc", nodes=4, pool=2, epsilon=1)
    with pytest.raises(ValueError, match="not a list"):
        small_vec("mvc").reset(seed=[1, 2])


# Many graphs


@pytest.mark.parametrize("name", SHIPPED)
def test_vector_steps_agree_with_the_interpreter(name: str) -> None:
    envs = small_vec(name)
    game = Interpreter(envs.engine.problem)
    rng = np.random.default_rng(2)
    _, info = envs.reset(seed=1)
    for _ in range(12):
        before = [state_of(envs.engine.batch, slot) for slot in range(envs.num_envs)]
        picks = random_picks(info["action_mask"], rng)
        _, rewards, terminated, truncated, info = envs.step(picks)
        for slot, state in enumerate(before):
            moved = game.step(state, int(picks[slot]))
            assert rewards[slot] == moved.reward
            assert terminated[slot] == (moved.state.ended == "terminated")
            assert truncated[slot] == (moved.state.ended == "truncated")


def test_finished_episodes_restart_in_the_same_step() -> None:
    envs = small_vec("mvc")
    assert envs.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    rng = np.random.default_rng(0)
    observation, info = envs.reset(seed=0)
    finished = 0
    for _ in range(20):
        observation, _, terminated, truncated, info = envs.step(
            random_picks(info["action_mask"], rng)
        )
        done = terminated | truncated
        if done.any():
            assert np.array_equal(info["_final_obs"], done)
            for slot in np.flatnonzero(done):
                final = info["final_obs"][slot]
                covered = final["in_cover"].astype(bool)
                ends = final["edges"][final["edges"][:, 0] >= 0]
                assert (covered[ends[:, 0]] | covered[ends[:, 1]]).all()
                assert info["final_info"]["valid"][slot]
                assert not observation["in_cover"][slot].any()
                finished += 1
        assert info["action_mask"].any(axis=1).all()
    assert finished > 6


def test_a_final_observation_is_a_dict_like_any_other() -> None:
    arrays = {"a": np.arange(6).reshape(2, 3), "b": np.arange(2)[:, None]}
    plain = {"a": np.array([3, 4, 5]), "b": np.array([1])}

    def fresh() -> FinalObservation:
        return FinalObservation(arrays, 1)

    assert isinstance(fresh(), dict)
    assert len(fresh()) == 2
    assert list(fresh()) == list(fresh().keys()) == list(plain)
    assert "a" in fresh()
    assert "c" not in fresh()
    ways = (
        *(dict(fresh()), {**fresh()}, fresh() | {}, {} | fresh(), fresh().copy()),
        *(dict(fresh().items()), shallow(fresh()), deepcopy(fresh())),
        *(pickle.loads(pickle.dumps(fresh())), dict(zip(fresh(), fresh().values(), strict=True))),
        {name: fresh()[name] for name in plain},
        {name: fresh().get(name) for name in plain},
    )
    for found in ways:
        assert found.keys() == plain.keys()
        assert all(np.array_equal(found[name], plain[name]) for name in plain)
    changed = fresh()
    changed["a"] = np.zeros(1)
    assert changed.pop("b").tolist() == [1]
    assert list(changed) == ["a"]
    space = spaces.Dict(
        {"a": spaces.Box(0, 9, (3,), np.int64), "b": spaces.Box(0, 9, (1,), np.int64)}
    )
    assert space.contains(fresh())
    assert repr(fresh()) == repr(plain)
    assert not fresh() == {}  # noqa: SIM201
    assert fresh() != {}


def test_copies_are_safe_and_views_are_live() -> None:
    rng = np.random.default_rng(0)
    for copy in (True, False):
        envs = small_vec("mvc", copy=copy)
        first, info = envs.reset(seed=0)
        before = first["in_cover"].copy()
        envs.step(random_picks(info["action_mask"], rng))
        assert np.array_equal(first["in_cover"], before) == copy


@pytest.mark.parametrize("name", ["mvc", "bellman_ford", "rgc"])
def test_a_copied_observation_never_changes(name: str) -> None:
    """Also not where an episode ends and another instance takes its slot."""
    envs = small_vec(name)
    rng = np.random.default_rng(4)
    obs, info = envs.reset(seed=0)
    held = []
    for _ in range(30):
        held.append((obs, {key: values.copy() for key, values in obs.items()}))
        live = {key: values.copy() for key, values in envs._views.items()}
        assert all(np.array_equal(obs[key], live[key]) for key in live)
        obs, _, _, _, info = envs.step(random_picks(info["action_mask"], rng))
    for seen, before in held:
        assert all(np.array_equal(seen[key], before[key]) for key in before)


def test_what_observations_share_is_read_only() -> None:
    envs = small_vec("bellman_ford")
    obs, _ = envs.reset(seed=0)
    obs["d"][:] = 1  # its own
    with pytest.raises(ValueError, match="read-only"):
        obs["A"][:] = 1


def test_instances_do_not_depend_on_the_number_of_environments() -> None:
    few, many = small_vec("mvc", num_envs=2), small_vec("mvc", num_envs=5)
    assert np.array_equal(few.reset(seed=4)[0]["w"], many.reset(seed=4)[0]["w"][:2])


def test_observations_lie_in_their_space() -> None:
    for name in SHIPPED:
        envs = small_vec(name)
        observation, info = envs.reset(seed=0)
        assert envs.observation_space.contains(observation), name
        observation, *_ = envs.step(random_picks(info["action_mask"], np.random.default_rng(0)))
        assert envs.observation_space.contains(observation), name


def test_illegal_picks_in_a_batch() -> None:
    envs = small_vec("tsp", illegal="end")
    _, info = envs.reset(seed=0)
    picks = np.array([int(np.flatnonzero(m)[0]) for m in info["action_mask"]])
    picks[2] = (picks[2] + 1) % NODES
    _, rewards, terminated, _, info = envs.step(picks)
    assert terminated.tolist() == [slot == 2 for slot in range(6)]
    assert info["illegal"].tolist() == [slot == 2 for slot in range(6)]
    assert rewards[2] == 0.0
    envs = small_vec("tsp")
    envs.reset(seed=0)
    with pytest.raises(IllegalPick, match=r"node \d is not allowed in phase visit"):
        envs.step(picks)


def test_experts_of_a_batch() -> None:
    envs = small_vec("bellman_ford", expert=True)
    envs.reset(seed=0)
    game = Interpreter(envs.engine.problem)
    labels = envs.expert()
    for slot in range(envs.num_envs):
        state = state_of(envs.engine.batch, slot)
        assert np.array_equal(labels[slot, : state.n], game.expert(state))
    with pytest.raises(ValueError, match="compiled with experts: sticky"):
        envs.expert("printed")


# Other people's tools


def test_pickle_and_continue() -> None:
    env = small("mvc_rich")
    _, info = env.reset(seed=0)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    twin = pickle.loads(pickle.dumps(env))
    pick = int(np.flatnonzero(env.action_masks())[-1])
    mine, theirs = env.step(pick), twin.step(pick)
    assert mine[1:4] == theirs[1:4]
    assert all(np.array_equal(mine[0][name], theirs[0][name]) for name in mine[0])


def test_sync_vector_env_and_a_forked_process() -> None:
    envs = gymnasium.vector.SyncVectorEnv([lambda: small("mvc", illegal="end")] * 2)
    observation, _ = envs.reset(seed=0)
    assert observation["w"].shape == (2, NODES)
    envs.step(np.zeros(2, np.int64))
    envs.close()
    env = small("mvc")
    env.reset(seed=0)
    context = multiprocessing.get_context("fork")
    with context.Pool(1) as pool:
        mask = pool.apply(env.action_masks)
    assert np.array_equal(mask, env.action_masks())


@pytest.mark.parametrize("name", ["mvc", "bfs"])
def test_maskable_ppo_trains(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real client, with no adapter: sb3-contrib's MaskablePPO."""
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path))  # or it leaves a folder for every run
    sb3 = pytest.importorskip("sb3_contrib", reason="sb3-contrib is a test-only client")
    env = small(name)
    model = sb3.MaskablePPO("MultiInputPolicy", env, n_steps=128, batch_size=64, seed=0)
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(256)
    assert model.num_timesteps == 256
    assert any((a != b).any() for a, b in zip(before, model.policy.parameters(), strict=True))


def test_sums_of_inputs_are_computed_in_float64() -> None:
    """Inputs are stored as float32; adding two of them must not round to float32."""
    problem = gnarl.loads(
        "gnarl 1\nproblem sums\ngraph undirected complete\nfeatures\n"
        "  A  input  edge  scalar  ~ uniform(0, 1)\n  w  input  node  scalar  ~ uniform(0, 1)\n"
        "  on  state  node  mask  = false\nphase pick(v)\n  allow not on[v]\n  update\n"
        "    on[v] := true\nhorizon n rounds\n"
        "objective it = sum(x in nodes, y in nodes where on[x]:\n"
        "  (A[x, y] + A[y, x]) * (w[x] + w[y]))\n"
        "instances all\n  train 1 complete(n = 6)\n  valid 1 complete(n = 6)\n"
        "  test 1 complete(n = 6)\n"
    )
    env = gnarl.make(problem, pool=4)
    game = Interpreter(problem)
    env.reset(seed=0)
    state = game.reset(state_of(env.engine.batch, 0).episode.instance)
    for pick in range(6):
        moved = game.step(state, pick)
        state = moved.state
        assert env.step(pick)[1] == moved.reward
