"""Values per graph, and the manners of the demo."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from gnarl_runtime.commands import demo
from gnarl_runtime.network.segments import SegmentMax, segment_log_softmax


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
    monkeypatch.setattr("gnarl_runtime.network.policy.prepare_torch", lambda threads: None)
    assert demo.main(["--graphs", "1", "--updates", "6"]) == 0
    told = capsys.readouterr().out
    assert "100 %" in told
    assert "64-node graphs solved: " in told
    assert " of 1\nGraph 1, from > to: " in told


def test_importing_the_runtime_is_light() -> None:
    program = "import sys, gnarl_runtime.envs.making; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
