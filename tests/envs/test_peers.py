"""The hand-written environments of the benchmark play by the specs' rules, pick for pick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import networkx as nx
import numpy as np
import pytest
from episodes import choose
from numpy.typing import NDArray
from shipped_specs import shipped

from benchmarks.peers import (
    BellmanFordEnv,
    MstPrimEnv,
    MvcEnv,
    RgcEnv,
    TspEnv,
    bellman_ford_expert,
    mvc_expert,
    tsp_expert,
)
from benchmarks.peers.graphs import (
    barabasi_albert,
    clrs_weights,
    connected_erdos_renyi,
    erdos_renyi,
    is_connected,
)
from benchmarks.peers.rgc import critical_fraction
from benchmarks.speed.contestants import SinglePlay, Tally, run_slice
from benchmarks.speed.env import parse_options
from benchmarks.speed.env_plan import Plan
from benchmarks.speed.env_report import report_text
from benchmarks.speed.sampling import Sampler
from gnarl_compiler.algorithms.robustness import removals_until_apart
from gnarl_compiler.graphs.graph import Graph
from gnarl_compiler.graphs.instance import Instance
from gnarl_compiler.graphs.streams import mix64
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import State

Peer = Any  # an environment with the attributes that its reset draws
Label = Callable[[dict[str, Any], State], NDArray[np.float64]]


def tags_of(n: int) -> NDArray[np.uint64]:
    """Tags in the order of the nodes: what scans in tag order then scans as the peers do."""
    return np.arange(n, dtype=np.uint64)


def shared_instance(graph: NDArray[np.bool_], **inputs: object) -> Instance:
    values = {name: np.asarray(value) for name, value in inputs.items()}
    return Instance(Graph(False, graph.copy()), values, tags_of(len(graph)))


class SharedOrdersEnv(RgcEnv):
    """RGC with the removal orders that the interpreter draws from the instance's tags."""

    def _removal_times(self) -> NDArray[np.int64]:
        salt = mix64(np.arange(2 * self.nodes, dtype=np.uint64))
        orders = np.argsort(mix64(tags_of(self.nodes) ^ salt[:, None]), axis=1)
        return np.argsort(orders, axis=1)


@dataclass(frozen=True)
class Match:
    """A peer, the instance that its reset drew, and its expert if it has one."""

    spec: str
    make: Callable[[int], gymnasium.Env[Any, Any]]
    instance: Callable[[Peer], Instance]
    expert: str | None = None
    label: Label | None = None
    says_more: bool = False  # the spec's expert also answers where the peer's has nothing to say


def weighted(env: Peer) -> Instance:
    return shared_instance(env.adjacency, A=env.weights, s=env.start)


MATCHES = [
    Match(
        "bellman_ford",
        BellmanFordEnv,
        weighted,
        "sticky",
        lambda obs, _: bellman_ford_expert(obs),
        says_more=True,
    ),
    Match("mst_prim", MstPrimEnv, weighted),
    Match(
        "mvc",
        MvcEnv,
        lambda env: shared_instance(env.adjacency, w=env.weights),
        "optimal",
        lambda obs, state: mvc_expert(obs, np.asarray(state.episode.oracles["best"], np.bool_)),
    ),
    Match(
        "tsp",
        TspEnv,
        lambda env: shared_instance(~np.eye(env.nodes, dtype=bool), A=env.weights, s=env.start),
        "nearest",
        lambda obs, _: tsp_expert(obs),
    ),
    Match("rgc", SharedOrdersEnv, lambda env: shared_instance(env.adjacency)),
]


def assert_same_view(match: Match, game: Interpreter, env: Peer, obs: Any, state: State) -> None:
    """The peer shows every observed feature, the phase and the last picks as the spec has them."""
    assert env.observation_space.contains(obs)
    for name, value in game.observation(state).items():
        assert np.array_equal(np.asarray(obs[name]), value), name
    if "adj" in obs:
        assert np.array_equal(obs["adj"], state.adjacency)
    assert obs.get("phase", 0) == state.phase
    phases = [phase.name for phase in game.problem.phases]
    assert tuple(obs[f"last_{name}"] for name in phases) == state.last
    if state.ended is None:
        assert np.array_equal(env.action_masks(), game.mask(state))


def pick(match: Match, game: Interpreter, obs: Any, state: State, rng: np.random.Generator) -> int:
    """By turns a random legal pick and the expert's, where both experts must agree.

    An expert that says more agrees where the start has no predecessor and the peer's has an
    answer. Once the start has been a target the peer's goes by distances that mislead, and the
    spec's does not follow it there.
    """
    legal = np.flatnonzero(game.mask(state))
    if match.label is None:
        return int(rng.choice(legal))
    expected = game.expert(state, match.expert)
    told = match.label(obs, state)
    if not match.says_more or (told.any() and obs["pred"][obs["s"]] == obs["s"]):
        assert told == pytest.approx(expected)
    if expected.any() and rng.random() < 0.7:
        return choose(expected, rng)
    return int(rng.choice(legal))


def play_both(match: Match, nodes: int, seed: int) -> tuple[Interpreter, State]:
    """One episode on both sides, compared after every pick; the last state."""
    env, rng = match.make(nodes), np.random.default_rng(seed)
    game = Interpreter(shipped(match.spec))
    obs, _ = env.reset(seed=seed)
    state = first = game.reset(match.instance(env))
    assert_same_view(match, game, env, obs, state)
    total = 0.0
    while state.ended is None:
        node = pick(match, game, obs, state, rng)
        obs, reward, terminated, truncated, _ = env.step(node)
        move = game.step(state, node)
        state, total = move.state, total + reward
        assert reward == pytest.approx(move.reward, abs=1e-9)
        assert (terminated, truncated) == (state.ended == "terminated", state.ended == "truncated")
        assert_same_view(match, game, env, obs, state)
    assert total == pytest.approx(game.potential(state) - game.potential(first), abs=1e-9)
    return game, state


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: match.spec)
@pytest.mark.parametrize("nodes", [2, 5, 8])
def test_peers_play_by_the_spec(match: Match, nodes: int) -> None:
    for seed in range(6 if nodes < 8 else 3):
        play_both(match, nodes, seed)


def test_all_endings_are_met() -> None:
    """Guards the test above: it would prove little if episodes always ended the same way."""
    matches = {match.spec: match for match in MATCHES}
    endings = {play_both(matches["bellman_ford"], 5, seed)[1].ended for seed in range(60)}
    assert endings == {"terminated", "truncated"}
    played = [play_both(matches["mst_prim"], 3, seed) for seed in range(8)]
    assert {game.correct(state) for game, state in played} == {True, False}


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: match.spec)
def test_seeds_repeat_and_resets_draw_afresh(match: Match) -> None:
    env = match.make(8)
    drawn = [match.instance(env) for seed in (3, None, 3) if env.reset(seed=seed)]
    keys = [[i.graph.adjacency.tobytes(), *(v.tobytes() for v in i.inputs.values())] for i in drawn]
    assert keys[0] == keys[2] != keys[1]


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: match.spec)
def test_illegal_picks_are_refused(match: Match) -> None:
    env: Peer = match.make(8)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    refused = 0
    for _ in range(4):
        for node in np.flatnonzero(~env.action_masks()):
            with pytest.raises(ValueError, match=r"\d"):
                env.step(int(node))
            refused += 1
        env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
    assert refused


@pytest.mark.parametrize("match", MATCHES, ids=lambda match: match.spec)
def test_observations_are_not_changed_by_later_steps(match: Match) -> None:
    env: Peer = match.make(6)
    rng = np.random.default_rng(1)
    obs, _ = env.reset(seed=1)
    kept = {name: np.copy(value) for name, value in obs.items()}
    for _ in range(2):
        env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
    assert all(np.array_equal(obs[name], kept[name]) for name in kept)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.3, 0.7, 1.0])
def test_critical_fraction_agrees_with_the_reference(p: float) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 9, 14):
        adjacency = erdos_renyi(n, p, rng)
        orders = rng.permuted(np.tile(np.arange(n), (2 * n, 1)), axis=1)
        expected = removals_until_apart(Graph(False, adjacency), orders).sum() / orders.size
        assert critical_fraction(adjacency, np.argsort(orders, axis=1)) == expected


def test_connectivity_agrees_with_networkx() -> None:
    rng = np.random.default_rng(0)
    graphs = [erdos_renyi(n, 0.25, rng) for n in (1, 2, 3, 5, 8, 12) for _ in range(20)]
    for graph in graphs:
        assert is_connected(graph) == nx.is_connected(nx.from_numpy_array(graph))
    assert all(is_connected(connected_erdos_renyi(7, rng)) for _ in range(20))


def test_barabasi_albert_has_the_edges_of_the_family() -> None:
    rng = np.random.default_rng(0)
    for n, m in ((2, 1), (6, 10), (16, 1), (16, 4), (16, 10)):
        graph = nx.from_numpy_array(barabasi_albert(n, m, rng))
        kept = min(m, n - 1)
        assert graph.number_of_edges() == kept + kept * (n - kept - 1)
        assert nx.is_connected(graph)


def test_weights_are_symmetric_single_precision_and_on_edges_only() -> None:
    rng = np.random.default_rng(0)
    adjacency = erdos_renyi(12, 0.5, rng)
    weights = clrs_weights(adjacency, rng)
    assert np.array_equal(weights, weights.T)
    assert np.array_equal(weights > 0, adjacency)
    assert np.array_equal(weights, weights.astype(np.float32))


# The benchmark around them


def test_sampler_picks_wanted_nodes_then_legal_ones() -> None:
    legal = np.array([[True, True, False, True], [False, True, True, True], [False] * 4])
    wanted = np.array([[True, False, False, True], [False] * 4, [False] * 4])
    sampler = Sampler(seed=1)
    picks = np.array([sampler.rows(wanted, legal) for _ in range(3000)])
    counts = [np.bincount(column, minlength=4) / 3000 for column in picks.T]
    assert counts[0] == pytest.approx([1 / 2, 0, 0, 1 / 2], abs=0.05)
    assert counts[1] == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3], abs=0.05)
    assert counts[2] == pytest.approx([1, 0, 0, 0])


def test_peer_is_tallied_step_by_step() -> None:
    play, total = SinglePlay(MvcEnv(6)), Tally()
    run_slice(play.turn, 0.01, total)
    assert total.count > 0
    assert total.rate <= total.rate_between_resets


def test_report_marks_missed_goals_and_gaps() -> None:
    figures = [
        {"spec": "mvc", "nodes": 16, "contestant": name, "rates": rates}
        for name, rates in (("peer", [10.0, 20.0, 30.0]), ("batch", [90.0, 300.0, 270.0]))
    ]
    source = {"cpu": "some CPU", "core": 1, "cores": 2, "commit": "abc", "load": [[0], [0]]}
    plan = {"repetitions": 3, "seconds": 1.0, "num_envs": 4}
    record = {
        "provenance": source,
        "plan": plan,
        "figures": figures,
        "compile": [],
        "memory": [],
        "failures": ["mvc 16 single: not there"],
    }
    text = report_text(record)
    row = next(line for line in text.splitlines() if line.startswith("mvc"))
    assert row.split() == ["mvc", "16", "-", "20", "-", "-", "270", "-", "-", "-", "9x!", "-", "-"]
    assert text.endswith("mvc 16 single: not there")


def test_plan_follows_the_flags() -> None:
    quick = Plan.from_options(parse_options(["--quick", "--problems", "tsp", "rgc"]))
    assert [str(case) for case in quick.cases] == ["tsp 20", "rgc 20"]
    full = Plan.from_options(parse_options(["--full", "--problems", "rgc", "--no-fresh"]))
    assert [str(case) for case in full.cases] == ["rgc 20", "rgc 60"]
    assert full.seconds > quick.seconds
    assert not full.compiled
    assert not full.weighed
