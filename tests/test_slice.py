"""From a spec to a trained policy: the environment's manners, the demo's, and learning."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
import torch
from conftest import shipped
from episodes import make_graph, make_instance, random_instance
from gymnasium.utils.env_checker import check_env

from gnarl_compiler.graph import Graph
from gnarl_compiler.interpret import Interpreter
from gnarl_compiler.state import IllegalPick
from gnarl_dsl.model import Problem
from gnarl_runtime import demo
from gnarl_runtime.draws import Source
from gnarl_runtime.env import GnarlEnv
from gnarl_runtime.imitation import Recipe, Report, divergence, imitate
from gnarl_runtime.play import play_best
from gnarl_runtime.policy import SegmentMax, segment_log_softmax

# Scalars of a spec declare no range, and the environment is built without gymnasium.make.
EXPLAINED = ("A Box observation space m", "Not able to test alternative render modes")


def path_of(n: int) -> Graph:
    return make_graph(n, [(k, k + 1) for k in range(n - 1)])


# The environment


def test_check_env(problem: Problem) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(GnarlEnv(problem, illegal="end", render_mode="ansi"))
    told = [str(warning.message) for warning in caught]
    assert [text for text in told if not any(known in text for known in EXPLAINED)] == []


def test_an_episode_as_the_interpreter_plays_it(problem: Problem) -> None:
    env, game = GnarlEnv(problem, max_nodes=9), Interpreter(problem)
    instance, rng = random_instance(problem, 1, 0, nodes=7), np.random.default_rng(0)
    state = game.reset(instance)
    seen, info = env.reset(options={"instance": instance})
    for _ in range(60):
        np.testing.assert_array_equal(info["action_mask"][:7], game.mask(state))
        np.testing.assert_array_equal(env.action_masks(), seen["action_mask"])
        assert not env.action_masks()[7:].any()
        assert env.observation_space.contains(seen)
        node = int(rng.choice(np.flatnonzero(env.action_masks())))
        seen, reward, terminated, truncated, info = env.step(node)
        move = game.step(state, node)
        state = move.state
        assert reward == move.reward
        assert (terminated, truncated) == (state.ended == "terminated", state.ended == "truncated")
        if state.ended is not None:
            assert info["correct"] == game.correct(state)
            assert info["valid"] == game.valid(state)
            return


def test_observation_of_a_small_graph() -> None:
    env = GnarlEnv(shipped("bfs"), max_nodes=4)
    seen, _ = env.reset(options={"instance": make_instance(path_of(3), s=0)})
    assert seen["nodes"].tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert seen["node_mask"].tolist() == [1, 1, 1, 0]
    used = seen["edge_mask"].astype(bool)
    pairs = {(int(u), int(v)) for u, v in seen["edge_index"][:, used].T}
    assert pairs == {(0, 0), (1, 1), (2, 2), (0, 1), (1, 0), (1, 2), (2, 1)}
    assert seen["graph"].tolist() == [1, 0]
    seen, *_ = env.step(0)
    assert seen["graph"].tolist() == [0, 1]
    assert seen["nodes"][:, 2].tolist() == [1, 0, 0, 0], "the last pick of the first phase"


def test_a_forbidden_pick_raises_or_ends() -> None:
    instance = make_instance(path_of(3), s=0)
    strict = GnarlEnv(shipped("bfs"), max_nodes=4)
    strict.reset(options={"instance": instance})
    strict.step(0)
    with pytest.raises(IllegalPick, match="node 2 is not allowed in phase to"):
        strict.step(2)
    with pytest.raises(IllegalPick, match="no node 3"):
        strict.step(3)
    mild = GnarlEnv(shipped("bfs"), max_nodes=4, illegal="end", render_mode="ansi")
    mild.reset(options={"instance": instance})
    mild.step(0)
    seen, reward, terminated, truncated, info = mild.step(2)
    assert (reward, terminated, truncated, info["illegal"]) == (0.0, True, False, True)
    assert not seen["action_mask"].any()
    assert "phase to" in (mild.render() or "")
    with pytest.raises(gymnasium.error.ResetNeeded):
        mild.step(1)


def test_a_dead_end_terminates() -> None:
    problem = shipped("bfs")
    env = GnarlEnv(problem, max_nodes=4)
    env.reset(options={"instance": make_instance(make_graph(3, [(0, 1)]), s=0)})
    _, _, terminated, truncated, info = env.step(2)
    assert (terminated, truncated, info["dead_end"]) == (True, False, True)


def test_reaching_the_limit_truncates() -> None:
    problem = shipped("bellman_ford")
    weights = {(0, 1): 0.5, (1, 2): 0.5}
    graph = path_of(3)
    matrix = np.zeros((3, 3))
    for (u, v), weight in weights.items():
        matrix[u, v] = matrix[v, u] = weight
    env = GnarlEnv(problem, max_nodes=3)
    env.reset(options={"instance": make_instance(graph, A=matrix, s=0)})
    ends = [env.step(k % 2)[2:4] for k in range(2 * 2 * 2)]
    assert ends[-1] == (False, True)
    assert not any(map(any, ends[:-1]))


def test_seeds(problem: Problem) -> None:
    one, two = GnarlEnv(problem), GnarlEnv(problem)
    first, again = one.reset(seed=5)[0], two.reset(seed=5)[0]
    later, later_again = one.reset()[0], two.reset()[0]
    assert_same(first, again)
    assert_same(later, later_again)
    assert_same(one.reset(seed=5)[0], first)
    assert any((first[key] != later[key]).any() for key in first)
    assert any((two.reset(seed=6)[0][key] != first[key]).any() for key in first)


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    for key in one:
        np.testing.assert_array_equal(one[key], other[key], err_msg=key)


def test_splits_share_no_instance() -> None:
    problem = shipped("rgc")  # its training and validation graphs come from one family
    train, valid = (Source(problem, split).draw(0, 0) for split in ("train", "valid"))
    assert (train.graph.adjacency != valid.graph.adjacency).any()


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match='illegal must be "raise" or "end"'):
        GnarlEnv(shipped("bfs"), illegal="ignore")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="render_mode"):
        GnarlEnv(shipped("bfs"), render_mode="human")
    with pytest.raises(gymnasium.error.ResetNeeded):
        GnarlEnv(shipped("bfs")).step(0)


def test_render() -> None:
    env = GnarlEnv(shipped("bfs"), render_mode="ansi")
    assert env.render() == "no episode"
    env.reset(options={"instance": make_instance(path_of(3), s=0)})
    assert env.render() == (
        "bfs: 3 nodes, round 0, phase from; last: from -, to -\n"
        "  s = 0\n  pred = [0, 1, 2]\n  reach = {0}"
    )
    assert GnarlEnv(shipped("bfs")).render() is None


# The network's parts


def test_segment_max_shares_the_gradient_among_ties() -> None:
    values = torch.tensor([[1.0], [1.0], [0.0], [2.0]], requires_grad=True)
    segment, offsets = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 3, 4])
    best = SegmentMax.apply(values, segment, offsets)
    assert best.flatten().tolist() == [1.0, 2.0]
    best.sum().backward()
    assert values.grad is not None
    assert values.grad.flatten().tolist() == [0.5, 0.5, 0.0, 1.0]


def test_log_softmax_per_graph() -> None:
    scores = torch.tensor([1.0, 2.0, -torch.inf, 500.0, 499.0])
    found = segment_log_softmax(scores, torch.tensor([0, 0, 0, 1, 1]), 2)
    wanted = torch.cat([scores[:3].log_softmax(0), scores[3:].log_softmax(0)])
    torch.testing.assert_close(found, wanted)
    nothing = segment_log_softmax(torch.tensor([-torch.inf]), torch.tensor([0]), 1)
    assert nothing.tolist() == [-torch.inf]


def test_divergence_is_zero_at_the_expert_and_ignores_the_unlabelled() -> None:
    label = torch.tensor([0.5, 0.5, 0.0, 0.0])
    right = torch.tensor([0.5, 0.5, 0.0, 1.0]).log()
    assert float(divergence(right, label, 2)) == pytest.approx(0.0)
    assert float(divergence(torch.tensor([0.25, 0.75, 0.0, 1.0]).log(), label, 2)) > 0


# Learning


def test_bfs_is_learned_from_its_spec() -> None:
    """Trained on random graphs of 8 nodes, right on at least 95 % of 60 fresh ones."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    problem, losses = shipped("bfs"), list[float]()
    recipe = Recipe(updates=150, graphs=64, players=32, states=2048, width=32, nodes=8)

    def note(report: Report) -> None:
        losses.append(report.loss)

    policy = imitate(problem, recipe, 0, note)
    fresh = Source(problem, "valid", nodes=8)
    played = play_best(problem, policy, [fresh.draw(1, number) for number in range(60)])
    assert np.mean(losses[-20:]) < 0.02 < np.mean(losses[:5])
    assert sum(episode.correct for episode in played) >= 57


# The demo


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--graphs", "0"], "expected a whole number from 1 to 300, found '0'"),
        (["--seed", "x"], "expected a whole number from 0"),
        (["--sed", "1"], "unrecognized arguments"),
    ],
)
def test_demo_mistakes(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        demo.main(flags)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_demo_stops_cleanly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "_train", interrupt)
    assert demo.main([]) == 130
    assert capsys.readouterr().err == "\nstopped\n"


def test_demo_shows_what_it_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    small = Recipe(updates=6, graphs=8, players=4, width=8)
    monkeypatch.setattr("gnarl_runtime.imitation.Recipe", lambda: small)
    assert demo.main(["--graphs", "1", "--quick"]) == 0
    told = capsys.readouterr().out
    assert "100 %" in told
    assert "64-node graphs solved: " in told
    assert " of 1\nGraph 1, from > to: " in told


def test_importing_the_runtime_is_light() -> None:
    program = "import sys, gnarl_runtime, gnarl_runtime.env; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
