"""From a spec to a trained policy: learning, and the manners of the demo."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from conftest import shipped

from gnarl_runtime import demo
from gnarl_runtime.draws import Source
from gnarl_runtime.imitation import Recipe, Report, divergence, imitate
from gnarl_runtime.play import play_best
from gnarl_runtime.segments import SegmentMax, segment_log_softmax


def test_segment_max_gives_the_gradient_to_the_first_of_ties() -> None:
    values = torch.tensor([[1.0], [1.0], [0.0], [2.0]], requires_grad=True)
    segment, offsets = torch.tensor([0, 0, 0, 1]), torch.tensor([0, 3, 4])
    best = SegmentMax.apply(values, segment, offsets)
    assert best.flatten().tolist() == [1.0, 2.0]
    best.sum().backward()
    assert values.grad is not None
    assert values.grad.flatten().tolist() == [1.0, 0.0, 0.0, 1.0]


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
    program = "import sys, gnarl_runtime.making; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
